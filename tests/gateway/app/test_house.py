"""Entries become served models; what is wrong with one is told at the start, an engine that is late is waited for."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import House
from gateway.app.assembly import check_entry
from gateway.errors import SettingsError
from gateway.settings import Settings
from tests.support.planned import hermes_call
from tests.support.server import CLIENT, Gateway, replay_model, serving, wait_for
from tests.support.tokenizers import byte_level

PLAIN = "{% for message in messages %}{{ message.content }}\n{% endfor %}"


class Engine(ThreadingHTTPServer):
    """A server that speaks as much of vLLM as one answer needs. `asked` are the bodies it was sent."""

    def __init__(self, port: int, root: Path) -> None:
        super().__init__(("127.0.0.1", port), EngineHandler)
        self.root = str(root)
        self.asked: list[dict[str, Any]] = []


class EngineHandler(BaseHTTPRequestHandler):
    server: Engine

    def do_GET(self) -> None:
        model = {"id": "engine-name", "root": self.server.root, "max_model_len": 2000}
        answers = {"/v1/models": {"data": [model]}, "/version": {"version": "9.9"}, "/health": {}}
        self._send(json.dumps(answers[self.path]).encode(), "application/json")

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        choice = {"index": 0, "text": hermes_call(), "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 7}
        frames = [{"choices": [choice]}, {"choices": [], "usage": usage}]
        self._send(
            "".join(f"data: {json.dumps(frame)}\n\n" for frame in frames).encode() + b"data: [DONE]\n\n", "text/event-stream"
        )

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def engine(port: int, root: Path) -> Iterator[Engine]:
    server = Engine(port, root)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def entered(model: dict[str, Any]) -> House:
    """A house that was open with this one model."""

    async def enter() -> House:
        async with House(Settings.model_validate({"models": [model]})) as house:
            return house

    return asyncio.run(enter())


def ready(gateway: Gateway) -> httpx.Response:
    return CLIENT.get(f"{gateway.url}/ready")


TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}]
CALL = {"model": "mine", "messages": [{"role": "user", "content": "hi"}], "tools": TOOLS}


def test_an_engine_that_is_late_is_waited_for(tmp_path: Path) -> None:
    port = free_port()
    model = {"name": "mine", "backend": "vllm", "urls": [f"http://127.0.0.1:{port}"], "chat_template": "toolwire/hermes"}
    with serving({"models": [{**model, "pool": {"examine": False}}]}) as gateway:
        refused = ready(gateway)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "backend_unavailable"
        assert str(port) in refused.json()["models"]["mine"]
        early = gateway.post(CALL)
        assert (early.status_code, early.json()["error"]["code"]) == (503, "backend_unavailable")
        assert early.headers["x-should-retry"] == "true"
        assert CLIENT.get(f"{gateway.url}/health").status_code == 200
        with engine(port, byte_level(tmp_path / "tokenizer")) as late:
            assert wait_for(lambda: ready(gateway).status_code == 200)
            answer = gateway.post(CALL)
            assert answer.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "get_weather"
            assert answer.json()["usage"]["prompt_tokens"] == 5
            (asked,) = late.asked
        gone = ready(gateway)
        assert (gone.status_code, gone.json()["models"]) == (503, {"mine": "its engine does not answer"})
    assert asked["model"] == "engine-name"
    assert asked["max_tokens"] == 2000 - len(asked["prompt"]), "the context that is left, and token ids as the prompt"


def test_the_format_is_found_from_the_template(tmp_path: Path) -> None:
    turns = [{"match": None, "text": "x"}]
    house = entered({**replay_model(tmp_path, turns), "parser": "auto", "chat_template": "toolwire/llama4_pythonic"})
    assert [one.spec.format.name for one in house.assembled] == ["llama4_pythonic"]


def test_a_replay_takes_the_template_of_its_format(tmp_path: Path) -> None:
    (one,) = entered(replay_model(tmp_path, [{"match": None, "text": "x"}], parser="qwen3_coder")).assembled
    assert (one.template, one.spec.format.name, one.engine) == ("toolwire/qwen3_coder", "qwen3_coder", "replay")


def test_a_replay_is_served_where_there_is_no_template_of_its_format(tmp_path: Path) -> None:
    entry = replay_model(tmp_path, [{"match": None, "text": "x"}], parser="jamba")
    (one,) = entered(entry).assembled
    assert (one.template, one.spec.format.name, one.spec.template_check) == ("toolwire/hermes", "jamba", None)
    with pytest.raises(SettingsError, match="there is none of ours for jamba"):
        asyncio.run(check_entry(Settings.model_validate({"models": [entry]}).models[0]))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"parser": "auto"}, "models: scripted: set parser: nothing else tells"),
        ({"parser": "hermse"}, "did you mean hermes?"),
        ({"chat_template": "toolwire/none"}, "'toolwire/none' is not one of: toolwire/"),
        ({"chat_template": "/no/such/file.jinja"}, "cannot be read"),
        (
            {"parser": "auto", "chat_template": "PLAIN"},
            "no tool-call format fits its chat template; set parser to one of ",
        ),
        ({"tokenizer": "/no/such/folder"}, "models: scripted: There is no tokenizer folder '/no/such/folder'"),
    ],
)
def test_a_wrong_entry_is_refused_at_the_start(tmp_path: Path, entry: dict[str, str], told: str) -> None:
    (tmp_path / "plain.jinja").write_text(PLAIN, encoding="utf-8")
    entry = {key: str(tmp_path / "plain.jinja") if value == "PLAIN" else value for key, value in entry.items()}
    with pytest.raises(SettingsError) as refused:
        entered({**replay_model(tmp_path, [{"match": None, "text": "x"}]), **entry})
    assert told in str(refused.value)


def test_a_turns_file_with_a_mistake_is_refused_with_its_line(tmp_path: Path) -> None:
    model = replay_model(tmp_path, [{"match": None, "text": "x"}, {"match": "("}])
    with pytest.raises(SettingsError, match=r"scripted\.jsonl:2: "):
        entered(model)
