"""Mistral since tokenizer v13: `[TOOL_CALLS]`, the name and the arguments, once per call.

    [THINK]The user wants the weather.[/THINK]Let me look.[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}[TOOL_CALLS]now[ARGS]{}

Nothing ends a call but the balance of its JSON. No id is written; results stand in the order of the calls. The older forms (an id
behind the name, an array of calls) are read as well.
"""

from ..description import Format
from ..shapes import mistral_turn

FORMAT = Format(
    name="mistral",
    aliases=("mistral_v13", "magistral", "ministral"),
    models="Mistral since tokenizer v13: Magistral 2507 and later, Devstral 2, Ministral 3, Large 3",
    template="mistral.jinja",
    stop=("</s>",),
    ids="none written",
    turn=mistral_turn(written="named"),
    sources=("https://github.com/mistralai/mistral-common", "https://docs.mistral.ai/capabilities/function_calling/"),
)
