"""Formats by name and by the names that others give them."""

import pytest

import parsers


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("hermes", "hermes"), ("qwen3_xml", "qwen3_coder"), ("qwen3_coder", "qwen3_coder"), ("mistral", "mistral"),
        ("llama3_json", "llama3_json"), ("llama4_json", "llama3_json"), ("llama4_pythonic", "llama4_pythonic"),
        ("pythonic", "llama4_pythonic"), ("deepseek_v3", "deepseek_v3"), ("deepseek_v31", "deepseek_v31"),
        ("deepseek_v32", "deepseek_v32"), ("Qwen3-XML", "qwen3_coder"), (" hermes ", "hermes"),
    ],
)  # fmt: skip
def test_aliases(alias: str, name: str) -> None:
    assert parsers.get(alias).name == name


def test_a_format_is_its_own_name() -> None:
    for name in parsers.names():
        fmt = parsers.get(name)
        assert fmt.name == name
        assert parsers.get(fmt) is fmt
        assert all(parsers.get(alias) is fmt for alias in fmt.aliases)


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(parsers.UnknownFormat, match=r"'hermess'; did you mean hermes\?"):
        parsers.get("hermess")


CALL = parsers.Message(content="Let me look.", tool_calls=(parsers.ToolCall("find", '{"text": "a b", "count": 3}'),))
SAID = parsers.Message(content="Hello.")


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "llama4_pythonic", "deepseek_v32", "harmony", "kimi_k3"])
def test_a_format_is_detected_from_what_is_written(name: str) -> None:
    fmt = parsers.get(name)
    assert name in parsers.detect(lambda message: parsers.write(fmt, message), (CALL, SAID))


def test_what_cannot_be_written_says_nothing() -> None:
    hermes = parsers.get("hermes")
    found = parsers.detect(lambda message: parsers.write(hermes, message) if message is CALL else None, (CALL, SAID))
    assert "hermes" in found
    assert "deepseek_v31" not in found
    assert parsers.detect(lambda message: None, (CALL,)) == []
