"""Answers of engines arrive whole, however they are cut, framed and ended, over connections that are used again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from gateway.backends.http_connection import MOST_WAITING, Dropped, HttpConnection, NotHttp, Silence
from gateway.backends.http_pool import HttpPool, TooLate, Unreachable

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNKED = HEAD + b"5\r\nHello\r\n7\r\n, world\r\n0\r\n\r\n"
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def engine(answer: Answer, *, silence: float = 30, prefix: str = "") -> AsyncIterator[HttpPool]:
    """A pool of connections to a server that answers each request like this."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await answer(reader, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pool = HttpPool(f"http://127.0.0.1:{port}{prefix}", {"x-ours": "yes"}, connect=30, silence=silence)
    try:
        yield pool
    finally:
        pool.close()
        server.close()


async def asked(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    return head, await reader.readexactly(length)


def saying(*parts: bytes, pause: float = 0.0, then: Callable[[asyncio.StreamWriter], None] | None = None) -> Answer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        if then is not None:
            then(writer)
            raise ConnectionError

    return answer


async def whole(connection: HttpConnection) -> bytes:
    got = []
    while block := await connection.read():
        got.append(block)
    return b"".join(got)


async def one(pool: HttpPool) -> bytes:
    connection = await pool.post("/v1/x", b"{}", {})
    try:
        return await whole(connection)
    finally:
        pool.give_back(connection)


def test_an_answer_cut_anywhere_is_the_same() -> None:
    async def main() -> None:
        for at in range(1, len(CHUNKED)):
            async with engine(saying(CHUNKED[:at], CHUNKED[at:], pause=0.001)) as pool:
                assert await one(pool) == b"Hello, world"

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nHello, world",
        b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED,
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + CHUNKED,
    ],
)
def test_framings(answer: bytes) -> None:
    async def main() -> None:
        async with engine(saying(answer)) as pool:
            assert [await one(pool), await one(pool)] == [b"Hello, world"] * 2

    asyncio.run(main())


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_body_without_a_length_ends_with_its_connection(version: bytes) -> None:
    async def main() -> None:
        ends = saying(
            b"HTTP/" + version + b" 200 OK\r\nconnection: close\r\n\r\nHello, world", then=lambda writer: writer.close()
        )
        async with engine(ends) as pool:
            assert [await one(pool), await one(pool)] == [b"Hello, world"] * 2

    asyncio.run(main())


def test_the_request_has_everything() -> None:
    seen: list[tuple[bytes, bytes]] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await asked(reader))
        writer.write(CHUNKED)

    async def main() -> None:
        async with engine(answer, prefix="/engines/one") as pool:
            connection = await pool.post("/v1/x", b'{"a": 1}', {"traceparent": "00-1"})
            assert connection.status == 200
            assert connection.headers["content-type"] == "text/event-stream"
            pool.give_back(connection)

    asyncio.run(main())
    [(head, body)] = seen
    assert head.startswith(b"POST /engines/one/v1/x HTTP/1.1\r\nhost: 127.0.0.1:")
    assert b"\r\nx-ours: yes\r\n" in head
    assert b"\r\ntraceparent: 00-1\r\n" in head
    assert body == b'{"a": 1}'


def test_a_name_and_password_in_the_address_are_sent() -> None:
    seen: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append((await asked(reader))[0])
        writer.write(CHUNKED)

    async def main() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        pool = HttpPool(f"http://me:p%40ss@127.0.0.1:{port}", {}, connect=2, silence=5)
        assert await one(pool) == b"Hello, world"
        pool.close()
        server.close()

    asyncio.run(main())
    assert b"\r\nauthorization: Basic bWU6cEBzcw==\r\n" in seen[0]
    assert b"me:p" not in seen[0].split(b"authorization")[0]


def test_a_kept_connection_that_was_let_go_is_replaced() -> None:
    answered = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        await asked(reader)
        answered += 1
        if answered == 2:
            writer.transport.abort()  # type: ignore[attr-defined]
            raise ConnectionError
        writer.write(CHUNKED)

    async def main() -> None:
        async with engine(answer) as pool:
            assert [await one(pool), await one(pool)] == [b"Hello, world"] * 2

    asyncio.run(main())
    assert answered == 3


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (saying(HEAD + b"5\r\nHel", then=lambda writer: writer.close()), Dropped),
        (saying(b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nHello", then=lambda writer: writer.close()), Dropped),
        (saying(b"", then=lambda writer: writer.close()), Dropped),
        (saying(b"SSH-2.0-OpenSSH_9.6\r\n"), NotHttp),
        (saying(HEAD + b"not a size\r\n"), NotHttp),
        (saying(HEAD, pause=60), Silence),
        (saying(b"", pause=60), Silence),
    ],
)
def test_what_goes_wrong_has_a_name(answer: Answer, problem: type[Exception]) -> None:
    async def main() -> None:
        async with engine(answer, silence=0.2) as pool:
            with pytest.raises(problem):
                await one(pool)

    asyncio.run(main())


def test_nobody_there_and_nobody_who_answers() -> None:
    async def main() -> None:
        with pytest.raises(Unreachable):
            await HttpPool("http://127.0.0.1:9", {}, connect=2, silence=5).post("/", b"", {})
        with pytest.raises(TooLate):
            await HttpPool("http://127.0.0.1:9", {}, connect=0, silence=5).post("/", b"", {})

    asyncio.run(main())


def test_slow_words_are_no_silence() -> None:
    async def main() -> None:
        parts = [HEAD, *(b"1\r\nx\r\n" for _ in range(8)), b"0\r\n\r\n"]
        async with engine(saying(*parts, pause=0.3), silence=2.0) as pool:
            assert await one(pool) == b"x" * 8

    asyncio.run(main())


def test_an_engine_is_read_no_faster_than_its_answer_is_taken() -> None:
    part = b"%x\r\n%b\r\n" % (MOST_WAITING // 8, b"x" * (MOST_WAITING // 8))

    async def main() -> None:
        sent = 0

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal sent
            await asked(reader)
            writer.write(HEAD)
            for _ in range(400):
                writer.write(part)
                await writer.drain()
                sent += 1
            writer.write(b"0\r\n\r\n")

        async with engine(answer, silence=1.0) as pool:
            connection = await pool.post("/", b"", {})
            await asyncio.sleep(1.5)
            assert sent < 200, "all of it was read, though nobody took any"
            assert len(await whole(connection)) == 400 * (MOST_WAITING // 8)
            pool.give_back(connection)

    asyncio.run(main())


def test_leaving_in_the_middle_closes_the_connection() -> None:
    async def main() -> None:
        left = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asked(reader)
            writer.write(HEAD + b"5\r\nHello\r\n")
            await reader.read()
            left.set()
            raise ConnectionError

        async with engine(answer) as pool:
            connection = await pool.post("/", b"", {})
            assert await connection.read() == b"Hello"
            pool.give_back(connection)
            await asyncio.wait_for(left.wait(), 60)

    asyncio.run(main())


def test_a_connection_that_nobody_uses_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.backends.http_pool.KEPT", 0.1)

    async def main() -> None:
        left = asyncio.Event()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await asked(reader)
            except asyncio.IncompleteReadError:
                left.set()
                raise
            writer.write(CHUNKED)

        async with engine(answer) as pool:
            assert [await one(pool), await one(pool)] == [b"Hello, world"] * 2
            await asyncio.wait_for(left.wait(), 20)
            assert await one(pool) == b"Hello, world"

    asyncio.run(main())
