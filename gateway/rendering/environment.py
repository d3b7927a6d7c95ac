"""A chat template in the sandbox that transformers uses: same options, same extensions, same helpers, a clock of our choice."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateSyntaxError, meta, nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from gateway.errors import SettingsError

from .placeholders import within_json

Clock = Callable[[], datetime]

# What a template's code can raise: it is a program, and not one of ours.
_FAILURES = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError)


_MOST_KNOWN = 4096


class RenderFailure(Exception):
    """The template refused; the text is its own reason where it gave one."""


class _Generation(Extension):
    """`{% generation %}` marks the assistant's text for training; for a prompt it is only a bracket."""

    tags = {"generation"}  # noqa: RUF012 - jinja declares it as a plain attribute

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller: Macro) -> str:
        return str(caller())


class _Namespace(Namespace):
    """jinja's namespace without underscore names, which could reach Python's internals."""

    def __init__(*args: Any, **values: Any) -> None:
        self, initial = args[0], dict(*args[1:], **values)
        for name in initial:
            _refuse_private(name)
        Namespace.__init__(self, initial)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_private(name)
        super().__setitem__(name, value)


class _Dict:
    """`dict(...)` and `dict.fromkeys(...)`, and nothing else of the type."""

    def __call__(self, *args: Any, **values: Any) -> dict[Any, Any]:
        return dict(*args, **values)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Sandbox(ImmutableSandboxedEnvironment):
    """jinja's sandbox, which asks of one type and attribute only once whether a template may have it: half of all its time."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._safe: dict[tuple[type, str], bool] = {}

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """What the rules say of this type; they look at nothing else of the object."""
        key = (type(obj), attr)
        safe = self._safe.get(key)
        if safe is None:
            safe = super().is_safe_attribute(obj, attr, value)
            if len(self._safe) < _MOST_KNOWN:
                self._safe[key] = safe
        return safe


class Shown(dict[str, Any]):
    """What is shown in many prompts, with the JSON that it was written as."""

    __slots__ = ("written",)

    def __init__(self, value: Mapping[str, Any]) -> None:
        super().__init__(value)
        self.written: dict[tuple[object, ...], str] = {}


def _refuse_private(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace cannot hold the private name {name!r}")


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _tojson(  # the filter's own arguments, in its own order
    value: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    if isinstance(value, Shown):
        key = ensure_ascii, indent, *(separators or ()), sort_keys
        text = value.written.get(key)
        if text is None:
            text = value.written[key] = _tojson(dict(value), ensure_ascii, indent, separators, sort_keys)
        return text
    text = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    return within_json(text, ascii_only=ensure_ascii)


def sandbox(clock: Clock = datetime.now) -> ImmutableSandboxedEnvironment:
    """What templates are compiled and run in."""
    environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = lambda pattern: clock().strftime(pattern)
    environment.globals["dict"] = _Dict()
    environment.globals["namespace"] = _Namespace
    return environment


class Template:
    """A compiled chat template and what its source says of itself.

    `reads`: names it looks up outside itself. `words`: attribute names and strings it mentions. `literals`: its own text,
    joined by NUL so that nothing is found across two pieces.
    """

    def __init__(self, text: str, *, variables: Mapping[str, Any], clock: Clock = datetime.now) -> None:
        environment = sandbox(clock)
        try:
            tree = environment.parse(text)
            self._compiled = environment.from_string(text)
            # a plain dict: each rendering copies it, and jinja's own is looked up in two
            self._compiled.globals = dict(environment.globals)
        except TemplateSyntaxError as error:
            raise SettingsError(f"The chat template does not compile, line {error.lineno}: {error.message}") from error
        self.variables = dict(variables)
        constants = [node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)]
        self.text = text
        self.reads = frozenset(meta.find_undeclared_variables(tree)) - frozenset(environment.globals)
        self.words = frozenset(constants) | {node.attr for node in tree.find_all(nodes.Getattr)}
        # Without tools transformers passes null; a template that cannot stand it gets no variable at all.
        self.null_tools = True
        self.tools_variable = "tools"
        self.literals = "\0".join([node.data for node in tree.find_all(nodes.TemplateData)] + constants)

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        *,
        generation: bool,
        extra: Mapping[str, Any] | None = None,
    ) -> str:
        """The prompt's text, or RenderFailure."""
        context: dict[str, Any] = {"documents": None, **self.variables, **(extra or {})}
        if tools:
            context[self.tools_variable] = tools
        elif self.null_tools:
            context[self.tools_variable] = None
        try:
            return self._compiled.render(context, messages=messages, add_generation_prompt=generation)
        except TemplateError as error:
            raise RenderFailure(error.message or type(error).__name__) from error
        except _FAILURES as error:
            raise RenderFailure(f"{type(error).__name__}: {error}") from error
