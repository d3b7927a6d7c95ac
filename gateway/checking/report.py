"""What a check found: one line per question, with what to do where something is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["pass", "warn", "fail"]
_WORST: tuple[Status, ...] = ("fail", "warn", "pass")
REFUSING = ("T001", "T003", "P050", "P052")
"""Checks without which a model is not served: its calls could not be read."""


@dataclass(frozen=True, slots=True)
class Check:
    """One question's answer. `remedy` is empty where there is nothing to do."""

    id: str
    status: Status
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All answers for one template. `format` is None where no family reads the template's calls."""

    template: str
    format: str | None
    capabilities: Mapping[str, Any]
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Status:
        """The worst status of all."""
        found = {check.status for check in self.checks}
        return next(status for status in _WORST if status in found or status == "pass")

    @property
    def refusal(self) -> Check | None:
        """The check for which a model is not served."""
        return next((check for check in self.checks if check.status == "fail" and check.id in REFUSING), None)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "template": self.template,
            "format": self.format,
            "verdict": self.verdict,
            "capabilities": dict(self.capabilities),
            "checks": [
                {"id": check.id, "status": check.status, "message": check.message, "remedy": check.remedy}
                for check in self.checks
            ],
        }


def judged(check_id: str, problem: str, message: str, remedy: str = "") -> Check:
    """Passed with `message`, or a warning when there is a problem."""
    return Check(check_id, "warn", problem, remedy) if problem else Check(check_id, "pass", message)
