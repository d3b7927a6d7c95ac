"""Jamba: an array of calls in a block.

<tool_calls>[
{"name": "get_weather", "arguments": {"city": "Oslo"}}
]</tool_calls>
"""

from ..description import Format, array_end, content, either, gap, interleaved, json_call, many, marker, seq, soft

FORMAT = Format(
    name="jamba",
    aliases=("jamba_1_5",),
    models="Jamba 1.5, 1.6, 1.7",
    stop=("<|eom|>", "<|endoftext|>"),
    turn=interleaved(
        content,
        seq(
            marker("<tool_calls>"),
            either(
                seq(marker("["), gap("\n"), many(json_call, separator=",\n", tight=True), gap("\n"), array_end),
                json_call,
            ),
            soft(marker("</tool_calls>")),
        ),
    ),
    sources=("https://huggingface.co/ai21labs/AI21-Jamba-Large-1.6",),
)
