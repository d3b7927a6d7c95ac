"""Requests are counted, refused and interrupted."""

import asyncio

import pytest

from gateway.errors import ServerStopping
from gateway.pipeline.running import Running


async def one(running: Running, *, gone: list[str]) -> None:
    """A request that is over only when it is stopped; notes how."""
    try:
        with running.one():
            await asyncio.sleep(60)
    except ServerStopping:
        gone.append("told")
        await asyncio.sleep(0)  # it can go on, for instance with an answer
        gone.append("answered")
    except asyncio.CancelledError:
        gone.append("cancelled")
        raise


def test_what_is_left_is_interrupted_and_can_still_answer() -> None:
    async def walk() -> None:
        running, gone = Running(), list[str]()
        task = asyncio.create_task(one(running, gone=gone))
        await asyncio.sleep(0)
        assert len(running) == 1
        assert not await running.over(0.05)
        running.end()
        assert await running.over(5)
        await task
        assert gone == ["told", "answered"]
        assert task.cancelling() == 0

    asyncio.run(walk())


def test_a_client_that_goes_away_is_no_interruption() -> None:
    async def walk() -> None:
        running, gone = Running(), list[str]()
        task = asyncio.create_task(one(running, gone=gone))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        assert gone == ["cancelled"]
        assert await running.over(0)

    asyncio.run(walk())


def test_nothing_new_is_taken_once_it_is_not_wanted() -> None:
    async def walk() -> None:
        running = Running()
        running.accepting = False
        with pytest.raises(ServerStopping) as refused, running.one():
            pass
        assert (refused.value.status, refused.value.retryable, refused.value.retry_after) == (503, True, 1.0)
        assert len(running) == 0

    asyncio.run(walk())


def test_an_error_of_the_request_itself_passes() -> None:
    async def walk() -> None:
        running = Running()
        with pytest.raises(KeyError), running.one():
            raise KeyError
        assert await running.over(0)

    asyncio.run(walk())
