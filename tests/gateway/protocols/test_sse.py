"""The shared stream loop: keep-alive, and work that ends with its client."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.app import House
from gateway.protocols.body import ClientGone
from gateway.protocols.chat_completions.routes import ChatCompletions
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


def test_the_result_of_the_work_is_returned() -> None:
    async def scenario() -> None:
        async def work() -> int:
            await asyncio.sleep(0)
            return 7

        assert await while_connected(Connection().receive, work()) == 7

    asyncio.run(scenario())


def test_the_failure_of_the_work_is_raised() -> None:
    async def scenario() -> None:
        async def work() -> None:
            raise KeyError("x")

        with pytest.raises(KeyError):
            await while_connected(Connection().receive, work())

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

        task = asyncio.create_task(while_connected(connection.receive, work()))
        await asyncio.sleep(0.01)
        if who == "client":
            connection.gone.set()
        else:
            task.cancel()
        with pytest.raises(ClientGone if who == "client" else asyncio.CancelledError):
            await task
        assert unwound == ["done"]

    asyncio.run(scenario())


def test_an_idle_stream_is_kept_alive(tmp_path: Path) -> None:
    turns = [{"match": None, "pieces": ["a", "b"], "delay_ms": 300}]
    settings = Settings.model_validate({"models": [replay_model(tmp_path, turns)]})
    body = b'{"model": "scripted", "stream": true, "messages": [{"role": "user", "content": "x"}]}'

    async def scenario() -> list[bytes]:
        connection = Connection(body)
        async with House(settings) as house:
            endpoint = ChatCompletions(house.pipeline, settings.limits, keep_alive=0.05)
            scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": []}
            await endpoint(scope, connection.receive, connection.send)
        return [message["body"] for message in connection.sent[1:]]

    frames = asyncio.run(scenario())
    assert frames.count(KEEP_ALIVE) >= 4
    assert b'"a"' in b"".join(frames)
    assert frames[-1] == b"data: [DONE]\n\n"
