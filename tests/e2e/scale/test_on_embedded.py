"""Models of noise on the embedded engine are held to the letter. `python -m tests.e2e.scale embedded` asks thousands of times."""

from collections.abc import Iterator

import pytest

from tests.e2e.scale import laws, on_embedded
from tests.e2e.scale.sending import Target

FAMILIES = ("hermes", "harmony", "mistral", "glm45", "llama4_pythonic", "deepseek_v32")
"""One of each kind: JSON in tags, messages, control tokens, tags around each argument, Python, tags with typed arguments."""
MOST_UNFINISHED = 0.2
"""Share that may be cut by the token limit, or end without a call where none is demanded."""
ANY_SCHEMA = 12


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    pytest.importorskip("xllamacpp")
    with on_embedded.target(FAMILIES, tmp_path_factory.mktemp("engine")) as found:
        yield found


def test_every_demand_is_kept(target: Target) -> None:
    laws.every_demand_is_kept(target, FAMILIES, rounds=1, most_unfinished=MOST_UNFINISHED)


def test_any_schema_is_held_or_refused_with_a_reason(target: Target) -> None:
    laws.any_schema_is_held_or_refused_with_a_reason(target, FAMILIES, schemas=ANY_SCHEMA)
