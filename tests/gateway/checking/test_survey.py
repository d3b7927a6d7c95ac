"""The check over real templates, where a folder of them is at hand: no crash, every question answered, the family as it is known.

`survey.json` holds the verdict, which may get better, and the format of those that are known; others are only looked at.
"""

import json
from pathlib import Path

import pytest

from gateway.checking import Subject, broken, check
from gateway.rendering import Renderer, Vocabulary
from tests.support import golden

WORSE = ("pass", "warn", "fail")
KNOWN: dict[str, tuple[str, str | None]] = json.loads(Path(__file__).with_name("survey.json").read_text(encoding="utf-8"))
TEMPLATES = golden.templates()
SPECIAL = Vocabulary({"bos_token": "<s>", "eos_token": "</s>"})
pytestmark = pytest.mark.skipif(not TEMPLATES, reason=golden.ABSENT)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_real_template_is_judged(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    report = broken(path.stem, text) or check(Subject(path.stem, Renderer(text, SPECIAL)), thorough=False)
    assert all(entry.message and (entry.remedy or entry.status == "pass") for entry in report.checks)
    if path.stem in KNOWN:
        verdict, fmt = KNOWN[path.stem]
        assert WORSE.index(report.verdict) <= WORSE.index(verdict)
        assert report.format == fmt or fmt is None
