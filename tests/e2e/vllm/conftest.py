"""The engines and the gateways in front of them, one of each kind for the whole run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.vllm import install, servers
from tests.e2e.vllm.families import FAMILIES, entry, thoughtless


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("vllm")
            item.add_marker(pytest.mark.timeout(900))  # the first one waits for an engine to start


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="session")
def random_engine(logs: Path) -> Iterator[str]:
    """The address of vLLM with the model of noise."""
    with servers.vllm_serving("random", logs) as url:
        yield url


@pytest.fixture(scope="session")
def copycat_engine(logs: Path) -> Iterator[str]:
    """The address of vLLM with the model that says what its prompt holds."""
    with servers.vllm_serving("copycat", logs) as url:
        yield url


@pytest.fixture(scope="session")
def random_gateway(random_engine: str, logs: Path) -> Iterator[str]:
    """The gateway's `/v1` address; it serves `random-<family>` for each family."""
    models = [thoughtless(entry("random", random_engine, family), logs) for family in FAMILIES]
    with servers.gateway_serving(models, logs) as url:
        yield f"{url}/v1"


@pytest.fixture(scope="session")
def copycat_gateway(copycat_engine: str, logs: Path) -> Iterator[str]:
    """The gateway's `/v1` address; it serves `copycat-<family>`, and `copycat` with the template of the tokenizer's own model."""
    own = {"name": "copycat", "backend": "vllm", "urls": [copycat_engine], "tokenizer": str(install.model_folder("copycat"))}
    with servers.gateway_serving([own, *(entry("copycat", copycat_engine, family) for family in FAMILIES)], logs) as url:
        yield f"{url}/v1"
