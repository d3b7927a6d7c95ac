"""Counts what came of the requests, shows how far they are, and writes down those that ended badly."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests.e2e.scale.asks import Ask
from tests.e2e.scale.outcomes import BROKEN, FINE, Answer, Outcome, Verdict

EVERY = 20
"""Requests between two lines of progress."""
VERDICTS: tuple[Verdict, ...] = (*FINE, *BROKEN)


@dataclass(slots=True)
class Report:
    """What is known so far of a run of `total` requests. `out`: where progress is shown."""

    total: int
    out: TextIO | None = None
    began: float = field(default_factory=time.monotonic)
    ended: list[tuple[Ask, Answer, Outcome]] = field(default_factory=list)

    def add(self, ask: Ask, answer: Answer, outcome: Outcome) -> None:
        """Count one request."""
        self.ended.append((ask, answer, outcome))
        if self.out is not None and (len(self.ended) % EVERY == 0 or len(self.ended) == self.total):
            counts = self._counts(outcome for _, _, outcome in self.ended)
            told = ", ".join(f"{count} {name}" for name, count in counts.items())
            done = f"{len(self.ended)} of {self.total} in {time.monotonic() - self.began:.0f} s"
            print(f"  {done}: {told}", file=self.out, flush=True)

    def count(self, *verdicts: Verdict) -> int:
        """How many ended so."""
        return sum(outcome.verdict in verdicts for _, _, outcome in self.ended)

    @property
    def broken(self) -> list[str]:
        """Every request that must not have ended as it did, in words."""
        return [
            f"request {ask.number} ({ask.family}, {ask.kind}, {ask.tools[0].name} of {ask.tools[0].source}"
            f"{', streamed' if ask.stream else ''}): {outcome.verdict}: {outcome.reason}"
            for ask, _, outcome in self.ended
            if outcome.verdict in BROKEN
        ]

    def table(self) -> str:
        """The counts by kind and by family, and the reasons of what was refused."""
        rows = [("", *VERDICTS, "calls", "median s", "longest s")]
        rows += [_row(*group) for group in (("all", self.ended), *self._grouped("kind"), *self._grouped("family")) if group[1]]
        lines = ["  ".join(f"{cell:>10}" if at else f"{cell:<16}" for at, cell in enumerate(row)).rstrip() for row in rows]
        return "\n".join((*lines, *self._reasons()))

    def write(self, file: Path) -> None:
        """Write what did not end well as JSON lines: request, answer and verdict."""
        with file.open("w", encoding="utf-8") as out:
            for ask, answer, outcome in self.ended:
                if outcome.verdict != "valid":
                    calls = list(zip(answer.names, answer.arguments, strict=True))
                    line = {
                        "verdict": outcome.verdict,
                        "reason": outcome.reason,
                        "family": ask.family,
                        "kind": ask.kind,
                        "request": ask.body(),
                        "calls": calls,
                        "content": answer.content,
                        "error": answer.error,
                        "warnings": answer.warnings,
                    }
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _grouped(self, by: str) -> list[tuple[str, list[tuple[Ask, Answer, Outcome]]]]:
        names = dict.fromkeys(getattr(ask, by) for ask, _, _ in sorted(self.ended, key=lambda each: each[0].number))
        return [(name, [each for each in self.ended if getattr(each[0], by) == name]) for name in names]

    def _counts(self, outcomes: Iterable[Outcome]) -> dict[str, int]:
        counted = Counter(outcome.verdict for outcome in outcomes)
        return {name: counted[name] for name in VERDICTS if counted[name]}

    def _reasons(self) -> list[str]:
        told = Counter((outcome.verdict, outcome.reason) for _, _, outcome in self.ended if outcome.reason)
        return [f"{count} {verdict}: {reason}" for (verdict, reason), count in told.most_common()]


def _row(name: str, ended: Sequence[tuple[Ask, Answer, Outcome]]) -> tuple[str, ...]:
    counted = Counter(outcome.verdict for _, _, outcome in ended)
    calls = sum(len(answer.names) for _, answer, _ in ended)
    seconds = sorted(answer.seconds for _, answer, _ in ended)
    figures = (*(counted[verdict] for verdict in VERDICTS), calls)
    return name, *map(str, figures), f"{seconds[len(seconds) // 2]:.1f}", f"{seconds[-1]:.1f}"
