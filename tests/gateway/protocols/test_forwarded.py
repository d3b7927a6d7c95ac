"""Requests that go on as they came: under the gateway's names, within its limits, on its accounts, while somebody waits."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from tests.support.server import CLIENT, PATIENCE, Gateway, replay_model, serving, wait_for
from tests.support.tokenizers import byte_level

NAME = "served/é"


class Engine(ThreadingHTTPServer):
    """As much of vLLM as is asked here. `asked` are the bodies it was sent, `left` tells that a client went away."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = str(root)
        self.asked: list[dict[str, Any]] = []
        self.left = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Engine

    def do_GET(self) -> None:
        model = {"id": NAME, "root": self.server.root, "max_model_len": 2000}
        self._json({"/v1/models": {"data": [model]}, "/version": {"version": "9.9"}, "/health": {}}[self.path])

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        usage = {"prompt_tokens": 3, "total_tokens": 5, "completion_tokens": 2}
        if self.path == "/v1/embeddings":
            vector = {"object": "embedding", "index": 0, "embedding": [0.5, -1.0]}
            self._json({"object": "list", "data": [vector], "model": NAME, "usage": {"prompt_tokens": 4, "total_tokens": 4}})
        elif body["prompt"] == "refuse":
            self._json({"error": {"message": "no such thing", "type": "BadRequestError", "code": 400}}, 400)
        elif not body.get("stream"):
            choice = {"index": 0, "text": ' "model":"x"', "logprobs": None, "finish_reason": "stop"}
            self._json({"id": "cmpl-1", "object": "text_completion", "model": NAME, "choices": [choice], "usage": usage})
        else:
            self._stream(body, usage)

    def _stream(self, body: dict[str, Any], usage: dict[str, int]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        words = ["word"] * 10_000 if body["prompt"] == "slow" else ["Hel", "lo"]
        try:
            for text in words:
                self._event({"choices": [{"index": 0, "text": text, "finish_reason": None}], "usage": None})
                if len(words) > 2:
                    self.server.left.wait(0.02)
            if body["prompt"] == "break":
                return
            if body["prompt"] == "fail":
                self._event({"error": {"message": "out of memory", "type": "server_error", "param": None, "code": None}})
            self._event({"choices": [], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            self.server.left.set()

    def _event(self, fields: dict[str, Any]) -> None:
        named = fields if "error" in fields else {"id": "cmpl-1", "model": NAME, **fields}
        self.wfile.write(b"data: " + json.dumps(named, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n")

    def _json(self, answer: Any, status: int = 200) -> None:
        body = json.dumps(answer, separators=(",", ":"), ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    server = Engine(byte_level(tmp_path_factory.mktemp("tokenizer")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def gateway(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    mine = {
        "name": "mine",
        "aliases": ["other"],
        "backend": "vllm",
        "urls": [engine.url],
        "chat_template": "toolwire/hermes",
        "parser": "hermes",
        "max_tokens": 100,
    }
    replay = replay_model(tmp_path_factory.mktemp("turns"), [{"match": None, "text": "x"}])
    with serving({"models": [mine, replay], "limits": {"choices": 4}}) as running:
        yield running


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=gateway.base_url, api_key="x", max_retries=0) as made:
        yield made


def post(gateway: Gateway, path: str = "/v1/completions", **body: Any) -> httpx.Response:
    return CLIENT.post(gateway.url + path, json={"model": "mine", "prompt": "hi", **body})


def test_a_whole_completion(client: openai.OpenAI, engine: Engine) -> None:
    answer = client.completions.create(model="other", prompt="hi", max_tokens=5000, logprobs=2, extra_body={"top_k": 3})
    assert (answer.model, answer.choices[0].text) == ("other", ' "model":"x"')
    assert engine.asked[-1] == {"model": NAME, "prompt": "hi", "max_tokens": 100, "logprobs": 2, "top_k": 3}


@pytest.mark.parametrize("prompt", [["a", "b"], [1, 2], [[1], [2]]])
def test_prompts_of_any_shape_are_the_engines_business(gateway: Gateway, engine: Engine, prompt: Any) -> None:
    assert post(gateway, prompt=prompt, max_tokens=7).status_code == 200
    assert (engine.asked[-1]["prompt"], engine.asked[-1]["max_tokens"]) == (prompt, 7)


@pytest.mark.parametrize("told", [False, True])
def test_a_streamed_completion(client: openai.OpenAI, engine: Engine, told: bool) -> None:
    more: Any = {"stream_options": {"include_usage": True}} if told else {}
    chunks = list(client.completions.create(model="mine", prompt="hi", stream=True, **more))
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices) == "Hello"
    assert {chunk.model for chunk in chunks} == {"mine"}
    assert [chunk.usage and chunk.usage.completion_tokens for chunk in chunks] == [None, None, *([2] if told else [])]
    assert engine.asked[-1]["stream_options"] == {"include_usage": True}


def test_embeddings(client: openai.OpenAI, engine: Engine) -> None:
    answer = client.embeddings.create(model="other", input="hi", encoding_format="float")
    assert (answer.model, answer.data[0].embedding, answer.usage.prompt_tokens) == ("other", [0.5, -1.0], 4)
    assert engine.asked[-1] == {"model": NAME, "input": "hi", "encoding_format": "float"}


def test_tokens_are_accounted_for(gateway: Gateway) -> None:
    def spent(kind: str) -> float:
        text = CLIENT.get(f"{gateway.url}/metrics").text
        line = next((line for line in text.splitlines() if f'tokens_total{{kind="{kind}",model="mine"}}' in line), "0")
        return float(line.split()[-1])

    before = spent("prompt"), spent("completion")
    post(gateway)
    post(gateway, stream=True)
    post(gateway, "/v1/embeddings", input="x")
    assert (spent("prompt"), spent("completion")) == (before[0] + 3 + 3 + 4, before[1] + 2 + 2)


@pytest.mark.parametrize(
    ("path", "fields", "status", "param"),
    [
        ("/v1/completions", {"n": 5}, 400, "n"),
        ("/v1/completions", {"best_of": 5}, 400, "best_of"),
        ("/v1/completions", {"n": 0}, 400, "n"),
        ("/v1/completions", {"stream": "yes"}, 400, "stream"),
        ("/v1/completions", {"prompt": None}, 400, "prompt"),
        ("/v1/completions", {"model": "nope"}, 404, "model"),
        ("/v1/embeddings", {}, 400, "input"),
        ("/v1/embeddings", {"model": "scripted", "input": "x"}, 400, "model"),
        ("/v1/completions", {"prompt": "refuse"}, 400, None),
        ("/v1/completions", {"prompt": "refuse", "stream": True}, 400, None),
    ],
)
def test_what_cannot_be_served_is_told(gateway: Gateway, path: str, fields: Any, status: int, param: str | None) -> None:
    answer = post(gateway, path, **fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["param"]) == (status, "invalid_request_error", param)
    assert error["message"]


def test_a_model_without_embeddings_says_so(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match=r"no /v1/embeddings. Name a model on vLLM") as caught:
        client.embeddings.create(model="scripted", input="x")
    assert (caught.value.code, caught.value.param) == ("unsupported_value", "model")


@pytest.mark.parametrize("prompt", ["break", "fail"])
def test_a_failure_in_mid_stream_is_told(gateway: Gateway, prompt: str) -> None:
    frames = post(gateway, prompt=prompt, stream=True).text.split("\n\n")
    errors = [json.loads(frame.removeprefix("data: "))["error"] for frame in frames if '"error"' in frame]
    assert len(errors) == 1
    assert ("data: [DONE]" in frames) is (prompt == "fail")


@pytest.mark.parametrize("path", ["/completions", "/embeddings"])
def test_the_paths_without_v1_answer_too(gateway: Gateway, path: str) -> None:
    assert post(gateway, path, input="x").status_code == 200


def test_a_client_that_goes_away_stops_the_engine(gateway: Gateway, engine: Engine) -> None:
    body = json.dumps({"model": "mine", "prompt": "slow", "stream": True}).encode()
    head = f"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
    host, port = gateway.url.removeprefix("http://").split(":")
    engine.left.clear()
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + body)
        assert b"200 OK" in connection.recv(1000)
        assert wait_for(lambda: gateway.running() == 1)
        assert not engine.left.is_set()
    assert engine.left.wait(PATIENCE)
    assert gateway.wait_until_idle()
