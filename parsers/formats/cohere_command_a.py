"""Cohere Command A: thinking, then an array of actions or an answer.

    <|START_THINKING|>The user wants the weather.<|END_THINKING|><|START_ACTION|>[
        {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}}
    ]<|END_ACTION|>

    <|START_THINKING|>It is sunny.<|END_THINKING|><|START_RESPONSE|>It is <co>sunny</co: 0:[0]>.<|END_RESPONSE|>

Command A+ answers between `<|START_TEXT|>` and `<|END_TEXT|>`. Results are matched by the ids, which are decimal numbers. The
marks around cited text (`<co>`) are part of the text.
"""

from ..description import (
    Format,
    JsonCall,
    Messages,
    array_end,
    either,
    gap,
    many,
    marker,
    reasoning,
    said,
    seq,
    soft,
)

_action = JsonCall(("tool_name", "name"), ("parameters", "arguments"), call_id="tool_call_id")
_several = seq(marker("["), gap("\n    "), many(_action, separator=",\n    ", spellings=(",",), tight=True), gap("\n"), array_end)

FORMAT = Format(
    name="cohere_command_a",
    aliases=("cohere_command3", "cohere_command4", "cohere", "command_a", "cohere2"),
    models="Command A, Command A Reasoning, Command A+, North",
    foreign=("<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"),
    stop=("<|END_OF_TURN_TOKEN|>",),
    ids="decimal numbers, counted over the conversation",
    thinks_in_prompt=True,
    turn=Messages(
        seq(
            marker("<|START_ACTION|>", "Action:\n```json", "Action: ```json"),
            either(_several, _action),
            soft(marker("<|END_ACTION|>", "```")),
        ),
        thinking=seq(marker("<|START_THINKING|>"), reasoning, soft(marker("<|END_THINKING|>"))),
        answer=said(marker("<|START_RESPONSE|>", "<|START_TEXT|>"), marker("<|END_RESPONSE|>", "<|END_TEXT|>")),
        others=(marker("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "<|CHATBOT_TOKEN|>"),),
    ),
    sources=("https://huggingface.co/CohereLabs/c4ai-command-a-03-2025", "https://docs.cohere.com/docs/tool-use"),
)
