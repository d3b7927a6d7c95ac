"""Where requests wait, for how long, and who is let out of the line."""

import asyncio
import time

import pytest

from gateway.errors import BackendUnavailable
from tests.support.engine import Script

SLOW = {"first_delay": 2}
QUICK = Script()
NEVER = {"first_delay": 3600}


def test_those_who_wait_are_served_in_order(run, pools):
    async def ask():
        async with pools(SLOW, concurrency=1) as pool:
            done = []
            tasks = []
            for number in range(4):
                tasks.append(await pool.asking(str(number)))
                tasks[-1].add_done_callback(lambda _, number=number: done.append(number))
            assert pool.counted("queue_requests_waiting") == 3
            assert pool.counted("replica_requests_running") == 1
            pool.engines[0].script = QUICK
            await asyncio.gather(*tasks)
            assert done == [0, 1, 2, 3]
            assert pool.counted("queue_seconds_count") == 4
            assert pool.counted("queue_seconds_sum") > 0.5

    run(ask())


def test_a_full_line_takes_nobody(run, pools):
    async def ask():
        async with pools(NEVER, concurrency=1, queue={"length": 1, "wait": 9}) as pool:
            running, waiting = await pool.asking(), await pool.asking()
            began = time.monotonic()
            with pytest.raises(BackendUnavailable, match="too many requests") as refused:
                await pool.ask()
            assert time.monotonic() - began < 9
            assert (refused.value.status, refused.value.code, refused.value.retry_after) == (503, "queue_full", 4.5)
            assert pool.counted("queue_refused_total", cause="full") == 1
            waiting.cancel()
            running.cancel()
            await asyncio.wait((waiting, running))
            await pool.until(lambda: pool.engines[0].told.running == 0)
            assert pool.engines[0].told.asked == 1, "who left the line never reached an engine"
            assert pool.counted("queue_requests_waiting") == pool.counted("replica_requests_running") == 0

    run(ask())


def test_nobody_waits_longer_than_is_allowed(run, pools):
    async def ask():
        async with pools(NEVER, concurrency=1, queue={"wait": 0.2}) as pool:
            running = await pool.asking()
            with pytest.raises(BackendUnavailable, match="too many requests"):
                await pool.ask()
            running.cancel()
            await asyncio.wait((running,))

    run(ask())


def test_who_leaves_the_line_lets_the_next_one_in(run, pools):
    async def ask():
        async with pools(SLOW, concurrency=1) as pool:
            tasks = [await pool.asking() for _ in range(5)]
            pool.engines[0].script = QUICK
            for task in tasks[1:4]:
                task.cancel()
            assert await tasks[0] == await tasks[4] == "Hello there"
            assert pool.engines[0].told.asked == 2

    run(ask())


def test_a_place_that_comes_just_when_its_request_is_cancelled_is_not_lost(run, pools):
    async def ask():
        async with pools({"first_delay": 0.3}, concurrency=1) as pool:
            for _ in range(3):
                first, second = await pool.asking(), await pool.asking()
                first.add_done_callback(lambda _, second=second: second.cancel())
                await asyncio.wait((first, second))
            assert pool.counted("replica_requests_running") == 0
            assert await pool.ask() == "Hello there"

    run(ask())


def test_a_long_outage_is_told_at_once(run, pools):
    async def ask():
        async with pools({}, queue={"wait": 0.5}) as pool:
            (engine,) = pool.engines
            engine.script = type(engine.script)(health=503)
            await pool.until(lambda: pool.states() == ["does not answer /health"])
            await asyncio.sleep(0.6)
            waited = []
            while min(waited, default=1) > 0.4 and len(waited) < 5:
                began = time.monotonic()
                with pytest.raises(BackendUnavailable, match="cannot be reached") as refused:
                    await pool.ask()
                waited.append(time.monotonic() - began)
            assert min(waited) < 0.4, "less than who waits"
            assert refused.value.retry_after == 0.2
            assert pool.counted("queue_refused_total", cause="out") == len(waited)

    run(ask())


def test_with_another_model_to_go_to_nobody_waits_for_one_that_is_out(run, pools):
    async def ask():
        async with pools({}, entry={"fallback": "other"}, queue={"wait": 60}) as pool:
            (engine,) = pool.engines
            engine.script = type(engine.script)(health=503)
            await pool.until(lambda: pool.states() == ["does not answer /health"])
            with pytest.raises(BackendUnavailable):
                await asyncio.wait_for(pool.ask(), 50)

    run(ask())


def test_a_conversation_stays_with_its_replica(run, pools):
    async def ask():
        async with pools({}, {}, {}) as pool:
            for _ in range(6):
                await pool.ask("mine")
            assert sorted(engine.told.asked for engine in pool.engines) == [0, 0, 6]

    run(ask())


def test_without_affinity_the_least_busy_replica_is_taken(run, pools):
    async def ask():
        async with pools(NEVER, NEVER, affinity=False) as pool:
            tasks = [await pool.asking("mine") for _ in range(6)]
            assert [engine.told.running for engine in pool.engines] == [3, 3]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    run(ask())
