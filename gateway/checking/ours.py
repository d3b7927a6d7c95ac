"""Which of our own templates lays a conversation out as the checked one does, so that it can stand in for it."""

from functools import lru_cache

import chat_templates
from gateway.rendering.environment import Template
from gateway.rendering.loading import OURS
from gateway.rendering.opening import MARKER, is_thinking
from gateway.rendering.probing import ANSWER, LAST, USER, Probe
from parsers import Format

Layout = tuple[str, str]


def of_its_layout(template: Template, fmt: Format | None = None) -> list[str]:
    """Those that write the same between the turns of an exchange (`toolwire/NAME`), of all templates or of this format's."""
    layout = _layout(template)
    names = chat_templates.names() if fmt is None else [fmt.template.removesuffix(".jinja")] if fmt.template else []
    variables = tuple(template.variables.items())
    return [OURS + name for name in names if layout is not None and _ours(name, variables) == layout]


@lru_cache(maxsize=256)
def _ours(name: str, variables: tuple[tuple[str, str], ...]) -> Layout | None:
    return _layout(Template(chat_templates.load(name), variables=dict(variables)))


def _layout(template: Template) -> Layout | None:
    """What stands before an answer and behind it, without white space and thinking; None where an exchange is refused."""
    text = Probe(template).text([USER, ANSWER, LAST])
    if text is None or "needleanswer" not in text:
        return None
    before, _, after = text.partition("needleanswer")
    return _squeezed(before.rpartition("needleuser")[2]), _squeezed(after.partition("needlelast")[0])


def _squeezed(text: str) -> str:
    return "".join(MARKER.sub(lambda match: "" if is_thinking(match[0]) else match[0], text).split())
