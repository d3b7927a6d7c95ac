"""The shared stream loop: keep-alive, and work that ends with its client."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.app import House
from gateway.middleware.asgi import App, Receive
from gateway.protocols.answer import Answer
from gateway.protocols.body import ClientGone
from gateway.protocols.chat_completions.routes import ChatCompletions
from gateway.protocols.completions.routes import Completions
from gateway.protocols.responses.records import Records
from gateway.protocols.responses.routes import Create, Services
from gateway.protocols.responses.runs import Runs
from gateway.protocols.sse import KEEP_ALIVE, while_connected
from gateway.settings import Settings
from tests.support.server import replay_model


class Connection:
    """One ASGI request whose client can go away."""

    def __init__(self, body: bytes = b"") -> None:
        self.gone = asyncio.Event()
        self.sent: list[dict[str, Any]] = []
        self._messages: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive(self) -> dict[str, Any]:
        if self._messages:
            return self._messages.pop()
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)


def connected(connection: Connection | None = None) -> tuple[Receive, Answer]:
    connection = connection or Connection()
    return connection.receive, Answer(connection.send)


def test_the_result_of_the_work_is_returned() -> None:
    async def scenario() -> None:
        async def work() -> int:
            await asyncio.sleep(0)
            return 7

        assert await while_connected(*connected(), work()) == 7

    asyncio.run(scenario())


def test_the_failure_of_the_work_is_raised() -> None:
    async def scenario() -> None:
        async def work() -> None:
            raise KeyError("x")

        with pytest.raises(KeyError):
            await while_connected(*connected(), work())

    asyncio.run(scenario())


@pytest.mark.parametrize("who", ["client", "server"])
def test_work_is_unwound_before_anything_else_goes_on(who: str) -> None:
    async def scenario() -> None:
        connection = Connection()
        unwound: list[str] = []

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.01)
                unwound.append("done")

        task = asyncio.create_task(while_connected(*connected(connection), work()))
        await asyncio.sleep(0.01)
        if who == "client":
            connection.gone.set()
        else:
            task.cancel()
        with pytest.raises(ClientGone if who == "client" else asyncio.CancelledError):
            await task
        assert unwound == ["done"]

    asyncio.run(scenario())


def test_what_is_left_to_do_after_the_answer_is_done() -> None:
    """Servers say that the client is gone once they have sent everything."""

    async def scenario() -> None:
        connection = Connection()
        receive, answer = connected(connection)

        async def work() -> str:
            await answer({"type": "http.response.start", "status": 200, "headers": []})
            await answer({"type": "http.response.body", "body": b"x"})
            connection.gone.set()
            await asyncio.sleep(0.05)
            return "accounted for"

        assert await while_connected(receive, answer, work()) == "accounted for"

    asyncio.run(scenario())


def chat(house: House) -> App:
    return ChatCompletions(house.pipeline, house.settings.limits, keep_alive=0.05)


def responses(house: House) -> App:
    records = Records(house.store)
    return Create(Services(house.pipeline, house.settings.limits, records, Runs(house.pipeline, records), keep_alive=0.05))


def completions(house: House) -> App:
    return Completions(house.pipeline, house.settings.limits, keep_alive=0.05)


@pytest.mark.parametrize(
    ("endpoint", "asked", "last"),
    [
        (chat, {"messages": [{"role": "user", "content": "x"}]}, b"data: [DONE]\n\n"),
        (responses, {"input": "x"}, b"event: response.completed\n"),
        (responses, {"input": "x", "background": True}, b""),
        (completions, {"prompt": "x"}, b""),
    ],
)
def test_an_idle_stream_is_kept_alive(tmp_path: Path, endpoint: Callable[[House], App], asked: Any, last: bytes) -> None:
    turns = [{"match": None, "pieces": ["a", "b"], "delay_ms": 300}]
    settings = Settings.model_validate({"models": [replay_model(tmp_path, turns)]})

    async def scenario() -> list[bytes]:
        connection = Connection(json.dumps({"model": "scripted", "stream": True, **asked}).encode())
        async with House(settings) as house:
            scope = {"type": "http", "method": "POST", "path": "/v1/x", "headers": []}
            await endpoint(house)(scope, connection.receive, connection.send)
        return [message["body"] for message in connection.sent[1:]]

    frames = asyncio.run(scenario())
    assert frames.count(KEEP_ALIVE) >= 3, "more than one for each gap"
    assert b'"a"' in b"".join(frames)
    assert frames[-1].startswith(last)
