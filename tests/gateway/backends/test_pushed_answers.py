"""What an engine sends is pushed on as it comes: in order, no faster than it is taken, and in the name of whoever asked."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import pytest

from gateway.backends.http_connection import MOST_WAITING, Dropped, HttpConnection
from tests.gateway.backends.test_http_pool import CHUNKED, HEAD, engine, one, saying

WHOSE: ContextVar[str] = ContextVar("whose", default="nobody's")
LETTERS = [b"1\r\n%c\r\n" % letter for letter in b"abcdefghijklmnopqrstuvwxyz"]
Taken = Callable[[HttpConnection], Awaitable[None]]


def taking(taken: Taken, *parts: bytes, pause: float = 0.0) -> None:
    """Have one answer of an engine taken like this; the connection's next one must be whole."""

    async def main() -> None:
        async with engine(saying(*parts, pause=pause)) as pool:
            connection = await pool.post("/v1/x", b"{}", {})
            try:
                await taken(connection)
            finally:
                pool.give_back(connection)
            assert await one(pool)

    asyncio.run(main())


@pytest.mark.parametrize("cut", range(1, len(CHUNKED), 7))
def test_cut_anywhere_it_is_the_same(cut: int) -> None:
    async def taken(connection: HttpConnection) -> None:
        got: list[bytes] = []
        await connection.run(got.append)
        assert b"".join(got) == b"Hello, world"

    taking(taken, CHUNKED[:cut], CHUNKED[cut:], pause=0.001)


def test_the_order_holds_while_somebody_is_waited_for() -> None:
    async def taken(connection: HttpConnection) -> None:
        got = b""
        busy = False

        def take(block: bytes) -> Callable[[], Awaitable[None]] | None:
            nonlocal got, busy
            assert not busy, "more was given while the last had to be waited for"
            got += block
            if len(got) % 3:
                return None
            busy = True
            return wait

        async def wait() -> None:
            nonlocal busy
            await asyncio.sleep(0.01)
            busy = False

        await connection.run(take)
        assert got == b"abcdefghijklmnopqrstuvwxyz"

    taking(taken, HEAD, *LETTERS, b"0\r\n\r\n", pause=0.002)


def test_what_is_pushed_is_taken_in_the_name_of_who_asked() -> None:
    async def taken(connection: HttpConnection) -> None:
        WHOSE.set("mine")
        seen: set[str] = set()
        await connection.run(lambda _: seen.add(WHOSE.get()))
        assert seen == {"mine"}

    taking(taken, HEAD, *LETTERS, b"0\r\n\r\n", pause=0.002)


def test_what_the_taker_raises_comes_out_and_the_rest_can_still_be_read() -> None:
    async def taken(connection: HttpConnection) -> None:
        got = b""

        def take(block: bytes) -> None:
            nonlocal got
            got += block
            if b"c" in got:
                raise LookupError("enough")

        with pytest.raises(LookupError, match="enough"):
            await connection.run(take)
        while block := await connection.read():
            got += block
        assert got == b"abcdefghijklmnopqrstuvwxyz"

    taking(taken, HEAD, *LETTERS, b"0\r\n\r\n", pause=0.002)


def test_what_came_before_a_connection_broke_is_given() -> None:
    async def main() -> None:
        async with engine(saying(HEAD, *LETTERS, pause=0.002, then=lambda writer: writer.close())) as pool:
            connection = await pool.post("/v1/x", b"{}", {})
            got: list[bytes] = []
            with pytest.raises(Dropped):
                await connection.run(got.append)
            pool.give_back(connection)
            assert b"".join(got) == b"abcdefghijklmnopqrstuvwxyz"

    asyncio.run(main())


def test_an_engine_is_read_no_faster_than_its_answer_is_taken() -> None:
    """Of a hundred megabytes, little comes while the first piece must be waited for."""
    sent = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"{}")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 100_000

    async def main() -> None:
        async with engine(answer) as pool:
            connection = await pool.post("/v1/x", b"{}", {})
            stuck = asyncio.Event()

            async def for_ever() -> None:
                stuck.set()
                await asyncio.get_running_loop().create_future()

            task = asyncio.create_task(connection.run(lambda _: for_ever))
            await stuck.wait()
            before = -1
            while before != sent:
                before = sent
                await asyncio.sleep(0.2)
            task.cancel()
            await asyncio.wait((task,))
            pool.give_back(connection)
            assert sent < MOST_WAITING + 30_000_000, "what the kernel holds, and no more"

    asyncio.run(main())
