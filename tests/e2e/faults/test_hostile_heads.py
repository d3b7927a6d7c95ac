"""Clients that never come to the point, in one way or another, and what is kept of them."""

import http.client
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from gateway.app.connections import http_with
from gateway.app.heads import FRAMING_BYTES, BoundedHeads
from tests.support.process import GatewayProcess, gateway_process
from tests.support.server import replay_model, wait_for

MEGABYTE = 1_000_000
FLOOD = 40
"""Megabytes that a client tries to send."""
POST = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    folder: Path = tmp_path_factory.mktemp("heads")
    with gateway_process(folder, {"models": [replay_model(folder, [{"match": None, "text": "Hello."}])]}) as running:
        yield running


def connected(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def answered(client: socket.socket) -> bytes:
    """What comes until the server closes."""
    got = b""
    try:
        while block := client.recv(65536):
            got += block
    except ConnectionError:
        pass
    return got


def flood(url: str, opening: bytes, filler: bytes) -> bytes:
    """Send without end; what was answered before the connection was closed."""
    with connected(url) as client:
        client.sendall(opening)
        try:
            for _ in range(FLOOD * MEGABYTE // len(filler)):
                client.sendall(filler)
        except ConnectionError:
            return answered(client)
        pytest.fail(f"{FLOOD} megabytes were taken")


@pytest.mark.parametrize(
    ("opening", "filler"),
    [
        (POST, b"".join(b"x-%d: y\r\n" % number for number in range(2000))),
        (POST + b"x-one: ", b"y" * 20_000),
        (b"GET /", b"a" * 20_000),
        (
            POST + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
            b"".join(b"x-%d: y\r\n" % number for number in range(2000)),
        ),
        (POST + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-one: ", b"y" * 20_000),
        (POST + b"transfer-encoding: chunked\r\n\r\n2;", b"y" * 20_000),
    ],
    ids=["many headers", "one header", "the address", "many trailers", "one trailer", "one chunk size"],
)
def test_lines_without_end_are_cut(gateway: GatewayProcess, opening: bytes, filler: bytes) -> None:
    before = gateway.memory()
    answer = flood(gateway.url, opening, filler)
    assert not answer or b" 431 " in answer or b" 400 " in answer
    assert gateway.memory() - before < 20 * MEGABYTE
    assert gateway.post({"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}).status_code == 200


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_an_ordinary_body_in_many_chunks_is_read(gateway: GatewayProcess, pieces: int) -> None:
    body = b'{"model": "scripted", "messages": [{"role": "user", "content": "' + b"hi " * 100_000 + b'"}]}'
    size = -(-len(body) // pieces)
    with connected(gateway.url) as client:
        client.sendall(POST + b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n")
        for at in range(0, len(body), size):
            part = body[at : at + size]
            client.sendall(b"%x\r\n%b\r\n" % (len(part), part))
        client.sendall(b"0\r\nx-trailer: nothing is made of it\r\n\r\n")
        assert answered(client).startswith(b"HTTP/1.1 200 ")


def test_many_requests_on_one_connection_do_not_add_up(gateway: GatewayProcess) -> None:
    connection = http.client.HTTPConnection(gateway.url.removeprefix("http://"), timeout=30)
    for _ in range(10):
        connection.request("GET", "/health", headers={"x-long": "y" * (FRAMING_BYTES // 3)})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b'{"status":"ok"}')
    connection.close()


@pytest.fixture
def hasty() -> Iterator[str]:
    """A server with the gateway's connections, but less patience."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    kind = type("Hasty", (http_with(60.0),), {"head_seconds": 0.3})
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="off", http=kind))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert wait_for(lambda: server.started)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(30)


@pytest.mark.parametrize("said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nx-a: b\r\n"])
def test_who_does_not_come_to_the_point_is_left(hasty: str, said: bytes) -> None:
    assert issubclass(http_with(60.0), BoundedHeads)
    with connected(hasty) as client:
        client.sendall(said)
        assert answered(client) == b""


def test_a_second_request_must_come_to_the_point_too(hasty: str) -> None:
    with connected(hasty) as client:
        client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 204 ")
        client.sendall(b"GET / HTTP/1.1\r\n")
        assert answered(client) == b""
