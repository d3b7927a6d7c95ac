"""A function may be called like a word that `constraint` knows; the word wins, and OpenAI's object still names the function."""

import pytest

import parsers

TOOLS = [parsers.Tool(name) for name in ("auto", "required", "none", "f")]
HERMES = parsers.get("hermes")


@pytest.mark.parametrize("word", ["auto", "required"])
def test_the_word_is_about_all_functions(word: str) -> None:
    assert '"f"' in str(parsers.constraint(HERMES, TOOLS, word)).replace("\\", "")


def test_none_holds_nothing() -> None:
    assert parsers.constraint(HERMES, TOOLS, "none") is None


@pytest.mark.parametrize("name", ["auto", "required", "none", "f"])
def test_the_object_names_a_function(name: str) -> None:
    named = parsers.constraint(HERMES, TOOLS, {"type": "function", "function": {"name": name}})
    assert named == parsers.constraint(HERMES, [parsers.Tool(name)], "required", parallel=False)
    if name == "f":
        assert named == parsers.constraint(HERMES, TOOLS, "f")
