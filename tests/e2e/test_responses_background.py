"""Responses in the background of one gateway, watched and cancelled at another that shares its Redis, also once it has gone."""

import asyncio
import hashlib
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from gateway.protocols.responses.event_log import EventLog, Pace
from gateway.protocols.responses.records import Records
from gateway.protocols.responses.runs import Runs
from gateway.store import RedisStore
from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import SLOW_TURN, STARTING, Gateway, replay_model, serving, wait_for

pytestmark = pytest.mark.skipif(PROGRAM is None, reason=MISSING)
KEY = "mine"
OWNER = hashlib.sha256(KEY.encode()).hexdigest()[:32]
TURNS = [
    SLOW_TURN,
    {"match": "while", "pieces": [f"{number} " for number in range(40)], "delay_ms": 20},
    {"match": None, "text": "Hello!"},
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with redis_server() as address:
        yield address


@pytest.fixture(scope="module")
def entries(url: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    models = [replay_model(tmp_path_factory.mktemp("turns"), TURNS)]
    return {"store": {"kind": "redis", "url": url}, "models": models}


@pytest.fixture(scope="module")
def gateways(entries: dict[str, Any]) -> Iterator[tuple[Gateway, Gateway]]:
    with serving(entries) as one, serving(entries) as other:
        yield one, other


@pytest.fixture(scope="module")
def clients(gateways: tuple[Gateway, Gateway]) -> Iterator[tuple[openai.OpenAI, openai.OpenAI]]:
    one, other = (openai.OpenAI(base_url=gateway.base_url, api_key=KEY, max_retries=0) for gateway in gateways)
    with one, other:
        yield one, other


def test_what_one_gateway_runs_another_shows_as_it_comes(clients: tuple[openai.OpenAI, openai.OpenAI]) -> None:
    one, other = clients
    begun = one.responses.create(model="scripted", input="a while", background=True)
    with other.responses.retrieve(begun.id, stream=True) as watched:
        events = list(watched)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == "".join(f"{number} " for number in range(40))
    with one.responses.retrieve(begun.id, stream=True) as kept:
        assert [event.to_dict() for event in kept] == [event.to_dict() for event in events]
    with other.responses.retrieve(begun.id, stream=True, starting_after=20) as rest:
        assert [event.to_dict() for event in rest] == [event.to_dict() for event in events[21:]]
    assert other.responses.retrieve(begun.id).to_dict() == events[-1].response.to_dict()


def test_a_stream_that_runs_is_taken_up_elsewhere(clients: tuple[openai.OpenAI, openai.OpenAI]) -> None:
    one, other = clients
    with one.responses.create(model="scripted", input="a while", background=True, stream=True) as stream:
        seen = [event for event, _ in zip(stream, range(10), strict=False)]
    response_id = seen[0].response.id  # type: ignore[union-attr]
    with other.responses.retrieve(response_id, stream=True, starting_after=seen[-1].sequence_number) as rest:
        events = [*seen, *rest]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"


def test_another_gateway_cancels(clients: tuple[openai.OpenAI, openai.OpenAI], gateways: tuple[Gateway, Gateway]) -> None:
    one, other = clients
    begun = one.responses.create(model="scripted", input="slow", background=True)
    assert wait_for(lambda: other.responses.retrieve(begun.id).status == "in_progress")
    assert gateways[0].running() == 1
    other.responses.cancel(begun.id)  # tells it as it is, should the other gateway be slow to hear of it
    assert wait_for(lambda: other.responses.cancel(begun.id).status == "cancelled")
    assert gateways[0].wait_until_idle()
    assert one.responses.retrieve(begun.id).status == "cancelled"
    with other.responses.retrieve(begun.id, stream=True) as events:
        assert [event.type for event in events][-1] == "response.cancelled"


def test_deleting_a_response_ends_it(clients: tuple[openai.OpenAI, openai.OpenAI], gateways: tuple[Gateway, Gateway]) -> None:
    one, other = clients
    begun = one.responses.create(model="scripted", input="slow", background=True)
    other.responses.delete(begun.id)
    assert gateways[0].wait_until_idle()
    for client in clients:
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(begun.id)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(begun.id, stream=True)


def test_who_watches_a_response_that_is_deleted_hears_of_it(
    clients: tuple[openai.OpenAI, openai.OpenAI], gateways: tuple[Gateway, Gateway]
) -> None:
    one, other = clients
    begun = one.responses.create(model="scripted", input="slow", background=True)
    with other.responses.retrieve(begun.id, stream=True) as events:
        kinds = []
        for event in events:
            kinds.append(event.type)
            if len(kinds) == 10:
                one.responses.delete(begun.id)
    assert kinds[-1] == "response.cancelled"
    assert gateways[0].wait_until_idle()
    with pytest.raises(openai.NotFoundError):
        other.responses.retrieve(begun.id)


def test_nobody_else_sees_or_cancels_it(gateways: tuple[Gateway, Gateway], clients: tuple[openai.OpenAI, openai.OpenAI]) -> None:
    begun = clients[0].responses.create(model="scripted", input="a while", background=True)
    with openai.OpenAI(base_url=gateways[1].base_url, api_key="theirs", max_retries=0) as stranger:
        for ask in (stranger.responses.retrieve, stranger.responses.cancel, stranger.responses.delete):
            with pytest.raises(openai.NotFoundError):
                ask(begun.id)
        with pytest.raises(openai.NotFoundError):
            stranger.responses.retrieve(begun.id, stream=True)
    assert wait_for(lambda: clients[1].responses.retrieve(begun.id).status == "completed")


def test_what_was_not_in_the_background_has_no_stream(clients: tuple[openai.OpenAI, openai.OpenAI]) -> None:
    answer = clients[0].responses.create(model="scripted", input="hi")
    with pytest.raises(openai.BadRequestError, match="ran in the background"):
        clients[1].responses.retrieve(answer.id, stream=True)


def test_a_response_whose_gateway_died_has_failed(
    entries: dict[str, Any],
    url: str,
    tmp_path: Path,
    gateways: tuple[Gateway, Gateway],
    clients: tuple[openai.OpenAI, openai.OpenAI],
) -> None:
    response_id = begun_and_abandoned(entries, tmp_path, clients[1])
    pace = Pace(gather=0.05, silence=2.0)
    pipeline = gateways[0].app.house.pipeline

    async def watch() -> tuple[list[dict[str, Any]], Any, Any]:
        store = RedisStore(url, ttl=100.0)
        records = Records(store)
        runs = Runs(pipeline, records, pace)
        running = await records.one(OWNER, response_id)
        frames = await runs.follow(OWNER, running, -1)
        assert frames is not None
        events = [event async for event in parsed(frames)]
        now = await runs.now(OWNER, running)
        kept = await records.one(OWNER, response_id)
        cancelled = await runs.cancel(OWNER, kept)
        assert not await EventLog(store, OWNER, response_id, pace).cancel_asked()
        await store.close()
        return events, now, (kept.response, cancelled)

    events, now, rest = asyncio.run(watch())
    assert events[0]["type"] == "response.created"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert (events[-1]["type"], events[-1]["response"]["status"]) == ("response.failed", "failed")
    assert "gone away" in events[-1]["response"]["error"]["message"]
    assert (now["status"], now["error"]["code"]) == ("failed", "server_error")
    assert rest == (now, now)


async def parsed(frames: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    async for block in frames:
        for frame in block.decode().split("\n\n")[:-1]:
            yield json.loads(frame.partition("data: ")[2])


def begun_and_abandoned(entries: dict[str, Any], tmp_path: Path, elsewhere: openai.OpenAI) -> str:
    """A response in the background of a gateway that is killed while it runs, and another gateway watches."""
    config = tmp_path / "toolwire.yaml"
    config.write_text(json.dumps({**entries, "server": {"port": 0}}))
    command = [sys.executable, "-m", "gateway", "serve", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            address = serving_at(process)
            with openai.OpenAI(base_url=address, api_key=KEY, max_retries=0) as client:
                begun = client.responses.create(model="scripted", input="slow", background=True)
            with elsewhere.responses.retrieve(begun.id, stream=True) as events:
                assert any(event.type == "response.output_text.delta" for event in events)
            assert elsewhere.responses.retrieve(begun.id).status == "in_progress"
        finally:
            process.send_signal(signal.SIGKILL)
    return begun.id


def serving_at(process: "subprocess.Popen[str]") -> str:
    """The address that the gateway prints, once it serves."""
    assert process.stdout is not None
    watchdog = threading.Timer(STARTING, process.kill)
    watchdog.start()
    try:
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+/v1", line):
                return found[0]
    finally:
        watchdog.cancel()
    raise AssertionError("the gateway did not start")
