"""What a format's expression matches is of that format to the check behind decoding."""

import random

import jsonschema_rs
import pytest

from parsers.grammars.formats import FORMATS
from parsers.grammars.regexes import UnreadableRegex, exact, whole, width
from tests.support.samples import sample


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_matched_is_of_the_format(name: str) -> None:
    validator = jsonschema_rs.validator_for({"type": "string", "format": name}, validate_formats=True)
    chance, node = random.Random(1), exact(FORMATS[name])
    for _ in range(300):
        text = sample(node, chance)
        assert validator.is_valid(text), text


@pytest.mark.parametrize(
    "pattern", ["^a{2,3}b?$", "x", r"^\d{3}-\w+$", "a|^b$", "^(ab|c)*d$", r"^[^,\s]+$", r"^v\d(\.\d){1,2}$", r"[\]\\]", r"\/é"]
)
def test_what_is_read_of_a_pattern_is_found_by_it(pattern: str) -> None:
    validator = jsonschema_rs.validator_for({"type": "string", "pattern": pattern})
    chance, node = random.Random(2), whole(pattern)
    least, most = width(node)
    for _ in range(100):
        text = sample(node, chance)
        assert validator.is_valid(text), text
        assert least <= len(text) <= (len(text) if most is None else most)


@pytest.mark.parametrize(
    "pattern", ["(?=a)b", r"(a)\1", r"\p{L}", "(?<n>a)", "[", "(a", "a)", "*a", r"\bword", "(^a)", "a{99999}"]
)
def test_what_no_grammar_can_say_is_refused_in_words(pattern: str) -> None:
    with pytest.raises(UnreadableRegex):
        whole(pattern)
