"""LFM2: a list of Python calls between special tokens; some turns carry JSON there instead.

<|tool_call_start|>[get_weather(city="Oslo"), now()]<|tool_call_end|>Checking the weather.
"""

from ..description import (
    Format,
    array_end,
    content,
    either,
    interleaved,
    json_call,
    many,
    marker,
    python_call,
    seq,
    soft,
    thinking,
)

_pythonic = many(python_call, separator=", ", spellings=(",",), tight=True)
_json = many(json_call, separator=", ", spellings=(",",), tight=True)

FORMAT = Format(
    name="lfm2",
    aliases=("lfm2_5", "lfm"),
    models="LFM2, LFM2.5",
    stop=("<|im_end|>",),
    turn=seq(
        thinking("<think>", "</think>"),
        interleaved(
            content,
            either(
                seq(
                    marker("<|tool_call_start|>"),
                    either(seq(marker("["), either(_pythonic, _json), array_end), json_call, python_call),
                    soft(marker("<|tool_call_end|>")),
                ),
                seq(marker("["), _pythonic, array_end),
            ),
        ),
    ),
    sources=("https://huggingface.co/LiquidAI/LFM2-1.2B",),
)
