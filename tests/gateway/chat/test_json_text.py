"""One text for one value, whatever is in it."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.chat.json_text import canonical

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(values)
def test_it_means_the_value(value: Any) -> None:
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_the_order_of_keys_is_kept(value: dict[str, int]) -> None:
    assert list(json.loads(canonical(value))) == list(value)
    assert canonical(value) == canonical(json.loads(json.dumps(value)))


def test_what_the_fast_encoder_does_not_take_is_written_too() -> None:
    assert canonical({"a": 10**30}) == '{"a":1000000000000000000000000000000}'
    assert json.loads(canonical(["\ud83d"])) == ["\ud83d"]
