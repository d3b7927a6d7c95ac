"""A thousand streams at once, again and again: all end whole, and nothing is left behind."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.e2e.faults.clients import CHAT, body_for
from tests.e2e.faults.conftest import Site, entry
from tests.support.engines import engine_processes
from tests.support.process import gateway_process
from tests.support.server import wait_for

pytestmark = pytest.mark.faults
STREAMS = 1000
MEGABYTE = 1_000_000
CALL = ["<tool_call>\n", '{"name": "f", "arguments": {"text": "', *["word "] * 16, '"}}', "\n</tool_call>"]
TOOL = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("many")
    with engine_processes(2, pieces=tuple(CALL), delay=0.5) as engines:
        patient = entry(folder, engines, health={"interval": 2, "timeout": 30}, queue={"wait": 60})
        with gateway_process(folder, {"models": [patient]}) as gateway:
            yield Site(gateway, engines)


async def one(url: str, number: int, *, leaves: bool) -> str:
    """How one stream ends: whole, told (an error event), left (by us, in the middle), or as it should not."""
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    body = json.dumps({**body_for(CHAT, text=f"conversation {number}"), "tools": [TOOL]}).encode()
    headers = {"host": "x", "content-type": "application/json", "content-length": len(body), "connection": "close"}
    lines = [f"POST {CHAT} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    got = b""
    try:
        while block := await reader.read(65536):
            got += block
            if leaves and got.count(b"data:") > 5:
                return "left"
    finally:
        writer.close()
    if got.startswith(b"HTTP/1.1 200") and b'"error":' in got:
        return "told"
    called = b'"tool_calls"' in got and got.count(b"word ") == 16
    return "whole" if called and b"[DONE]" in got else got[:300].decode()


def a_round(site: Site, *, leaving: int = 0) -> Counter[str]:
    """A thousand streams; every so many of them are left in the middle."""

    async def all_of_them() -> list[str]:
        works = (one(site.gateway.url, number, leaves=bool(leaving) and number % leaving == 0) for number in range(STREAMS))
        return await asyncio.gather(*works)

    found = Counter(asyncio.run(all_of_them()))
    assert site.gateway.idle(60)
    return found


@pytest.mark.timeout(900)
def test_a_thousand_streams_and_nothing_left(site: Site) -> None:
    assert a_round(site) == {"whole": STREAMS}
    files, memory = site.gateway.files(), site.gateway.memory()
    for _ in range(3):
        assert a_round(site, leaving=5) == {"whole": STREAMS * 4 // 5, "left": STREAMS // 5}
        assert wait_for(lambda: site.running() == 0)
    assert site.gateway.files() <= files + 5
    assert site.gateway.memory() - memory < 40 * MEGABYTE, f"{(site.gateway.memory() - memory) / MEGABYTE:.0f} MB more"
    assert site.gateway.metric("process_open_fds") <= files + 5
    assert site.gateway.metric("toolwire_event_loop_tasks") < 40


@pytest.mark.timeout(900)
def test_a_replica_dies_under_a_thousand_streams(site: Site) -> None:
    """Each is whole or told; and the next thousand are all whole."""

    async def all_of_them() -> list[str]:
        works = [asyncio.create_task(one(site.gateway.url, number, leaves=False)) for number in range(STREAMS)]
        await asyncio.sleep(6)
        site.engines[0].kill()
        return await asyncio.gather(*works)

    found = Counter(asyncio.run(all_of_them()))
    assert found.keys() == {"whole", "told"}, found
    assert found["whole"] >= STREAMS / 4
    assert a_round(site) == {"whole": STREAMS}
