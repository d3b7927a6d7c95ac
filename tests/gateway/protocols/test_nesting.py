import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.protocols.nesting import deeper_than

TEXT = st.text(st.sampled_from('[]{}"\\a'), max_size=4)
CONTAINERS = st.recursive(
    st.lists(TEXT, max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=20,
)


def depth(value: Any) -> int:
    if not isinstance(value, (dict, list)):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@given(CONTAINERS)
def test_it_is_as_deep_as_its_values_are(value: Any) -> None:
    text, deep = json.dumps(value).encode(), depth(value)
    assert not deeper_than(deep, value, text)
    assert deeper_than(deep - 1, value, text)
