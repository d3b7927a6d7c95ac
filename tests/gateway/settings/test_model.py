"""What a configuration may say, and that every wrong one is refused with its place and the remedy."""

from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.settings import EmbeddedModel, ReplayModel, VllmModel, load

REFUSED = {
    "serve: {}": "unknown key; did you mean 'server'?",
    "server: {prot: 1}": "server.prot: unknown key; did you mean 'port'?",
    "server: {zzz: 1}": "server.zzz: unknown key; known keys: host, port, drain, write_timeout",
    "server: {port: eighty}": "server.port: expected a valid integer, unable to parse string as an integer, got 'eighty'",
    "server: {port: 70000}": "server.port: expected less than or equal to 65535, got 70000",
    "limits: {body_bytes: [1]}": "limits.body_bytes: expected a valid integer, got [1]",
    "models: {}": "models: expected a valid tuple, got {}",
    "models: []": "models: add a model",
    "models: [3]": "models[0]: expected",
    "models: [{name: a}]": "models[0].backend: add a backend (one of vllm, embedded, replay)",
    "models: [{name: a, backend: vlm}]": "models[0].backend: unknown backend 'vlm'; did you mean 'vllm'? (one of",
    "models: [{backend: vllm, urls: [http://x]}]": "models[0].name: this key is required",
    "models: [{name: a, backend: vllm}]": "models[0]: backend vllm needs an address: add  urls: [http://HOST:PORT]",
    "models: [{name: a, backend: vllm, urls: ['x:1']}]": "models[0]: urls must start with http:// or https://, got 'x:1'",
    "models: [{name: a, backend: vllm, urls: ['http://u:pw@x'], api_key: k}]": (
        "models[0]: urls with a password and api_key exclude one another; remove one"
    ),
    "models: [{name: a, backend: vllm, ulrs: [http://x]}]": "models[0].ulrs: unknown key; did you mean 'urls'?",
    "models: [{name: a, backend: replay}]": "models[0].turns: this key is required",
    "models: [{name: a, backend: replay, turns: t, urls: [http://x]}]": "models[0].urls: unknown key",
    "models: [{name: 'a b', backend: embedded}]": "models[0].name: String should match pattern",
    "models: [{name: 'claude-*', backend: embedded}]": "models[0].name: String should match pattern",
    "models: [{name: a, aliases: ['a b*'], backend: embedded}]": "models[0].aliases[0]: String should match pattern",
    "models: [{name: a, backend: embedded, strict: maybe}]": "models[0].strict: expected 'fail', 'retry' or 'report', got",
    "models: [{name: a, backend: embedded}, {name: b, backend: embedded, aliases: [a]}]": (
        "models: 'a' is the name or alias of two entries (models[0] and models[1]); rename one"
    ),
    "models: [{name: a, aliases: [a], backend: embedded}]": "'a' is the name or alias of two entries",
    "- a": "expected keys such as 'server' and 'models' at the top, got list",
    "a: b: c": "not readable as YAML: mapping values are not allowed here",
    "3: {}": "3: unknown key",
}


def _file(folder: Path, text: str) -> Path:
    file = folder / "toolwire.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("text", REFUSED)
def test_a_wrong_file_is_refused_with_place_and_remedy(text: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load(_file(tmp_path, text), {})
    assert REFUSED[text] in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "toolwire.yaml"))
    assert "\n" not in str(refused.value)


def test_every_problem_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load(_file(tmp_path, "server: {port: x}\nmodels: [{name: a, backend: vlm}, {name: b, backend: replay}]"), {})
    assert [line.split(": ")[1] for line in str(refused.value).splitlines()] == [
        "server.port",
        "models[0].backend",
        "models[1].turns",
    ]


def test_nothing_at_all_is_the_embedded_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load(None, {})
    assert [(model.name, model.backend) for model in settings.models] == [("smollm2", "embedded")]
    assert isinstance(settings.models[0], EmbeddedModel)
    assert settings.models[0].path is None
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8000)


def test_the_file_in_the_working_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("toolwire.yaml").write_text("server: {port: 9}", encoding="utf-8")
    assert load(None, {}).server.port == 9


def test_an_empty_file_is_no_configuration(tmp_path: Path) -> None:
    assert load(_file(tmp_path, ""), {}) == load(_file(tmp_path, "# nothing"), {})


def test_each_backend_has_its_own_keys(tmp_path: Path) -> None:
    settings = load(
        _file(
            tmp_path,
            """
            models:
              - {name: org/big,
                 aliases: [gpt-4o, "claude-*"], backend: vllm, urls: ["http://127.0.0.1:8001"], parser: hermes, api_key: k}
              - {name: small, backend: embedded, path: m.gguf, threads: 1, parallel: 2, context: 2048}
              - {name: scripted, backend: replay, turns: turns.jsonl, parser: hermes, sampling: {temperature: 0}}
            """,
        ),
        {},
    )
    big, small, scripted = settings.models
    assert isinstance(big, VllmModel)
    assert isinstance(small, EmbeddedModel)
    assert isinstance(scripted, ReplayModel)
    assert (big.aliases, big.urls, big.strict) == (("gpt-4o", "claude-*"), ("http://127.0.0.1:8001",), "fail")
    assert scripted.sampling.temperature == 0


def test_the_engine_key_is_not_shown(tmp_path: Path) -> None:
    settings = load(_file(tmp_path, "models: [{name: a, backend: vllm, urls: [http://x], api_key: s3cret}]"), {})
    assert "s3cret" not in repr(settings)


def test_paths_are_seen_from_the_files_folder(tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").touch()
    (tmp_path / "tok").mkdir()
    entry = "{name: a, backend: replay, turns: turns.jsonl, tokenizer: tok, chat_template: toolwire/hermes}"
    model = load(_file(tmp_path, f"models: [{entry}]"), {}).models[0]
    assert isinstance(model, ReplayModel)
    assert model.turns == str(tmp_path / "turns.jsonl")
    assert model.tokenizer == str(tmp_path / "tok")
    assert model.chat_template == "toolwire/hermes"


def test_a_hub_id_is_no_path(tmp_path: Path) -> None:
    model = load(
        _file(tmp_path, "models: [{name: a, backend: embedded, tokenizer: Qwen/Qwen3-8B, path: 'hf:o/r/f.gguf'}]"), {}
    ).models[0]
    assert isinstance(model, EmbeddedModel)
    assert (model.tokenizer, model.path) == ("Qwen/Qwen3-8B", "hf:o/r/f.gguf")


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    settings = load(_file(tmp_path, ""), {})
    with pytest.raises(ValueError, match="frozen"):
        settings.server.port = 1  # type: ignore[misc]


def test_a_missing_file_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file; name the configuration file with --config"):
        load(tmp_path / "none.yaml", {})
