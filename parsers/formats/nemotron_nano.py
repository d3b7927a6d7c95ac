"""Nemotron Nano v2: an array of calls in a block, behind thinking that the prompt opens or closes.

    <think>
    The user wants the weather.
    </think>

    <TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "now", "arguments": {}}]</TOOLCALL>

Nemotron 3 speaks `qwen3_coder`.
"""

from ..description import Format, array_end, content, either, gap, interleaved, json_call, many, marker, seq, soft, thinking

FORMAT = Format(
    name="nemotron_nano",
    aliases=("nemotron_nano_v2", "nemotron_json"),
    models="Nemotron Nano 9B and 12B v2",
    stop=("<SPECIAL_12>",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", interruptible=True),
        interleaved(
            content,
            seq(
                gap("\n"),
                marker("<TOOLCALL>"),
                either(seq(marker("["), many(json_call, separator=", ", tight=True), array_end), json_call),
                soft(marker("</TOOLCALL>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/nvidia/NVIDIA-Nemotron-Nano-9B-v2",),
)
