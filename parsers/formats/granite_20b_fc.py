"""Granite 20B function calling: a JSON object behind a marker, once per call.

<function_call> {"name": "get_weather", "arguments": {"city": "Oslo"}}
<function_call> {"name": "now", "arguments": {}}
"""

from ..description import Format, content, gap, interleaved, json_call, marker, seq

FORMAT = Format(
    name="granite_20b_fc",
    aliases=("granite-20b-fc",),
    models="Granite 20B function calling",
    stop=("<|endoftext|>",),
    turn=interleaved(content, seq(gap("\n"), marker("<function_call>"), gap(" "), json_call)),
    sources=("https://huggingface.co/ibm-granite/granite-20b-functioncalling",),
)
