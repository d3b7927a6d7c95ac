"""The gateway that all clients are tried on, and the file their results are kept in."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.agent_runs import agent_turns
from tests.clients.running import PATIENCE, Line, Stage, keep_results
from tests.clients.turns import TURNS, scripted_gateway


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("clients")
            item.add_marker(pytest.mark.timeout(PATIENCE + 100))


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    # Codex does not work from /tmp alone, and a folder of the checkout would be taken for the project to work on.
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="clients-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with scripted_gateway(folder, sorted([*agent_turns(folder), *TURNS], key=lambda turn: "role" not in turn)) as (
            gateway,
            engine,
        ):
            yield Stage(gateway.url, engine.url, folder)


@pytest.fixture(scope="session")
def results() -> Iterator[list[Line]]:
    """Takes the lines of all clients that are run."""
    lines: list[Line] = []
    yield lines
    keep_results(lines)
