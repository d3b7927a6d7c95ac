"""Mistral: `[TOOL_CALLS]`, then an array of calls (up to tokenizer v7) or name, id and arguments (v11; v13 without the id).

    [THINK]The user wants the weather.[/THINK]Let me look.[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}[TOOL_CALLS]now[ARGS]{}

    [TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}, "id": "a1b2c3d4e"}]

    [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "Oslo"}

Nothing ends a call but the balance of its JSON. Magistral 2506 thinks between `<think>` and `</think>`.
"""

from ..description import (
    Format,
    JsonCall,
    call,
    call_id,
    content,
    either,
    interleaved,
    json_arguments,
    json_call,
    many,
    marker,
    optional,
    reasoning,
    seq,
    soft,
    tool_name,
    unwritten,
)

_bare_call = JsonCall(needs_arguments=True)
_array = seq(marker("["), many(json_call, separator=", ", tight=True), marker("]"))

FORMAT = Format(
    name="mistral",
    aliases=("mistral_v11", "mistral_v13", "magistral", "ministral", "devstral"),
    models="Mistral 7B v0.3 to Large 3, Nemo, Mixtral, Small, Magistral, Devstral, Ministral",
    template="mistral.jinja",
    stop=("</s>",),
    ids="nine letters or digits; not written since v13",
    turn=seq(
        optional(marker("[THINK]", "<think>"), reasoning, marker("[/THINK]", "</think>")),
        interleaved(
            content,
            either(
                seq(
                    marker("[TOOL_CALLS]"),
                    unwritten(marker("[TOOL_CALLS]")),
                    either(
                        call(tool_name, unwritten(marker("[CALL_ID]"), call_id), soft(marker("[ARGS]")), json_arguments),
                        _array,
                        json_call,
                    ),
                ),
                seq(marker("["), many(_bare_call, separator=",", tight=True), marker("]")),
                _bare_call,
            ),
        ),
    ),
    sources=("https://github.com/mistralai/mistral-common", "https://docs.mistral.ai/capabilities/function_calling/"),
)
