"""R030 to R037: what becomes of calls, results and reasoning of earlier turns."""

import json
from typing import Any

import parsers
from gateway.errors import GatewayError
from gateway.rendering.probing import LAST, USER
from gateway.rendering.round_trip import calls_of, turn_of
from gateway.rendering.samples import Sample, rendered_turn
from parsers import Message, Tool, ToolCall

from .report import Check, judged
from .subject import Look

VALUES: dict[str, Any] = {
    "word": '<&>"é\n',
    "big": 9007199254740993,
    "ratio": 1.0,
    "on": True,
    "none": None,
    "nested": {"a": [1, {"b": "c"}]},
}
_TYPES = {"word": "string", "big": "integer", "ratio": "number", "on": "boolean", "none": "null", "nested": "object"}
VALUES_TOOL = Tool("look_up", "", {"type": "object", "properties": {key: {"type": kind} for key, kind in _TYPES.items()}})


def history_checks(look: Look) -> list[Check]:
    """R030 to R037."""
    if not look.can.calls:
        why = look.failure(look.history.one(), [])
        reason = f"refuses calls of earlier turns ({why})" if why else "drops the calls of earlier turns"
        return [
            Check("R030", "warn", f"The template {reason}; the model does not see what it called.", look.instead),
            _results(look),
            _reasoning(look),
        ]
    return [
        _arguments(look),
        _values(look),
        _empty(look),
        _content(look),
        _beside(look),
        _parallel(look),
        _results(look),
        _reasoning(look),
    ]


def _arguments(look: Look) -> Check:
    """R030"""
    form = "a mapping" if look.can.arguments == "mapping" else "JSON text"
    return Check("R030", "pass", f"Arguments are given as {form}, the form that arrives unescaped.")


def _values(look: Look) -> Check:
    """R031"""
    if look.format is None:
        return Check("R031", "pass", "Not looked at: no format reads its calls.")
    changed = [key for key in VALUES if not _arrives(look, {key: VALUES[key]})]
    problem = f"These values do not arrive as they were in an earlier turn's call: {', '.join(changed)}." if changed else ""
    return judged(
        "R031", problem, "Values of every type arrive unchanged: escapes, big numbers, 1.0, null, nesting.", look.instead
    )


def _empty(look: Look) -> Check:
    """R032"""
    if look.format is None:
        return Check("R032", "pass", "Not looked at: no format reads its calls.")
    problem = "" if _arrives(look, {}) else "A call without arguments does not come back as one."
    return judged("R032", problem, "A call without arguments comes back as one.", look.instead)


def _arrives(look: Look, arguments: dict[str, Any]) -> bool:
    """Whether a call with these arguments is read back from what the template writes of it."""
    message = Message(tool_calls=(ToolCall("look_up", json.dumps(arguments, ensure_ascii=False), "abcdefgh1"),))
    fmt = look.format
    if fmt is None:
        return False
    try:
        turn = rendered_turn(look.renderer, message, VALUES_TOOL)
    except GatewayError:
        return False
    parser = parsers.Parser(fmt, tools=[VALUES_TOOL])
    back = parsers.fold([*parser.feed(turn_of(fmt, Sample("call", message, turn))), *parser.finish("stop")])
    return repr(calls_of(back)) == repr(calls_of(message))  # 1 and 1.0 are equal, their texts are not


def _content(look: Look) -> Check:
    """R033"""
    form = {"empty": "an empty text", "null": "null", "missing": "left out"}[look.can.call_content]
    return Check("R033", "pass", f"Content beside calls that have none is {form}.")


def _beside(look: Look) -> Check:
    """R034"""
    problem = "" if look.can.text_beside_calls else "Text that stands beside calls in earlier turns is dropped, with a warning."
    return judged("R034", problem, "Text beside calls is shown.", look.instead)


def _parallel(look: Look) -> Check:
    """R035"""
    if look.can.parallel_calls:
        return Check("R035", "pass", "Parallel calls and their results are shown.")
    if look.can.splits_calls:
        return Check("R035", "pass", "It takes one call a turn; parallel calls are told one after the other, with a warning.")
    return Check("R035", "warn", "Of several calls in one turn some are lost, or their results are.", look.instead)


def _results(look: Look) -> Check:
    """R036"""
    if not look.can.results:
        return Check("R036", "warn", "Results of tools are dropped.", look.instead)
    rule = {
        "any": "as they came",
        "nine": "as nine letters or digits, by hash",
        "counted": "as numbers, counted over the conversation",
        "named": "as functions.NAME:NUMBER, counted over the conversation",
    }[look.can.id_rule]
    bare = {"role": "tool", "content": "needleresult"}
    alone = look.failure([USER, look.history.turn(1), bare]) if look.can.calls else ""
    note = " A result without id or name would be refused; both are put in." if alone else ""
    return Check("R036", "pass", f"Results are shown; ids are given {rule}.{note}")


def _reasoning(look: Look) -> Check:
    """R037"""
    key = look.can.reasoning_key
    if key is None:
        return Check("R037", "pass", "Reasoning of earlier turns is not shown to the model.")
    answer = {"role": "assistant", "content": "needleanswer", key: "needlethought"}
    now, later = look.shows([USER, answer], "needlethought"), look.shows([USER, answer, LAST], "needlethought")
    when = "kept" if later else "kept until the next user message" if now else "not shown to the model"
    return Check("R037", "pass", f"Reasoning of earlier turns ({key}) is {when}.")
