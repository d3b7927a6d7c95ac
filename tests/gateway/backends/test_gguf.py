"""Reading a model file's head: the real one, and files that are damaged on purpose."""

import struct

import pytest

from gateway.backends import gguf
from gateway.backends.models import default_model
from gateway.errors import SettingsError
from tests.support.gguf_file import entry, head, strings, text


def test_the_default_model():
    model = gguf.read(default_model())
    assert model.name == "Smollm2 135M 8k Lc100K Mix1 Ep2"
    assert (model.context, model.bos, model.bos_id, model.eos) == (8192, "<|im_start|>", 1, "<|im_end|>")
    assert model.ends == {"<|im_end|>", "<|endoftext|>"}
    assert model.control["<|im_end|>"] == 2
    assert model.chat_template is not None
    assert model.chat_template.startswith("{% for message in messages %}")


def test_a_file_made_by_hand(tmp_path):
    kinds = struct.pack("<IQ3i", 5, 3, 1, 3, 4)
    path = tmp_path / "small.gguf"
    path.write_bytes(head(
        entry("general.architecture", 8, text("toy")), entry("toy.context_length", 4, struct.pack("<I", 64)),
        entry("toy.flag", 7, b"\1"), entry("toy.scale", 6, struct.pack("<f", 0.5)),
        entry("tokenizer.ggml.tokens", 9, strings("a", "<end>", "<tool_call>")), entry("tokenizer.ggml.token_type", 9, kinds),
        entry("tokenizer.ggml.eot_token_id", 4, struct.pack("<I", 1)),
        entry("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 99)),
    ))  # fmt: skip
    model = gguf.read(path)
    assert (model.name, model.context, model.chat_template, model.bos, model.eos) == (None, 64, None, None, None)
    assert (model.ends, model.tokens) == ({"<end>"}, 3)
    assert model.control == {"<end>": 1}


DAMAGED = {
    "another kind of file": b"PK\3\4" + b"\0" * 100,
    "empty": b"",
    "cut short": head(entry("general.name", 8, text("x")))[:-1],
    "version 1": head(version=1),
    "endless string": head(text("k") + struct.pack("<IQ", 8, 2**60)),
    "endless array": head(entry("k", 9, struct.pack("<IQ", 0, 2**50))),
    "nested arrays": head(entry("k", 9, struct.pack("<IQ", 9, 1))),
    "unknown kind": head(entry("k", 77, b"")),
    "many keys": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**40),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_and_named(tmp_path, name):
    path = tmp_path / "model.gguf"
    path.write_bytes(DAMAGED[name])
    with pytest.raises(SettingsError, match=r"model\.gguf: not a GGUF model file"):
        gguf.read(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        gguf.read(tmp_path / "none.gguf")
