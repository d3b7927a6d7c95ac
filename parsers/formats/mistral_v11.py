"""Mistral with tokenizer v11: `[TOOL_CALLS]`, the name, an id and the arguments, once per call.

    Let me look.[TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "Oslo"}

Ids have nine letters or digits. Magistral 2506 thinks between `<think>` and `</think>`. The other forms are read as well.
"""

from ..description import Format
from ..shapes import mistral_turn

FORMAT = Format(
    name="mistral_v11",
    aliases=("devstral",),
    models="Mistral Small 3.2, Devstral, Magistral 2506",
    template="mistral_v11.jinja",
    stop=("</s>",),
    ids="nine letters or digits",
    turn=mistral_turn(written="named with id"),
    sources=("https://github.com/mistralai/mistral-common", "https://docs.mistral.ai/capabilities/function_calling/"),
)
