"""An engine in a process of its own that speaks vLLM's surface and plays a script: `python -m tests.support.engine PORT SCRIPT`.

What it does next can be changed while it runs (`POST /script` with some of the keys of Script), and it counts what became of what
it was asked (`GET /told`). It imports little, so that it starts at once.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from aiohttp import web

NEVER = 3600.0


@dataclass(frozen=True)
class Script:
    """What is played. Times are seconds."""

    model: str = "served"
    root: str = ""
    max_model_len: int = 4096
    version: str = "0.32.0"
    pieces: tuple[str, ...] = ("Hello", " there")
    times: int = 1
    """How often the pieces are played, one after another."""
    accept_delay: float = 0.0
    """Before the headers."""
    first_delay: float = 0.0
    """Before the first piece, after the headers."""
    delay: float = 0.0
    """Between two pieces, and before an end that is not stop."""
    status: int = 200
    """Of answers to generations."""
    retry_after: str = ""
    ends: str = "stop"
    """How an answer ends: stop; early (the connection breaks), unfinished (as if it were over), error (an event), silence (for
    ever)."""
    ends_after: int = 0
    """For all ends but stop: after so many pieces."""
    health: int = 200
    """Status of /health; 0 = it never answers."""
    constraints: str = "kept"
    """What becomes of constraints: kept, unnamed (what compiles them is not named), ignored, no_tags."""


@dataclass
class Told:
    """What became of generations that were asked for, constrained probes aside."""

    asked: int = 0
    finished: int = 0
    left: int = 0
    """The client hung up before the end."""
    running: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """The latest ones."""


class ScriptedEngine:
    """The server, to be run in a process of its own or inside a test's loop."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.told = Told()
        self.app = web.Application(client_max_size=64 * 1024 * 1024)
        self.app.add_routes(
            [
                web.get("/health", self._health),
                web.get("/version", self._version),
                web.get("/v1/models", self._models),
                web.get("/told", self._tell),
                web.post("/script", self._change),
                web.post("/tokenize", self._tokenize),
                web.post("/v1/completions", self._complete),
            ]
        )

    async def start(self, port: int = 0) -> tuple[web.AppRunner, str]:
        """Listen; the address."""
        runner = web.AppRunner(self.app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port, backlog=2048, reuse_address=True).start()
        return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"

    async def _health(self, _: web.Request) -> web.Response:
        if self.script.health == 0:
            await asyncio.sleep(NEVER)
        return web.Response(status=self.script.health)

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": self.script.version})

    async def _models(self, _: web.Request) -> web.Response:
        model = {"id": self.script.model, "root": self.script.root, "max_model_len": self.script.max_model_len}
        return web.json_response({"data": [model]})

    async def _tokenize(self, request: web.Request) -> web.Response:
        return web.json_response({"count": len((await request.json())["prompt"])})

    async def _tell(self, _: web.Request) -> web.Response:
        return web.json_response(asdict(self.told))

    async def _change(self, request: web.Request) -> web.Response:
        self.script = _script({**asdict(self.script), **await request.json()})
        return web.Response()

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if "structured_outputs" in body and not body.get("stream"):
            return self._constrained(body)
        script, told = self.script, self.told
        told.asked += 1
        told.running += 1
        told.bodies = [*told.bodies[-49:], {**body, "prompt": len(body["prompt"])}]
        try:
            answer = await self._play(request, script, streams=bool(body.get("stream")))
            told.finished += 1
            return answer
        except (asyncio.CancelledError, ConnectionError):
            told.left += 1
            raise
        finally:
            told.running -= 1

    def _constrained(self, body: Mapping[str, Any]) -> web.Response:
        tag = "structural_tag" in body["structured_outputs"]
        match self.script.constraints:
            case "no_tags" if tag:
                return web.json_response({"error": {"message": "Internal server error"}}, status=500)
            case "kept" if not tag:
                return web.json_response({"error": {"message": "Unsupported schema"}}, status=400)
        text = "some words" if self.script.constraints == "ignored" else "ok"
        return web.json_response({"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]})

    async def _play(self, request: web.Request, script: Script, *, streams: bool) -> web.StreamResponse:
        await asyncio.sleep(script.accept_delay)
        if script.status != 200:
            headers = {"retry-after": script.retry_after} if script.retry_after else {}
            return web.json_response({"error": {"message": "as scripted"}}, status=script.status, headers=headers)
        if not streams:
            return await self._play_whole(request, script)
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await answer.prepare(request)
        await asyncio.sleep(script.first_delay)
        ended = script.ends != "stop"
        pieces = script.pieces * script.times
        for place, piece in enumerate(pieces[: script.ends_after] if ended else pieces):
            if place and script.delay:
                await asyncio.sleep(script.delay)
            last = not ended and place == len(pieces) - 1
            await answer.write(_chunk({"choices": [{"index": 0, "text": piece, "finish_reason": "stop" if last else None}]}))
        if ended:
            await asyncio.sleep(script.delay)
        await self._end(request, answer, script)
        return answer

    async def _play_whole(self, request: web.Request, script: Script) -> web.StreamResponse:
        """An answer in one piece, of which the second half comes after all delays."""
        text, usage = "".join(script.pieces * script.times), {"prompt_tokens": 5, "completion_tokens": len(script.pieces)}
        choice = {"index": 0, "text": text, "finish_reason": "stop"}
        told = json.dumps({"model": script.model, "choices": [choice], "usage": usage}).encode()
        answer = web.StreamResponse(headers={"content-type": "application/json"})
        await answer.prepare(request)
        await answer.write(told[: len(told) // 2])
        await asyncio.sleep(script.delay * len(script.pieces))
        if script.ends == "early":
            await self._end(request, answer, script)
        else:
            await answer.write(told[len(told) // 2 :])
        return answer

    async def _end(self, request: web.Request, answer: web.StreamResponse, script: Script) -> None:
        match script.ends:
            case "early":
                assert request.transport is not None
                request.transport.abort()
                return
            case "silence":
                await asyncio.sleep(NEVER)
            case "error":
                await answer.write(_chunk({"error": {"message": "as scripted", "code": 500}}))
            case "stop":
                usage = {"prompt_tokens": 5, "completion_tokens": len(script.pieces)}
                await answer.write(_chunk({"choices": [], "usage": usage}))
        await answer.write(b"data: [DONE]\n\n")


def _script(told: Mapping[str, Any]) -> Script:
    return Script(**{**told, "pieces": tuple(told["pieces"])})


def _chunk(told: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(told)}\n\n".encode()


@asynccontextmanager
async def playing(**script: Any) -> AsyncIterator[tuple[ScriptedEngine, str]]:
    """An engine inside the running loop, and its address."""
    engine = ScriptedEngine(Script(**script))
    runner, url = await engine.start()
    try:
        yield engine, url
    finally:
        await runner.cleanup()


async def _serve(port: int, script: Script) -> None:
    await ScriptedEngine(script).start(port)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), _script(json.loads(sys.argv[2]))))
