"""Turns that were once read wrongly, as a gateway recorded them; `toolwire replay FILE --accept` writes such a file."""

import json
from pathlib import Path

import pytest

from gateway.pipeline.recording.compare import differences
from gateway.pipeline.recording.play import play

FILES = sorted(Path(__file__).parent.glob("*.jsonl"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_turns_are_read_as_they_should_be(file: Path) -> None:
    for number, line in enumerate(file.read_text("ascii").splitlines(), 1):
        record = json.loads(line)
        assert differences(record["outcome"], play(record)) == [], f"line {number}"


def test_there_are_some() -> None:
    assert FILES
