"""`toolwire check`: one template, a folder of them, for people and for machines."""

import json
import subprocess
import sys
from pathlib import Path

import chat_templates


def check(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "gateway", "check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def test_a_good_template() -> None:
    done = check("--template", "toolwire/hermes")
    assert done.returncode == 0
    assert "format hermes, verdict pass" in done.stdout
    assert "P050  ok" in done.stdout


def test_a_folder_tells_what_is_wrong_with_each(tmp_path: Path) -> None:
    (tmp_path / "good.jinja").write_text(chat_templates.load("hermes"), encoding="utf-8")
    (tmp_path / "broken.jinja").write_text("one\n{% if %}", encoding="utf-8")
    people, machines = check("--template", tmp_path), check("--template", tmp_path, "--json")
    assert (people.returncode, machines.returncode) == (1, 1)
    assert "T001  FAIL" in people.stdout
    assert "  ok  " not in people.stdout
    verdicts = {Path(report["template"]).stem: report["verdict"] for report in map(json.loads, machines.stdout.splitlines())}
    assert verdicts == {"broken": "fail", "good": "pass"}


def test_an_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    done = check("--template", tmp_path)
    assert done.returncode == 2
    assert "no .jinja file" in done.stderr
