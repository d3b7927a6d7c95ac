"""`toolwire replay`: from a request at a running gateway to a file that shows what a parser makes of its turn."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.cli.test_parse import toolwire
from tests.support.planned import hermes_call
from tests.support.server import replay_model, serving

TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "required": ["city"]}}}]
TURNS = [
    {"match": "broken", "text": hermes_call(arguments={})},
    {"match": "undeclared", "text": "Let me see.\n" + hermes_call("launch")},
    {"match": None, "text": hermes_call()},
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a gateway recorded: a refused call, an undeclared one, and nothing of the good one."""
    folder = tmp_path_factory.mktemp("recorded")
    settings = {"models": [replay_model(folder, TURNS, recorder="errors")], "recordings": {"folder": str(folder / "turns")}}
    with serving(settings) as gateway:
        for text, choice in (("broken", "required"), ("undeclared", "auto"), ("good", "auto")):
            body = {"model": "scripted", "messages": [{"role": "user", "content": text}], "tools": TOOLS, "tool_choice": choice}
            gateway.post(body, headers={"x-request-id": f"req-{text}", "authorization": "Bearer sk-not-to-be-written-down"})
    return folder / "turns" / "turns.jsonl"


def rewritten(file: Path, folder: Path, change: Any) -> str:
    """The file with its records changed, as one that an older parser wrote."""
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for record in records:
        change(record)
    (folder / "changed.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(folder / "changed.jsonl")


def test_turns_that_nothing_has_changed_for_are_the_same(file: Path) -> None:
    assert "not-to-be-written-down" not in file.read_text()
    done = toolwire("replay", str(file))
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 turns played, 0 different\n", "")
    found = [json.loads(line) for line in toolwire("replay", str(file), "--json").stdout.splitlines()]
    assert [each["request_id"] for each in found] == ["req-broken", "req-undeclared"]
    assert [each["verdict"]["code"] for each in found] == ["tool_call_invalid", None]
    assert [each["same"] for each in found] == [True, True]


def test_what_a_parser_reads_otherwise_than_before_is_shown(file: Path, tmp_path: Path) -> None:
    def change(record: Any) -> None:
        (choice,) = record["outcome"]["choices"]
        for call in choice["tool_calls"]:
            call["arguments"] = '{"city":"Rome"}'
        choice["notices"], record["outcome"]["refused"] = [], None

    done = toolwire("replay", rewritten(file, tmp_path, change))
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].split()[1:] == ["req-broken", "scripted", "hermes", "502", "tool_call_invalid"]
    assert lines[1:4] == ["  tool_calls[0].arguments", '    - "{\\"city\\":\\"Rome\\"}"', '    + "{}"']
    assert "  refused" in lines
    assert "  notices[0]" in lines
    assert lines[-1] == "2 turns played, 2 different"


def test_a_fix_is_accepted_as_what_is_right_from_now_on(file: Path, tmp_path: Path) -> None:
    changed = rewritten(file, tmp_path, lambda record: record["outcome"].update(refused="wrong"))
    done = toolwire("replay", changed, "--accept")
    assert done.returncode == 0
    (tmp_path / "accepted.jsonl").write_text(done.stdout)
    assert toolwire("replay", str(tmp_path / "accepted.jsonl")).returncode == 0
    assert [json.loads(line) for line in done.stdout.splitlines()] == [json.loads(line) for line in file.read_text().splitlines()]


def test_another_format_and_another_template_may_read_them(file: Path, tmp_path: Path) -> None:
    done = toolwire("replay", str(file), "--format", "kimi_k2", "--json")
    assert done.returncode == 1
    first = json.loads(done.stdout.splitlines()[0])
    assert first["format"] == "kimi_k2"
    assert "tool_calls[0]" in [difference["place"] for difference in first["differences"]]
    template = tmp_path / "thinks.jinja"
    template.write_text("{{ messages[0].content }}{{ tools }}{% if add_generation_prompt %}<think>\n{% endif %}")
    opened = toolwire("replay", str(file), "--template", str(template), "--accept")
    (tmp_path / "opened.jsonl").write_text(opened.stdout)
    assert toolwire("replay", str(tmp_path / "opened.jsonl")).returncode == 0
    opened = toolwire("replay", str(file), "--template", str(template), "--json")
    assert opened.returncode == 1
    assert "reasoning" in [difference["place"] for difference in json.loads(opened.stdout.splitlines()[1])["differences"]]


@pytest.mark.parametrize("behind", ["", "\n"])
def test_a_line_that_was_cut_short_is_left_out(file: Path, tmp_path: Path, behind: str) -> None:
    whole = file.read_text()
    (tmp_path / "cut.jsonl").write_text(whole + whole.splitlines()[0][:200] + behind)
    done = toolwire("replay", str(tmp_path / "cut.jsonl"))
    assert (done.returncode, done.stdout) == (0, "2 turns played, 0 different\n")
    assert "cut.jsonl:3: left out, as it is cut short" in done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "no recorded turns"),
        ("nothing", "x.jsonl:1: not JSON"),
        ("[]", "x.jsonl:1: not a JSON object"),
        ('{"a": 1}', "x.jsonl:1: it is not a recorded turn"),
        (None, "x.jsonl: No such file"),
    ],
)
def test_a_file_that_is_none_of_recorded_turns_is_refused(tmp_path: Path, content: str | None, told: str) -> None:
    if content is not None:
        (tmp_path / "x.jsonl").write_text(content)
    done = toolwire("replay", str(tmp_path / "x.jsonl"))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
