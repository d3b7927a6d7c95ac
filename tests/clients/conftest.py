"""The gateway that all clients are tried on, and the file their results are kept in."""

from collections.abc import Iterator

import pytest

from tests.clients.running import Line, Stage, keep_results
from tests.clients.turns import scripted_gateway


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("clients")
    with scripted_gateway(folder) as (gateway, engine):
        yield Stage(gateway.url, engine.url, folder)


@pytest.fixture(scope="session")
def results() -> Iterator[list[Line]]:
    """Takes the lines of all clients that are run."""
    lines: list[Line] = []
    yield lines
    keep_results(lines)
