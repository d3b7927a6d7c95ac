"""T001 to T006: what a template's source says before anything is rendered."""

import re
from collections.abc import Iterator
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.exceptions import TemplateAssertionError

from gateway.rendering.environment import Template, sandbox
from gateway.rendering.tokens import PromptEncoder

from .report import Check, Status, judged

GIVEN = frozenset(
    "messages tools documents add_generation_prompt bos_token eos_token unk_token pad_token cls_token sep_token mask_token "
    "date_string loop caller varargs kwargs self".split()
)
"""Names that every server sets, or jinja itself."""
_CONTROL = re.compile(r"<\|[^<>|\s]{1,60}\|>|<｜[^<>\s]{1,60}｜>|<(?:start|end)_of_[a-z_]+>|\[/?[A-Z][A-Z_]{2,30}\]")
_CONTENT = ("content",)


def compiles(text: str) -> list[Check]:
    """T001 and T003 where one of them fails; empty where a Template can be made."""
    own = sandbox()
    try:
        tree = own.parse(text)
    except TemplateSyntaxError as error:
        return [_broken("T001", f"line {error.lineno}: {error.message}")]
    try:
        own.compile(tree)
    except TemplateAssertionError as error:
        return [Check("T001", "pass", "It is valid jinja."), _broken("T003", f"line {error.lineno}: {error.message}")]
    except TemplateSyntaxError as error:
        return [_broken("T001", f"line {error.lineno}: {error.message}")]
    return []


def _broken(check_id: str, reason: str) -> Check:
    return Check(
        check_id,
        "fail",
        f"The template does not compile: {reason}",
        "Correct it, or set chat_template to one of ours (toolwire formats lists them).",
    )


def static_checks(template: Template, encoder: PromptEncoder | None, *, renders: bool) -> list[Check]:
    """T001 to T006 for a template that compiles. `renders`: whether calls of earlier turns are rendered."""
    own = sandbox()
    source = _Source(own, own.parse(template.text))
    return [
        Check("T001", "pass", "It compiles in the sandbox."),
        source.names(template),
        source.filters(renders=renders),
        source.options(template),
        source.content(),
        _tokens(template, encoder),
    ]


def options_of(template: Template) -> dict[str, Any]:
    """The options a template reads, with the default it gives them (None: none seen)."""
    own = sandbox()
    return _Source(own, own.parse(template.text)).defaults(template)


class _Source:
    """A parsed template."""

    def __init__(self, own: Environment, tree: nodes.Template) -> None:
        self._own, self._tree = own, tree

    def names(self, template: Template) -> Check:
        """T002: names that nobody sets and that are not asked for first."""
        known = GIVEN | self._guarded() | self._set()
        loose = {
            node.name: node.lineno
            for node in self._tree.find_all(nodes.Name)
            if node.ctx == "load" and node.name in template.reads and node.name not in known
        }
        called = {node.node.name for node in self._tree.find_all(nodes.Call) if isinstance(node.node, nodes.Name)}
        listed = ", ".join(f"{name} (line {line})" for name, line in sorted(loose.items()))
        status: Status = "fail" if called.intersection(loose) else "warn" if loose else "pass"
        if status == "pass":
            return Check("T002", "pass", "It reads no name that is never set.")
        remedy = "Set them in chat_template_kwargs of the request, or correct the template in a copy (chat_template: FILE)."
        return Check("T002", status, f"It reads names that nobody sets: {listed}.", remedy)

    def filters(self, *, renders: bool) -> Check:
        """T003: filters and tests that only some servers have. `renders`: whether calls of earlier turns are rendered."""
        unknown = [
            f"{kind} {node.name} (line {node.lineno})"
            for kind, known, found in (
                ("filter", self._own.filters, self._tree.find_all(nodes.Filter)),
                ("test", self._own.tests, self._tree.find_all(nodes.Test)),
            )
            for node in found
            if node.name not in known
        ]
        if not unknown:
            return Check("T003", "pass", "It uses no unknown filter or test.")
        told = f"Unknown here: {', '.join(sorted(set(unknown)))}."
        if renders:
            return Check("T003", "pass", f"{told} What Toolwire renders does not reach them.")
        return Check("T003", "warn", f"{told} Conversations that reach them are refused.", "Remove them from the template.")

    def options(self, template: Template) -> Check:
        """T004: options of a request that reach the template."""
        defaults = self.defaults(template)
        if not defaults:
            return Check("T004", "pass", "It reads no options.")
        told = ", ".join(name if value is None else f"{name} (default {value!r})" for name, value in defaults.items())
        return Check("T004", "pass", f"chat_template_kwargs that it reads: {told}.")

    def defaults(self, template: Template) -> dict[str, Any]:
        """Names it sets itself are options only where it first asks whether they are set."""
        defaults: dict[str, Any] = dict.fromkeys(sorted(template.reads - GIVEN - (self._set() - self._asked())))
        for node in self._tree.find_all(nodes.Assign):
            if isinstance(node.target, nodes.Name) and node.target.name in defaults and isinstance(node.node, nodes.Const):
                defaults[node.target.name] = node.node.value if defaults[node.target.name] is None else defaults[node.target.name]
        return defaults

    def content(self) -> Check:
        """T005: whether it walks lists of parts."""
        walks = any(_names_content(node.iter) for node in self._tree.find_all(nodes.For))
        return Check("T005", "pass", f"Its source reads content as {'text or a list of parts' if walks else 'text'}.")

    def _set(self) -> set[str]:
        """Names that the template sets somewhere; a macro is one."""
        named = {node.name for node in self._tree.find_all(nodes.Name) if node.ctx in ("store", "param")}
        return named | {node.name for node in self._tree.find_all(nodes.Macro)}

    def _asked(self) -> set[str]:
        """Names of which the template asks whether they are set."""
        asked: set[str] = set()
        for node in self._tree.find_all((nodes.Test, nodes.Filter)):
            if isinstance(node.node, nodes.Name) and node.name in ("defined", "undefined", "none", "default", "d"):
                asked.add(node.node.name)
        return asked

    def _guarded(self) -> set[str]:
        """Names that the template uses only after a condition on them, or as one."""
        asked = self._asked()
        for node in self._tree.find_all((nodes.If, nodes.CondExpr, nodes.And, nodes.Or)):
            asked.update(_names(node.test if isinstance(node, nodes.If | nodes.CondExpr) else node))
        return asked


def _names(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Name):
        yield node.name
    for name in node.find_all(nodes.Name):
        yield name.name


def _names_content(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Name):
        return node.name in _CONTENT
    if isinstance(node, nodes.Getattr):
        return node.attr in _CONTENT
    return isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and node.arg.value in _CONTENT


def _tokens(template: Template, encoder: PromptEncoder | None) -> Check:
    """T006: a template of another model spells tokens that this vocabulary does not have."""
    spelled = sorted(set(_CONTROL.findall(template.literals)))
    if encoder is None:
        return Check("T006", "pass", "Not looked at: there is no tokenizer here (set tokenizer, or --tokenizer).")
    missing = [token for token in spelled if not encoder.holds(token)]
    problem = f"Not single tokens of this tokenizer: {', '.join(missing[:8])}." if missing else ""
    return judged(
        "T006",
        problem,
        f"All {len(spelled)} control tokens that it spells are single tokens of the tokenizer.",
        "The template may belong to another model; take the model's own, or one of ours.",
    )
