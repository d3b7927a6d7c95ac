"""Which of our own templates lays a conversation out as the checked one does, so that it can stand in for it."""

from dataclasses import dataclass
from functools import lru_cache

import chat_templates
import parsers
from gateway.rendering.environment import Template
from gateway.rendering.loading import OURS
from gateway.rendering.opening import MARKER, is_thinking
from gateway.rendering.probing import ANSWER, LAST, USER, Probe, system
from parsers import Format


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands before an answer and behind it, without thinking; and between a system message and a question."""

    before: str
    behind: str
    system: str | None

    def agrees(self, other: "Layout") -> bool:
        """Whether an exchange is laid out the same, white space aside."""
        return _squeezed(self.before) == _squeezed(other.before) and _squeezed(self.behind) == _squeezed(other.behind)

    def likeness(self, other: "Layout") -> int:
        """In how much they are the same to the letter."""
        pairs = ((self.before, other.before), (self.behind, other.behind), (self.system, other.system))
        return sum(one == another for one, another in pairs)


def of_its_layout(template: Template, fmt: Format | None = None) -> list[str]:
    """Those that lay an exchange out as it does (`toolwire/NAME`), of all templates or of this format's; the likest first."""
    layout = _layout(template)
    if layout is None:
        return []
    variables = tuple(template.variables.items())
    names = (name for name in chat_templates.names() if fmt is None or _format(name) == fmt.name)
    found = {name: other for name in names if (other := _ours(name, variables)) and other.agrees(layout)}
    return [OURS + name for name in sorted(found, key=lambda name: -found[name].likeness(layout))]


def _format(name: str) -> str | None:
    """The format whose calls a template of ours writes: its name is the format's, or one of its aliases."""
    try:
        return parsers.get(name).name
    except parsers.UnknownFormat:
        return None


@lru_cache(maxsize=256)
def _ours(name: str, variables: tuple[tuple[str, str], ...]) -> Layout | None:
    return _layout(Template(chat_templates.load(name), variables=dict(variables)))


def _layout(template: Template) -> Layout | None:
    """None where an exchange is refused."""
    look = Probe(template)
    text = look.text([USER, ANSWER, LAST])
    if text is None or "needleanswer" not in text:
        return None
    before, _, behind = text.partition("needleanswer")
    told = look.text([system("needlesystem"), USER])
    between = told.partition("needlesystem")[2].partition("needleuser")[0] if told else None
    return Layout(_thoughtless(before.rpartition("needleuser")[2]), _thoughtless(behind.partition("needlelast")[0]), between)


def _thoughtless(text: str) -> str:
    return MARKER.sub(lambda match: "" if is_thinking(match[0]) else match[0], text)


def _squeezed(text: str) -> str:
    return "".join(text.split())
