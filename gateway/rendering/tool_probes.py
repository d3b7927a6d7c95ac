"""How a template takes tools: under which name, with which fields, and whether only beside a system message."""

from dataclasses import dataclass
from typing import Any, Literal

from .environment import Template
from .probing import TOOL, USER, Probe, system, tool

Nullable = Literal["list", "any_of", "single"]
"""How a property that may be null must be described: as a list of types, by anyOf, or by its other type alone."""

_NULLABLE: dict[Nullable, dict[str, Any]] = {
    "list": {"type": ["string", "null"]},
    "any_of": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "single": {"type": "string"},
}
_NEEDLES = ("needletool", "needledescription", "needlekey")


@dataclass(frozen=True, slots=True)
class ToolForm:
    """What tools must look like for one template."""

    shown: bool
    variable: str = "tools"
    system: str | None = None
    """The text of a system message without which the tools are not shown."""
    needs_description: bool = False
    needs_property_descriptions: bool = False
    needs_additional_properties: bool = False
    """Whether an object must say what its other properties are."""
    nullable: Nullable = "list"
    links: bool = True
    """Whether definitions are shown to which `$ref` points."""


def tool_form(look: Probe) -> ToolForm:
    """The form found; a form that is not `shown` is the ordinary one. Sets the template's variable."""
    for variable in _variables(look.template):
        look.template.tools_variable = variable
        for text in (None, "", "You are a helpful assistant."):
            if _shows(look, text):
                return ToolForm(
                    True,
                    variable,
                    text,
                    _needs_description(look),
                    _needs_property_descriptions(look),
                    _needs_additional_properties(look),
                    _nullable(look),
                    _links(look, text),
                )
    look.template.tools_variable = "tools"
    return ToolForm(shown=False)


def _variables(template: Template) -> list[str]:
    """Those that ask for calls in Python come last: they are run, not parsed."""
    others = (name for name in template.reads if name.endswith("_tools") and name != "builtin_tools")
    return ["tools", *sorted(others, key=lambda name: ("python" in name, name))]


def _shows(look: Probe, system_text: str | None) -> bool:
    messages = [USER] if system_text is None else [system(system_text), USER]
    text = look.text(messages, [TOOL])
    return text is not None and all(needle in text for needle in _NEEDLES)


def _needs_description(look: Probe) -> bool:
    bare = tool()
    del bare["function"]["description"]
    return look.text([USER], [bare]) is None


def _needs_property_descriptions(look: Probe) -> bool:
    return look.text([USER], [tool({"needlekey": {"type": "string"}})]) is None


def _needs_additional_properties(look: Probe) -> bool:
    bare = {"needlekey": {"type": "object", "description": "needleproperty"}}
    open_ = {"needlekey": {**bare["needlekey"], "additionalProperties": {}}}
    return look.text([USER], [tool(bare)]) is None and look.text([USER], [tool(open_)]) is not None


def _links(look: Probe, system_text: str | None) -> bool:
    linked = tool({"needlekey": {"$ref": "#/$defs/needledef", "description": "needleproperty"}})
    linked["function"]["parameters"]["$defs"] = {"needledef": {"type": "string", "description": "needlelinked"}}
    messages = [USER] if system_text is None else [system(system_text), USER]
    return "needlelinked" in (look.text(messages, [linked]) or "")


def _nullable(look: Probe) -> Nullable:
    described = {"description": "needleproperty"}
    forms = (form for form in _NULLABLE if look.text([USER], [tool({"needlekey": _NULLABLE[form] | described})]) is not None)
    return next(forms, "single")
