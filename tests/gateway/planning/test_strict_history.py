"""A broken history is healed, unless the model's entry says that it is an error."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.chat.history import heal
from gateway.errors import RequestError
from gateway.planning.planner import plan
from tests.support.planned import asked, scripted

BROKEN = [
    {"role": "user", "content": "q"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "user", "content": "and?"},
]


def test_healed_or_refused(tmp_path: Path) -> None:
    history = heal(BROKEN)
    request = replace(asked(), messages=history.messages, warnings=history.warnings, faults=history.faults)
    spec = scripted(tmp_path, "x")
    assert "no result for a" in plan(request, spec).warnings[0]
    with pytest.raises(RequestError) as refused:
        plan(request, replace(spec, strict_history=True))
    assert (refused.value.param, refused.value.code) == ("messages[1]", "invalid_history")
