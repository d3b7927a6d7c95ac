"""The list of formats, and the page of the documentation that is made of it."""

import json
from pathlib import Path

import pytest

import parsers
from gateway.cli import main

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"


def test_the_page_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats", "--markdown"]) == 0
    assert capsys.readouterr().out == PAGE.read_text(encoding="utf-8"), "run `make docs`"


def test_the_table_has_a_line_for_each_format(capsys: pytest.CaptureFixture[str]) -> None:
    main(["formats"])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["FORMAT", *parsers.names()]


def test_the_json_list_tells_what_a_format_can(capsys: pytest.CaptureFixture[str]) -> None:
    main(["formats", "--json"])
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert listed["hermes"]["constraint"] == ["structural_tag", "lark"]
    assert listed["harmony"]["parallel"] is False
    assert listed["qwen3_coder"]["reasoning"] == "prompt"
