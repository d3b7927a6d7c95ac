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
