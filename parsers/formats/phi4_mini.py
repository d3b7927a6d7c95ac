"""Phi-4-mini: an array of calls behind the word `functools`; nothing closes it but its own bracket.

functools[{"name": "get_weather", "arguments": {"city": "Oslo"}}]
"""

from ..description import Format, array_end, content, either, interleaved, json_call, many, marker, seq, unwritten

FORMAT = Format(
    name="phi4_mini",
    aliases=("phi4_mini_json", "phi4"),
    models="Phi-4-mini",
    stop=("<|end|>", "<|endoftext|>"),
    turn=interleaved(
        content,
        seq(
            marker("functools", "<|tool_call|>"),
            either(seq(marker("["), many(json_call, separator=", ", tight=True), array_end), json_call),
            unwritten(marker("<|/tool_call|>")),
        ),
    ),
    sources=("https://huggingface.co/microsoft/Phi-4-mini-instruct",),
)
