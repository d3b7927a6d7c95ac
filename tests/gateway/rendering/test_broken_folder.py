"""A tokenizer folder that cannot be loaded: one line that names the file and the remedy."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.rendering.loading import load
from tests.support.tokenizers import byte_level

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 11422654\n"


def writes(name: str, content: str | bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return change


def cuts(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_text(path.read_text()[:500])


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing": (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json is missing; copy"),
    "cut": (cuts, "tokenizer.json is not JSON (line 28, column 5: Expecting ',' delimiter); download it again"),
    "pointer": (writes("tokenizer.json", POINTER), "tokenizer.json is a Git LFS pointer instead of the file; run `git lfs pull`"),
    "empty": (writes("tokenizer.json", ""), "tokenizer.json is empty; download it again"),
    "no text": (writes("tokenizer.json", b"\xff\xfe\x00"), "tokenizer.json is not UTF-8 text (byte 0); download it again"),
    "another object": (writes("tokenizer.json", '{"a": 1}'), "tokenizer.json describes no tokenizer ("),
    "config": (writes("tokenizer_config.json", '{"a": '), "tokenizer_config.json is not JSON (line 1, column 7"),
    "config of a list": (writes("tokenizer_config.json", "[]"), "tokenizer_config.json is not a JSON object; download it again"),
    "template": (writes("chat_template.jinja", b"\xff\xfe"), "chat_template.jinja is not UTF-8 text (byte 0)"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_the_file_at_fault_is_named(tmp_path: Path, kind: str) -> None:
    change, said = BROKEN[kind]
    folder = byte_level(tmp_path / "model", "{{ messages }}")
    change(folder)
    with pytest.raises(SettingsError) as told:
        load(str(folder), None)
    message = str(told.value)
    assert message.startswith(f"The tokenizer {str(folder)!r} cannot be loaded: ")
    assert said in message
    assert "\n" not in message
    assert len(message) < 600


def test_an_unknown_name_says_what_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(SettingsError, match=r"'nobody/nothing' is no folder here .*Set `tokenizer` to a folder") as told:
        load("nobody/nothing", None)
    assert "\n" not in str(told.value)
