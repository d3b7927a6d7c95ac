"""Hunyuan A13B: an array of calls in a block; the answer of a thinking turn has a block of its own.

    <think>
    The user wants the weather.
    </think>
    <answer>
    Let me look.<tool_calls>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]</tool_calls>
    </answer>

Later checkpoints write the argument tags of Hy3 in the same block.
"""

from ..description import (
    Format,
    array_end,
    content,
    either,
    gap,
    interleaved,
    json_call,
    many,
    marker,
    seq,
    soft,
    thinking,
    unwritten,
)
from ..shapes import arg_key_call

FORMAT = Format(
    name="hunyuan_a13b",
    aliases=("hunyuan",),
    models="Hunyuan A13B",
    stop=("<|eos|>", "</answer>"),
    turn=seq(
        unwritten(marker("助手：")),
        thinking("<think>", "</think>", after="\n"),
        unwritten(marker("<answer>")),
        interleaved(
            content,
            seq(
                gap("\n"),
                marker("<tool_calls>"),
                either(
                    seq(marker("["), many(json_call, separator=", ", tight=True), array_end),
                    many(arg_key_call(name_end=soft(marker("<tool_sep>")), line="\n"), separator="\n"),
                ),
                soft(marker("</tool_calls>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/tencent/Hunyuan-A13B-Instruct",),
)
