"""MiniMax M1: a JSON object a line, in one block.

    Let me look.
    <tool_calls>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    {"name": "now", "arguments": {}}
    </tool_calls>

Calls inside the thinking are drafts.
"""

from ..description import Format, content, gap, interleaved, json_call, many, marker, seq, soft, thinking

FORMAT = Format(
    name="minimax_m1",
    aliases=("minimax",),
    models="MiniMax M1",
    stop=("<end_of_sentence>",),
    turn=seq(
        thinking("<think>", "</think>"),
        interleaved(
            content,
            seq(
                gap("\n"),
                marker("<tool_calls>"),
                gap("\n"),
                many(json_call, separator="\n", spellings=(",",)),
                gap("\n"),
                soft(marker("</tool_calls>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/MiniMaxAI/MiniMax-M1-80k",),
)
