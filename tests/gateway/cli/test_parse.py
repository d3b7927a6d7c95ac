"""`toolwire parse` and `toolwire formats` as people and other programs call them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import STARTING

TURN = 'Well.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich"}}\n</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


def toolwire(*arguments: str, stdin: str | bytes = "") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "gateway", *arguments], input=given, capture_output=True, check=False, timeout=STARTING
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def parsed(*arguments: str, stdin: str) -> Any:
    """The one line that `parse` prints."""
    done = toolwire("parse", *arguments, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def test_a_turn_becomes_one_line() -> None:
    message = parsed("--format", "hermes", stdin=TURN)
    (call,) = message.pop("tool_calls")
    assert message == {"content": "Well.", "reasoning": None, "notices": [], "finish": "tool_calls"}
    assert (call["name"], json.loads(call["arguments"]), call["id"], call["complete"]) == (
        "get_weather",
        {"city": "Zürich"},
        None,
        True,
    )


def test_a_format_may_be_called_by_an_alias() -> None:
    assert parsed("--format", "qwen2_5", stdin=TURN)["finish"] == "tool_calls"


def test_events_are_listed_in_order() -> None:
    events = parsed("--format", "hermes", "--events", stdin=TURN)
    names = [event["event"] for event in events]
    assert names[0] == "ContentDelta"
    assert names[-2:] == ["ToolCallEnd", "Finish"]
    assert "".join(event["fragment"] for event in events if event["event"] == "ToolCallArguments").strip() == '{"city": "Zürich"}'


def test_an_opening_puts_the_parser_into_the_turn() -> None:
    opened = parsed("--format", "hermes", "--opening", r"<think>\n", stdin="Hm.\n</think>\n\nYes.")
    assert (opened["reasoning"].strip(), opened["content"].strip()) == ("Hm.", "Yes.")


def test_given_tools_decide_what_is_a_call(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"type": "function", "function": {"name": "other"}}]), encoding="utf-8")
    message = parsed("--format", "hermes", "--tools", str(file), stdin=TURN)
    assert message["tool_calls"] == []
    assert "get_weather" in message["content"]
    assert [notice["kind"] for notice in message["notices"]] == ["undeclared"]


def test_cases_are_answered_line_by_line() -> None:
    cases = [
        {"format": "hermes", "tools": TOOLS, "opening": "", "deltas": list(TURN), "finish": "stop"},
        {"format": "hermes", "deltas": ["plain"]},
        {"format": "hermes", "tools": [], "opening": None, "deltas": [TURN], "finish": "length"},
    ]
    done = toolwire("parse", "--jsonl", stdin="\n".join(map(json.dumps, cases)) + "\n\n")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, len(answers)) == (0, 3)
    assert all(set(answer) == {"content", "reasoning", "tool_calls", "notices", "finish"} for answer in answers)
    assert set(answers[0]["tool_calls"][0]) == {"name", "arguments", "id", "complete"}
    assert [answer["finish"] for answer in answers] == ["tool_calls", "stop", "length"]
    assert [len(answer["tool_calls"]) for answer in answers] == [1, 0, 0]


def test_a_case_that_cannot_be_read_is_answered_too() -> None:
    cases = [
        "{",
        "[]",
        '{"format": "hermse", "deltas": []}',
        '{"format": "hermes", "deltas": "x"}',
        '{"format": "hermes", "deltas": ["x"]}',
    ]
    cases += [
        f'{{"format": "hermes", "deltas": ["x"], {more}}}'
        for more in (
            '"tools": {}',
            '"tools": [{"function": "f"}]',
            '"tools": [{"parameters": [1]}]',
            '"opening": 5',
            '"finish": [5]',
        )
    ]
    done = toolwire("parse", "--jsonl", stdin="\n".join(cases))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert ["error" in answer for answer in answers] == [True, True, True, True, False, True, True, True, True, True]
    assert "did you mean hermes?" in answers[2]["error"]


def test_bytes_that_are_no_text_do_no_harm() -> None:
    done = toolwire("parse", "--format", "hermes", stdin=b"a\xff\x00b")
    assert json.loads(done.stdout)["content"] == "a\ufffd\0b"
    lonely = toolwire("parse", "--jsonl", stdin='{"format": "hermes", "deltas": ["\\ud83d"]}')
    assert json.loads(lonely.stdout)["content"] == "\ud83d"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["parse"], "toolwire: name the format: --format NAME (see `toolwire formats`)"),
        (["parse", "--format", "hermse"], "toolwire: there is no format 'hermse'; did you mean hermes?"),
        (
            ["parse", "--format", "hermes", "--tools", "/no/such"],
            "toolwire: --tools /no/such: No such file or directory; give a file",
        ),
        (["parse", "--format", "hermes", "--tools", __file__], f"toolwire: --tools {__file__}: not JSON ("),
        (["parse", "--nonsense"], "toolwire: error: unrecognized arguments: --nonsense"),
        ([], "toolwire: error: "),
        (["sing"], "toolwire: error: argument VERB: invalid choice: 'sing'"),
    ],
)
def test_a_wrong_call_says_what_to_do(arguments: list[str], told: str) -> None:
    done = toolwire(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(told)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_the_version_is_told() -> None:
    done = toolwire("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("toolwire ")


def test_formats_are_listed_for_people_and_for_programs() -> None:
    rows = toolwire("formats").stdout.splitlines()
    assert rows[0].split() == ["FORMAT", "REASONING", "PARALLEL", "CONSTRAINT", "ALIASES"]
    listed = json.loads(toolwire("formats", "--json").stdout)
    assert [entry["name"] for entry in listed] == [row.split()[0] for row in rows[1:]]
    hermes = next(entry for entry in listed if entry["name"] == "hermes")
    assert "qwen2_5" in hermes["aliases"]
    assert hermes["template"] == "hermes.jinja"


def test_reading_turns_needs_none_of_the_server() -> None:
    """Starting fast is a promise: nothing of the web, of pydantic or of transformers is imported."""
    code = (
        "import sys, io; sys.stdin = io.TextIOWrapper(io.BytesIO(b'x'));"
        "from gateway.cli import main; main(['parse', '--format', 'hermes']); main(['formats']);"
        "heavy = {'pydantic', 'fastapi', 'uvicorn', 'transformers', 'aiohttp', 'jinja2', 'yaml'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=STARTING)
    assert (done.returncode, done.stderr) == (0, "")
