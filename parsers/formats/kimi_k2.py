"""Kimi K2 to K2.7: the header of a call is its id, and the tool's name stands inside it.

    <think>The user wants the weather.</think>Let me look.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>

The number counts the calls of the whole conversation, not of the turn. A call before `</think>` ends reasoning.
"""  # noqa: E501 - the sample is one line

from ..description import (
    Format,
    Messages,
    NumberedName,
    call,
    json_arguments,
    led,
    many,
    marker,
    reasoning,
    seq,
    soft,
    unwritten,
)

FORMAT = Format(
    name="kimi_k2",
    aliases=("kimi", "kimi_k2_5", "kimi_k25"),
    models="Kimi K2, K2-Thinking, K2.5, K2.6, K2.7",
    template="kimi_k2.jinja",
    stop=("<|im_end|>", "[EOS]"),
    ids="functions.NAME:NUMBER, counted over the conversation",
    thinks_in_prompt=True,
    turn=Messages(
        seq(
            soft(marker("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")),
            many(
                call(
                    marker("<|tool_call_begin|>"),
                    NumberedName("functions."),
                    soft(marker("<|tool_call_argument_begin|>")),
                    unwritten(marker("```json", "```")),
                    json_arguments,
                    unwritten(marker("```")),
                    soft(marker("<|tool_call_end|>")),
                )
            ),
            soft(marker("<|tool_calls_section_end|>", "<|tool_call_section_end|>")),
        ),
        thinking=seq(led("<think>"), reasoning, soft(marker("</think>"))),
    ),
    sources=(
        "https://huggingface.co/moonshotai/Kimi-K2-Instruct/blob/main/docs/tool_call_guidance.md",
        "https://huggingface.co/moonshotai/Kimi-K2-Thinking",
    ),
)
