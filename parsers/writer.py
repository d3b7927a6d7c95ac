"""Message to text: the strict reading of a description. Every marker and gap is written, the first of several choices taken."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from .description import (
    Bare,
    Call,
    CallId,
    Either,
    ElementArguments,
    Filler,
    Format,
    Gap,
    Interleaved,
    JsonArguments,
    JsonCall,
    Many,
    Marker,
    Messages,
    NameKeyedCall,
    Node,
    NumberedName,
    Optional,
    PythonCall,
    QuotedArguments,
    Seq,
    Soft,
    TaggedArguments,
    Text,
    ToolName,
    Unwritten,
)
from .errors import UnwritableError
from .message import Message, ToolCall


@dataclass(frozen=True, slots=True)
class _Scene:
    """What is being written: the message, and the calls that are at hand."""

    message: Message
    calls: Sequence[ToolCall]

    @property
    def call(self) -> ToolCall:
        return self.calls[0]

    @property
    def number(self) -> int:
        """The place of the call in its turn."""
        return next(place for place, call in enumerate(self.message.tool_calls) if call is self.call)


def written(fmt: Format, message: Message) -> str:
    """The text of a message, unchecked: `parsers.write` also checks that it reads back."""
    if any(not call.complete for call in message.tool_calls):
        raise UnwritableError("a call that was cut short has no text of its own")
    text = _text(fmt.turn, _Scene(message, message.tool_calls))
    for stop in fmt.stop:  # the token that ends the turn is no part of it
        text = text.removesuffix(stop)
    return text


def _text(node: Node, scene: _Scene) -> str:
    match node:
        case Marker(text) | Gap(text):
            return text
        case Text(channel):
            return (scene.message.content if channel == "content" else scene.message.reasoning) or ""
        case Seq(nodes):
            return "".join(_text(child, scene) for child in nodes)
        case Optional(child):
            return _text(child, scene) if _has_something(child, scene) else ""
        case Soft(child) | Call(child):
            return _text(child, scene)
        case Unwritten() | Bare():
            return ""
        case Either(nodes):
            return _text(nodes[0], scene)
        case Interleaved() | Messages() | Many():
            return _several(node, scene)
        case _:
            return _leaf(node, scene)


def _several(node: Interleaved | Messages | Many, scene: _Scene) -> str:
    match node:
        case Interleaved(text, child):
            return _interleaved(text, child, scene)
        case Messages():
            return _messages(node, scene)
        case Many(child, separator):
            return separator.join(_text(child, _Scene(scene.message, [call])) for call in scene.calls)


def _leaf(node: Node, scene: _Scene) -> str:
    match node:
        case ToolName(prefix, escaped=escape):
            return prefix + (escaped(scene.call.name) if escape else scene.call.name)
        case NumberedName():
            known = scene.call.id or ""
            return known if node.name_of(known) == scene.call.name else node.id_of(scene.call.name, scene.number)
        case CallId(sample):
            return scene.call.id or sample
        case Filler(first):
            return str(scene.number + first)
        case JsonArguments():
            return scene.call.arguments
        case JsonCall(name, arguments, call_id=key):
            known = f'"{key}": {quoted(scene.call.id or str(scene.number))}, ' if key else ""
            return f'{{{known}"{name[0]}": {quoted(scene.call.name)}, "{arguments[0]}": {scene.call.arguments}}}'
        case NameKeyedCall():
            return f"{{{quoted(scene.call.name)}: {scene.call.arguments}}}"
        case _:
            return _untyped(node, scene.call)


def _untyped(node: Node, call: ToolCall) -> str:
    """Arguments that are not written as JSON."""
    match node:
        case TaggedArguments():
            return _tagged(node, call)
        case ElementArguments(prefix):
            return "".join(_element(prefix, key, value) for key, value in _members(call).items())
        case QuotedArguments(quote):
            return _quoted_value(_members(call), quote)
        case PythonCall():
            return _python(call)
        case _:
            raise UnwritableError(f"{type(node).__name__} cannot be written")


def _interleaved(text: Text, child: Node, scene: _Scene) -> str:
    before = _text(text, scene)
    groups = [scene.calls] if writes_all(child) else [[call] for call in scene.calls]
    parts = [before]
    for group in groups if scene.calls else ():
        block = _text(child, _Scene(scene.message, group))
        parts.append(block if any(parts) else block.removeprefix(leading_gap(child)))
    return "".join(parts)


def _messages(node: Messages, scene: _Scene) -> str:
    parts: list[str] = []
    if node.thinking is not None and scene.message.reasoning:
        parts.append(_text(node.thinking, scene))
    if scene.message.content:
        said = (node.preamble if scene.calls else None) or node.answer
        around = [marker.text if marker is not None else "" for marker in (said.opener, said.closer)]
        parts.append(around[0] + scene.message.content + around[1])
    groups = [scene.calls] if writes_all(node.calls) else [[call] for call in scene.calls]
    parts.extend(_text(node.calls, _Scene(scene.message, group)) for group in groups if group)
    return (node.between.text if node.between is not None else "").join(parts)


def leading_gap(node: Node) -> str:
    """The gap a block begins with: it sets the block off from what stands before, and is not written where nothing does."""
    match node:
        case Gap(text):
            return text
        case Seq(nodes) | Either(nodes):
            return leading_gap(nodes[0])
        case _:
            return ""


def writes_all(node: Node) -> bool:
    """Whether this node, as it is written, holds all calls of a turn, not one."""
    match node:
        case Many():
            return True
        case Seq(nodes):
            return any(writes_all(child) for child in nodes)
        case Either(nodes):
            return writes_all(nodes[0])
        case Optional(child) | Soft(child) | Call(child) | Interleaved(_, child):
            return writes_all(child)
        case _:
            return False


def _has_something(node: Node, scene: _Scene) -> bool:
    match node:
        case Text("reasoning"):
            return bool(scene.message.reasoning)
        case Text("content"):
            return bool(scene.message.content)
        case Seq(nodes):
            return any(_has_something(child, scene) for child in nodes)
        case Optional(child) | Soft(child) | Interleaved(_, child):
            return _has_something(child, scene)
        case Call() | JsonCall() | NameKeyedCall() | PythonCall() | Many():
            return bool(scene.calls)
        case Either(nodes):
            return _has_something(nodes[0], scene)
        case _:
            return False


def quoted(text: str) -> str:
    """A JSON string."""
    return json.dumps(text, ensure_ascii=False)


def _members(call: ToolCall) -> dict[str, object]:
    try:
        members = json.loads(call.arguments or "{}")
    except ValueError as error:
        raise UnwritableError(f"the arguments of {call.name} are not JSON: {error}") from error
    if not isinstance(members, dict):
        raise UnwritableError(f"the arguments of {call.name} are not a JSON object")
    return members


def _tagged(leaf: TaggedArguments, call: ToolCall) -> str:
    parts: list[str] = []
    edge = "\n" if leaf.trim else ""
    for key, value in _members(call).items():
        mark = leaf.header.replace("{string}", "true" if isinstance(value, str) else "false").replace("{type}", _kind(value))
        header = mark.replace("{key}", escaped(key) if leaf.escaped else key)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if leaf.cdata and isinstance(value, str) and any(sign in text for sign in "<&\n"):
            text = f"<![CDATA[{text}]]>"
        parts.append(f"{header}{edge}{text}{edge}{leaf.close}{leaf.joint}")
    return "".join(parts)


def _element(prefix: str, key: str, value: object) -> str:
    if isinstance(value, dict):
        inner = "".join(_element(prefix, name, item) for name, item in value.items())
    elif isinstance(value, list):
        inner = "".join(_element(prefix, "item", item) for item in value)
    else:
        inner = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{prefix}<{key}>{inner}{prefix}</{key}>"


def escaped(text: str) -> str:
    """Text as it stands in an attribute."""
    return text.replace("&", "&amp;").replace('"', "&quot;")


def _kind(value: object) -> str:
    """The JSON type of a value, where all numbers are of one."""
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _quoted_value(value: object, quote: str) -> str:
    match value:
        case str():
            return quote + value + quote
        case list():
            return f"[{','.join(_quoted_value(item, quote) for item in value)}]"
        case dict():
            return "{" + ",".join(f"{key}:{_quoted_value(item, quote)}" for key, item in value.items()) + "}"
        case _:
            return json.dumps(value)


def _python(call: ToolCall) -> str:
    pairs = (f"{key}={_literal(value)}" for key, value in _members(call).items())
    return f"{call.name}({', '.join(pairs)})"


def _literal(value: object) -> str:
    match value:
        case str():
            return quoted(value)
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case dict():
            return "{" + ", ".join(f"{quoted(key)}: {_literal(item)}" for key, item in value.items()) + "}"
        case _:
            return repr(value)
