"""What is asked: every kind of demand in turn, over every family and every tool, streamed and whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.e2e.scale.tools import Sample

Kind = Literal["required", "named", "auto", "single", "single auto"]
KINDS: tuple[Kind, ...] = ("required", "named", "auto", "single", "single auto")
"""`required` and `named` as tool choices; `auto` with strict tools; `single`: `required` with `parallel_tool_calls: false`."""
MOST_OFFERED = 4


@dataclass(frozen=True, slots=True)
class Ask:
    """One request. The first of the tools is the one that is named where one is."""

    number: int
    family: str
    kind: Kind
    tools: tuple[Sample, ...]
    strict: bool
    stream: bool
    seed: int = 0

    @property
    def forced(self) -> bool:
        """Whether there must be a call."""
        return self.kind not in ("auto", "single auto")

    @property
    def callable(self) -> tuple[Sample, ...]:
        """The tools that may be called."""
        return self.tools[:1] if self.kind == "named" else self.tools

    @property
    def one_call(self) -> bool:
        """Whether there may be one call at most."""
        return self.kind in ("named", "single", "single auto")

    def body(self) -> dict[str, Any]:
        """The fields of the request that say what is demanded."""
        return {
            "messages": self._messages(),
            "tools": [self._tool(sample) for sample in self.tools],
            "tool_choice": self._choice(),
            "parallel_tool_calls": not self.kind.startswith("single"),
            "stream": self.stream,
            "seed": self.seed + self.number,
        }

    def _messages(self) -> list[dict[str, Any]]:
        """A question; under `auto` behind one that was answered by a call, which the small model then imitates."""
        name = self.tools[0].name
        question = {"role": "user", "content": f"Request {self.number}: use {name}."}
        if self.forced:
            return [question]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        asked = {"role": "assistant", "content": None, "tool_calls": [call]}
        return [question, asked, {"role": "tool", "tool_call_id": "call_1", "content": "done"}, question]

    def _tool(self, sample: Sample) -> dict[str, Any]:
        function = {"name": sample.name, "description": sample.description, "parameters": sample.schema, "strict": self.strict}
        return {"type": "function", "function": function}

    def _choice(self) -> Any:
        if self.kind == "named":
            return {"type": "function", "function": {"name": self.tools[0].name}}
        return "required" if self.forced else "auto"


def asks(
    number: int, families: Sequence[str], samples: Sequence[Sample], *, seed: int = 0, most_offered: int = MOST_OFFERED
) -> Iterator[Ask]:
    """So many requests. Families alternate fastest, then kinds, then whether the answer is streamed; tools go round."""
    for at in range(number):
        turn, place = divmod(at, len(families))
        rest, kind = divmod(turn, len(KINDS))
        offered = [samples[(at + step * 7) % len(samples)] for step in range(1 + (at + rest) % most_offered)]
        tools = {sample.name: sample for sample in offered}
        forced = KINDS[kind] in ("required", "named", "single")
        strict = not forced or (rest + place) % 3 > 0
        yield Ask(at, families[place], KINDS[kind], tuple(tools.values()), strict, (rest + place) % 2 == 0, seed)
