"""A model whose calls could not be read is refused at the start, unless its entry says otherwise."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.app import House
from gateway.cli import main
from gateway.errors import SettingsError
from gateway.settings import Settings
from tests.support.server import CLIENT, replay_model, serving

TURNS = [{"match": None, "text": "x"}]


def settings(folder: Path, **entry: Any) -> Settings:
    """A model that speaks Hermes with a template that does, whatever its parser."""
    return Settings.model_validate({"models": [replay_model(folder, TURNS, chat_template="toolwire/hermes", **entry)]})


def verdict(wanted: Settings) -> str | None:
    async def enter() -> str | None:
        async with House(wanted) as house:
            return next(iter(house.catalog)).template_check

    return asyncio.run(enter())


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"parser": "hermes"}, "pass"),
        ({"parser": "auto"}, "pass"),
        ({"parser": "mistral", "template_check": "warn"}, "fail"),
        ({"parser": "mistral", "template_check": "off"}, None),
    ],
)
def test_the_verdict_stands_in_the_catalog(tmp_path: Path, entry: dict[str, str], expected: str | None) -> None:
    assert verdict(settings(tmp_path, **entry)) == expected


def test_a_parser_that_fails_is_refused_and_the_right_one_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"P050: mistral does not give back call.*Set parser: hermes") as refused:
        verdict(settings(tmp_path, parser="mistral"))
    assert "template_check: warn" in str(refused.value)


def test_ready_and_models_show_it(tmp_path: Path) -> None:
    with serving(settings(tmp_path, parser="hermes")) as gateway:
        assert CLIENT.get(f"{gateway.url}/ready").json()["template_checks"] == {"scripted": "pass"}
        assert CLIENT.get(f"{gateway.base_url}/models/scripted").json()["template_check"] == "pass"


def test_the_command_tells_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "toolwire.yaml"
    config.write_text(json.dumps({"models": [replay_model(tmp_path, TURNS, chat_template="toolwire/hermes")]}))
    assert main(["check", "--config", str(config), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["template"], report["format"], report["verdict"]) == ("toolwire/hermes", "hermes", "pass")


def test_one_template_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "broken.jinja"
    template.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    assert main(["check", "--template", str(template)]) == 1
    out = capsys.readouterr().out
    assert "format none, verdict fail" in out
    assert "P050  FAIL" in out
    assert main(["check", "--template", str(tmp_path / "none.jinja")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert main(["check", "--template", str(template), "--format", "nope"]) == 2
