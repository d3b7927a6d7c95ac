"""The longest of many texts is found, wherever it stands."""

import re

from hypothesis import given
from hypothesis import strategies as st

from gateway.rendering.patterns import any_of

texts = st.lists(st.text(alphabet="<|ab.", min_size=1, max_size=4), max_size=12)


@given(texts=texts, read=st.text(alphabet="<|ab.", max_size=30))
def test_a_tree_finds_what_trying_them_one_by_one_does(texts: list[str], read: str) -> None:
    one_by_one = "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True)) or r"(?!)"
    assert re.findall(any_of(texts), read) == re.findall(one_by_one, read)
