"""What a chat template can render, found by rendering needles. Nothing here knows a model's name."""

from dataclasses import dataclass

from .environment import Template
from .opening import common_prefix, without_thinking
from .probing import (
    ANSWER,
    LAST,
    LONG_ID,
    TOOL,
    USER,
    ArgumentForm,
    CallContent,
    History,
    IdRule,
    Probe,
    parted,
    system,
)
from .tool_probes import ToolForm, tool_form


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One template's abilities. `header` is what it writes before an assistant's text."""

    header: str
    arguments: ArgumentForm
    broken_arguments: bool
    """Whether text that is no JSON object can stand where a call's arguments go."""
    call_content: CallContent
    calls: bool
    text_beside_calls: bool
    parallel_calls: bool
    splits_calls: bool
    """Whether parallel calls must and can be told one after the other."""
    results: bool
    id_rule: IdRule
    tool_form: ToolForm
    text_lists: bool
    """Whether content must be a list of parts."""
    part_joiner: str
    system: bool
    developer: bool
    late_system: bool
    same_role_twice: bool
    reasoning_key: str | None

    @property
    def tools(self) -> bool:
        """Whether tools are shown to the model."""
        return self.tool_form.shown


def probe(template: Template) -> Capabilities:
    """Everything the adaptations ask of this template; a few dozen small renders."""
    look = Probe(template)
    template.null_tools = look.text([USER]) is not None or look.text([parted("needleuser")]) is not None
    lists = not look.shows([USER], "needleuser") and look.shows([parted("needleuser")], "needleuser")
    look.as_parts = lists
    tools = tool_form(look)
    found = _call_form(look)
    history = found or History()
    if found and history.ids == "any":
        history = History(history.arguments, history.content, _id_rule(look, history))
    parallel = all(
        look.shows(history.two(), f"{needle}1", f"{needle}2", tools=[TOOL]) for needle in ("needlevalue", "needleresult")
    )
    one_by_one = look.shows([*history.one(), *history.one(2)[1:]], "needlevalue1", "needlevalue2", tools=[TOOL])
    return Capabilities(
        header=_header(look),
        arguments=history.arguments,
        broken_arguments=history.arguments == "string" or look.text(History("string", history.content).one()) is not None,
        call_content=history.content,
        calls=found is not None,
        text_beside_calls=look.shows(history.one(text="needletext"), "needletext", "needlecall"),
        parallel_calls=parallel,
        splits_calls=not parallel and one_by_one,
        results=look.shows(history.one(), "needleresult", tools=[TOOL]),
        id_rule=history.ids,
        tool_form=tools,
        text_lists=lists,
        part_joiner=_joiner(look),
        system=look.shows([system("needlesystem"), USER], "needlesystem", "needleuser"),
        developer="developer" in template.words
        and look.shows([{"role": "developer", "content": "needledeveloper"}, USER], "needledeveloper", "needleuser"),
        late_system=_keeps_late_system(look),
        same_role_twice=look.text([USER, LAST]) is not None,
        reasoning_key=next((key for key in ("reasoning_content", "reasoning", "thinking") if key in template.words), None),
    )


def _call_form(look: Probe) -> History | None:
    """The first form whose call arrives once and unescaped; null must not be printed as a word.

    A form in which the arguments are spelled as Python spells a dictionary is taken only if there is no other.
    """
    arguments: tuple[ArgumentForm, ...] = ("mapping", "string")
    contents: tuple[CallContent, ...] = ("empty", "null", "missing")
    as_python: History | None = None
    for history in (History(form, content) for form in arguments for content in contents):
        call = _shown_call(look, history)
        if call is None:
            continue
        if "needlecall" not in call and history.id(1) in call:
            history = History(history.arguments, history.content, "named")
            call = _shown_call(look, history) or ""
        if "needlecall" not in call or "needlevalue" not in call or '\\"needlevalue' in call or "None" in call:
            continue
        if "'needlekey'" not in call:
            return history
        as_python = as_python or history
    return as_python


def _shown_call(look: Probe, history: History) -> str | None:
    """What the template writes of one call, or None."""
    before, after = look.text([USER], [TOOL]), look.text([USER, history.turn(1)], [TOOL])
    if before is not None and after is not None:
        return after[len(common_prefix(before, after)) :]
    text = look.text(history.one(), [TOOL])
    return None if text is None else text[: text.rfind("needleresult")].rpartition("needleuser")[2]


def _header(look: Probe) -> str:
    before, after = look.text([USER]), look.text([USER, ANSWER, LAST])
    if before is None or after is None:
        return ""
    start = len(common_prefix(before, after))
    end = after.find("needleanswer", start)
    header = without_thinking(after[start:end]) if end >= 0 else ""
    prompts = [look.generation(thinking=thinking) for thinking in (None, True, False)]
    shorter = (generation for generation in prompts if header.startswith(generation))
    return min(filter(None, shorter), key=len, default=header)


def _id_rule(look: Probe, history: History) -> IdRule:
    if _wants_nine(look, history):
        return "nine"
    return "counted" if _counts(look, history) else "any"


def _counts(look: Probe, history: History) -> bool:
    """It numbers the calls itself and finds their results by the ids, so that two calls of one id would share a result."""
    text = look.text(history.two(), [TOOL]) or ""
    called, _, results = text[text.find("needleuser") :].partition("needlevalue2")
    named = history.id(1) in text or history.id(2) in text
    return not named and all(f'"{number}"' in part for number in (0, 1) for part in (called, results))


def _wants_nine(look: Probe, history: History) -> bool:
    """Nine letters or digits and nothing else: it refuses a longer id, or cuts one down to its end."""
    turn, result = history.turn(1), history.result(1, "needleresult")
    turn["tool_calls"][0]["id"] = LONG_ID
    long = look.text([USER, turn, {**result, "tool_call_id": LONG_ID}], [TOOL])
    if long is None:
        return look.text(history.one(), [TOOL]) is not None
    return LONG_ID not in long and LONG_ID[-9:] in long


def _joiner(look: Probe) -> str:
    """What the template itself puts between two text parts; a line break where it cannot read parts."""
    text = look.text([parted("needleone", "needletwo")]) or ""
    first, second = text.find("needleone"), text.find("needletwo")
    between = text[first + len("needleone") : second] if 0 <= first < second else "\n"
    return between if not between.strip() else "\n"


def _keeps_late_system(look: Probe) -> bool:
    late = look.shows([USER, ANSWER, system("needlelate"), LAST], "needleanswer", "needlelate", "needlelast")
    return late and look.shows([system("needleone"), system("needletwo"), USER], "needleone", "needletwo")
