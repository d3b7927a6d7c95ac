"""Mistral up to tokenizer v7: `[TOOL_CALLS]` and an array of calls.

    [TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "now", "arguments": {}}]

An id of nine letters or digits may stand in each object. The later forms are read as well.
"""

from ..description import Format
from ..shapes import mistral_turn

FORMAT = Format(
    name="mistral_v7",
    aliases=("mistral_v3", "mistral_nemo", "mixtral"),
    models="Mistral 7B v0.3, Mixtral, Nemo, Large 2, Ministral 8B, Small 3 and 3.1",
    template="mistral_v7.jinja",
    stop=("</s>",),
    ids="nine letters or digits",
    turn=mistral_turn(written="array"),
    sources=("https://github.com/mistralai/mistral-common", "https://docs.mistral.ai/capabilities/function_calling/"),
)
