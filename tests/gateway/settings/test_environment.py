"""TOOLWIRE_* variables: each key of the file can be said in one, and it wins."""

import logging
from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.settings import VllmModel, load


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "toolwire.yaml"
    path.write_text("server: {port: 1}\nmodels: [{name: a, backend: vllm, urls: [http://x]}]", encoding="utf-8")
    return path


def test_a_variable_wins_over_the_file(file: Path) -> None:
    assert load(file, {"TOOLWIRE_SERVER__PORT": "2"}).server.port == 2


def test_a_change_wins_over_a_variable(file: Path) -> None:
    assert load(file, {"TOOLWIRE_SERVER__PORT": "2"}, changes={"server.port": 3}).server.port == 3


def test_entries_of_lists_have_numbers(file: Path) -> None:
    env = {
        "TOOLWIRE_MODELS__0__NAME": "b",
        "TOOLWIRE_MODELS__0__URLS__0": "http://y",
        "TOOLWIRE_MODELS__0__ALIASES": "[c, d]",
        "TOOLWIRE_MODELS__0__CONTEXT": "null",
        "TOOLWIRE_MODELS__1": "{name: e, backend: embedded}",
    }
    first, second = load(file, env).models
    assert isinstance(first, VllmModel)
    assert (first.name, first.urls, first.aliases, first.context) == ("b", ("http://y",), ("c", "d"), None)
    assert second.name == "e"


def test_a_whole_configuration_fits_into_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = {f"TOOLWIRE_MODELS__0__{key}": value for key, value in {"NAME": "a", "BACKEND": "vllm", "URLS": "[http://x]"}.items()}
    assert [model.name for model in load(None, env).models] == ["a"]


def test_the_file_can_be_named_in_a_variable(file: Path) -> None:
    assert load(None, {"TOOLWIRE_CONFIG": str(file)}).server.port == 1


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("TOOLWIRE_SERVER__PROT", "1", "server.prot: unknown key; did you mean 'port'?"),
        ("TOOLWIRE_SERVER__PORT", "x", "server.port: expected a valid integer"),
        ("TOOLWIRE_MODELS__5__NAME", "x", "TOOLWIRE_MODELS__5__NAME: '5' is no entry; the next free number is 1"),
        ("TOOLWIRE_MODELS__X__NAME", "x", "'x' is no entry"),
        ("TOOLWIRE_SERVER__PORT__X", "x", "is below a plain value"),
        ("TOOLWIRE_MODELS", "[{", "TOOLWIRE_MODELS: not readable as YAML"),
        ("TOOLWIRE_NOTHING__KEY", "x", "nothing: unknown key"),
    ],
)
def test_a_wrong_variable_is_refused(file: Path, variable: str, value: str, told: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(file, {variable: value})
    assert told in str(refused.value)


def test_other_variables_are_let_alone(file: Path) -> None:
    assert load(file, {"TOOLWIRE_CACHE": "/x", "PATH": "/bin", "TOOLWIRE_PORT_8000_TCP": "tcp://1.2.3.4:8000"}).server.port == 1


def test_a_single_underscore_is_remarked(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "gateway.settings"):
        load(file, {"TOOLWIRE_SERVER_PORT": "5"})
    assert "TOOLWIRE_SERVER_PORT has no effect; did you mean TOOLWIRE_SERVER__PORT?" in caplog.text
