"""R010 to R022: roles, parts and tools, as the template takes them."""

from typing import Any

from gateway.rendering.probing import USER, Probe, parted, tool

from .report import Check, judged
from .subject import Look


def role_checks(look: Look) -> list[Check]:
    """R010 to R016."""
    return [_plain(look), _system(look), _developer(look), _late(look), _twice(look), *_parts(look)]


def tool_checks(look: Look) -> list[Check]:
    """R020 to R022."""
    return [_tools(look), _none(look), _bare(look)]


def _plain(look: Look) -> Check:
    """R010"""
    message = parted("needleuser") if look.can.text_lists else USER
    if look.shows([message], "needleuser"):
        return Check("R010", "pass", "A user's message is shown" + (" (as a list of parts)." if look.can.text_lists else "."))
    failure = look.failure([USER])
    return Check("R010", "fail", f"A user's message is {f'refused: {failure}' if failure else 'not shown'}.", look.instead)


def _system(look: Look) -> Check:
    """R011"""
    if look.can.system:
        return Check("R011", "pass", "System messages are shown.")
    return Check("R011", "pass", "There is no system role; its text is put at the head of the first user message.")


def _developer(look: Look) -> Check:
    """R012"""
    return Check("R012", "pass", "Developer messages are shown" + ("." if look.can.developer else " as system messages."))


def _late(look: Look) -> Check:
    """R013"""
    if look.can.late_system:
        return Check("R013", "pass", "System messages are shown wherever they stand.")
    return Check("R013", "pass", "System messages are shown at the start only; later ones are moved there, with a warning.")


def _twice(look: Look) -> Check:
    """R014"""
    if look.can.same_role_twice:
        return Check("R014", "pass", "Two user messages may follow one another.")
    return Check("R014", "pass", "Roles must alternate; neighbouring messages of one role are joined, with a warning.")


def _parts(look: Look) -> list[Check]:
    """R015 and R016"""
    taken = look.shows([parted("needleone", "needletwo")], "needleone", "needletwo")
    printed = taken and "'type'" in (look.probe.text([parted("needleone", "needletwo")]) or "")
    how = "shown" if taken and not printed else "joined to one text before rendering"
    return [
        Check("R015", "pass", f"A user's parts are {how}."),
        Check("R016", "pass", "A tool result's parts are joined to one text before rendering."),
    ]


def _rich_tools() -> list[dict[str, Any]]:
    properties = {
        "needlefirst": {"type": "string", "description": "needleproperty", "enum": ["needleenum1", "needleenum2"]},
        "needlesecond": {"type": "integer", "description": "needlenumber"},
    }
    first = tool(properties)
    first["function"]["parameters"]["required"] = ["needlefirst"]
    second = tool({"needlethird": {"type": "string", "description": "x"}})
    second["function"]["name"] = "needleother"
    return [first, second]


def _tools(look: Look) -> Check:
    """R020"""
    form = look.can.tool_form
    if not form.shown:
        why = look.failure([USER], [tool()])
        reason = f"refused ({why})" if why else "dropped without a word"
        return Check("R020", "fail", f"Tools are {reason}; requests with tools are answered with 400.", look.instead)
    text = look.with_tools(_rich_tools()) or ""
    lost = [
        what
        for what, needles in (
            ("the second tool", ("needleother",)),
            ("properties", ("needlefirst", "needlesecond", "needlethird")),
            ("their descriptions", ("needleproperty", "needlenumber")),
            ("allowed values", ("needleenum1", "needleenum2")),
        )
        if not all(needle in text for needle in needles)
    ]
    if "needleother" in text and text.find("needleother") < text.find("needletool"):
        lost.append("the tools' order")
    problem = f"The model is not told {', '.join(lost)} of the tools." if lost else ""
    return judged(
        "R020", problem, "Names, descriptions, properties and values of tools are shown" + _how(look) + ".", look.instead
    )


def _how(look: Look) -> str:
    form = look.can.tool_form
    notes = [f"under the name {form.variable}"] if form.variable != "tools" else []
    if form.system is not None:
        notes.append("beside a system message, which is added where there is none")
    return f" ({', '.join(notes)})" if notes else ""


def _none(look: Look) -> Check:
    """R021"""
    template = look.template
    without = look.prompt()
    empty = Probe(template).text([USER], generation=True, extra={template.tools_variable: []})
    how = "null" if template.null_tools else "an undefined variable"
    other = ", which an empty list would not be" if empty != without else ""
    return Check("R021", "pass", f"A request without tools is rendered with {how}{other}.")


def _bare(look: Look) -> Check:
    """R022"""
    form = look.can.tool_form
    if not form.shown:
        return Check("R022", "pass", "Not looked at: tools are not shown at all.")
    notes = []
    if form.needs_description:
        notes.append("an empty description is put in where there is none")
    if form.needs_property_descriptions:
        notes.append("properties without a description get an empty one")
    if form.needs_additional_properties:
        notes.append("objects say that they may hold anything else")
    if not form.links:
        notes.append("what $ref points to is put in its place")
    if form.nullable != "list":
        notes.append(
            "lists of types, which it cannot write, are shown as " + ("anyOf" if form.nullable == "any_of" else "one type")
        )
    linked = tool({"needlekey": {"$ref": "#/$defs/needledef"}})
    linked["function"]["parameters"]["$defs"] = {"needledef": {"type": "object", "description": "needlelinked"}}
    text = look.with_tools([linked])
    if text is None:
        return Check("R022", "warn", "A tool with few fields, or a schema with $ref, is refused.", look.instead)
    lost = "" if "needlelinked" in text else "What $ref points to is not shown to the model."
    told = f"Tools with few fields: {'; '.join(notes)}." if notes else "Tools with few fields are shown as they are."
    return judged("R022", lost, told, look.instead)
