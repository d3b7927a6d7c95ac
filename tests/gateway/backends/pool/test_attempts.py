"""What a request survives, and what it costs nobody."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import (
    BackendBusy,
    BackendError,
    BackendGarbled,
    BackendOverloaded,
    BackendRefused,
    BackendTimeout,
    BackendUnavailable,
)

FINE: dict[str, Any] = {}
SLOW = {"pieces": ["word "] * 200, "delay": 0.02}


def broken(engine, **script):
    engine.script = replace(engine.script, **script)


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ({"status": 500}, "failed"),
        ({"status": 503}, "busy"),
        ({"status": 429}, "busy"),
        ({"status": 404}, "misconfigured"),
        ({"ends": "early"}, "unreachable"),
        ({"ends": "error"}, "failed"),
        ({"ends": "unfinished"}, "broke_off"),
        ({"first_delay": 60}, "timeout"),
    ],
)
def test_whatever_happens_before_the_first_piece_happens_to_nobody(run, pools, script, cause):
    async def ask():
        async with pools(FINE, FINE, attempt_timeout=2.0) as pool:
            await pool.ask()
            own = pool.own("Hi")
            broken(own, **script)
            assert await pool.ask() == "Hello there"
            assert own.told.asked == 2
            await pool.until(lambda: own.told.running == 0)
            assert pool.counted("retries_total", cause=cause) == pool.counted("retries_total") == 1

    run(ask())


@pytest.mark.parametrize(("ends", "kind"), [("early", BackendUnavailable), ("error", BackendError)])
def test_an_answer_that_has_begun_is_never_begun_again(run, pools, ends, kind):
    async def ask():
        script = {"ends": ends, "ends_after": 1, "delay": 0.1}
        async with pools(script, script) as pool:
            async with pool.backend.stream(pool.plan()) as reads:
                assert [piece.text for piece in await anext(reads)] == ["Hello"]
                with pytest.raises(kind):
                    await anext(reads)
            assert pool.asked() == 1
            assert pool.counted("retries_total") == 0

    run(ask())


def test_what_the_engine_says_of_the_request_itself_is_final(run, pools):
    async def ask():
        async with pools({"status": 400}, {"status": 400}) as pool:
            with pytest.raises(BackendRefused, match="as scripted") as refused:
                await pool.ask()
            assert refused.value.status == 400
            assert pool.asked() == 1
            assert pool.states() == ["ready", "ready"]

    run(ask())


@pytest.mark.parametrize(("status", "kind"), [(429, BackendBusy), (503, BackendOverloaded)])
def test_when_all_are_busy_the_client_is_told_for_how_long(run, pools, status, kind):
    async def ask():
        async with pools({"status": status, "retry_after": "7"}, {"status": status, "retry_after": "7"}) as pool:
            with pytest.raises(kind) as refused:
                await pool.ask()
            assert refused.value.retry_after == 7
            assert [engine.told.asked for engine in pool.engines] == [1, 1]
            assert pool.counted("replica_ejections_total") == 0

    run(ask())


def test_a_request_that_no_replica_can_answer_puts_none_of_them_out(run, pools):
    async def ask():
        async with pools(FINE, FINE, FINE, breaker={"failures": 1}) as pool:
            for engine in pool.engines:
                broken(engine, status=500)
            with pytest.raises(BackendError):
                await pool.ask()
            assert [engine.told.asked for engine in pool.engines] == [1, 1, 1]
            assert pool.states() == ["ready"] * 3

    run(ask())


def test_attempts_have_an_end(run, pools):
    async def ask():
        async with pools({"ends": "unfinished"}, attempts=2) as pool:
            with pytest.raises(BackendGarbled):
                await pool.ask()
            assert pool.asked() == 2

    run(ask())


def test_so_has_the_time_for_them(run, pools):
    """Each replica once: what is begun anew at the same one takes as long again."""

    async def ask():
        async with pools({"first_delay": 60}, {"first_delay": 60}, attempts=9, attempt_timeout=1.0) as pool:
            with pytest.raises(BackendTimeout, match="did not begin to answer in time"):
                await pool.ask()
            assert [engine.told.asked for engine in pool.engines] == [1, 1]
            await pool.until(lambda: all(engine.told.running == 0 for engine in pool.engines))

    run(ask())


def test_all_attempts_together_have_a_time_too(run, pools):
    async def ask():
        async with pools({"status": 500}, attempts=10, total_timeout=0.5) as pool:
            with pytest.raises(BackendError):
                await pool.ask()
            assert pool.asked() < 6

    run(ask())


def test_requests_of_a_frozen_engine_wait_for_it_where_there_is_no_other(run, pools):
    async def ask():
        async with pools({"first_delay": 3600}, queue={"wait": 30}) as pool:
            (engine,) = pool.engines
            waiting = [await pool.asking(f"{number}") for number in range(3)]
            broken(engine, health=0)
            await pool.until(lambda: pool.counted("queue_requests_waiting") == 3)
            broken(engine, health=200, first_delay=0)
            assert await asyncio.gather(*waiting) == ["Hello there"] * 3

    run(ask())


def test_a_replica_that_is_gone_is_out_at_once_and_back_when_it_answers(run, pools):
    """The request that found it gone goes elsewhere; with nowhere to go it waits."""

    async def ask():
        async with pools(FINE, queue={"wait": 20}) as pool:
            (engine,) = pool.engines
            broken(engine, health=503, ends="early")
            asking = asyncio.create_task(pool.ask())
            await pool.until(lambda: pool.counted("queue_requests_waiting") == 1)
            assert pool.states() != ["ready"]
            broken(engine, health=200, ends="stop")
            assert await asking == "Hello there"
            assert pool.states() == ["ready"]

    run(ask())


def test_a_connection_that_breaks_disturbs_no_other_request(run, pools):
    async def ask():
        async with pools({"first_delay": 0.5}) as pool:
            (engine,) = pool.engines
            others = [await pool.asking(f"{number}") for number in range(4)]
            broken(engine, first_delay=0, ends="early")
            hit = await pool.asking("hit")
            await pool.until(lambda: pool.counted("retries_total", cause="unreachable") >= 1)
            broken(engine, ends="stop")
            assert await asyncio.gather(hit, *others) == ["Hello there"] * 5
            assert [engine.told.finished >= 5, engine.told.left] == [True, 0]

    run(ask())


def test_a_replica_that_freezes_gives_its_requests_away(run, pools):
    """Those without a first piece go elsewhere; a running one is ended, long before anybody's patience is."""

    async def ask():
        async with pools(FINE, FINE) as pool:
            await pool.ask()
            own = pool.own("Hi")
            broken(own, ends="silence", ends_after=1)
            async with pool.backend.stream(pool.plan()) as reads:
                await anext(reads)
                broken(own, first_delay=3600)
                waiting = await pool.asking()
                broken(own, health=0)
                began = time.monotonic()
                with pytest.raises(BackendUnavailable):
                    await anext(reads)
                assert await waiting == "Hello there"
                assert time.monotonic() - began < 60
            assert "does not answer /health" in pool.states()

    run(ask())


def test_one_that_fails_too_often_is_spared_and_tried_again(run, pools):
    async def ask():
        async with pools(FINE, FINE, breaker={"failures": 2, "pause": 1.5}) as pool:
            await pool.ask()
            own = pool.own("Hi")
            broken(own, status=500)
            for _ in range(4):
                assert await pool.ask() == "Hello there"
            assert own.told.asked == 3, "spared after two failures"
            assert "gets one request at a time until one goes well" in pool.states()
            assert pool.counted("replica_ejections_total", cause="failed") == 1
            broken(own, status=200, first_delay=0.5)
            await asyncio.sleep(2)
            assert await asyncio.gather(*(pool.ask() for _ in range(5))) == ["Hello there"] * 5
            assert own.told.asked == 4, "one trial at a time"
            await pool.ask()
            assert own.told.asked == 5
            assert pool.states() == ["ready", "ready"]

    run(ask())


def test_a_trial_that_its_client_leaves_says_nothing(run, pools):
    async def ask():
        async with pools(FINE, FINE, breaker={"failures": 1, "pause": 0.2}) as pool:
            await pool.ask()
            own = pool.own("Hi")
            broken(own, status=500)
            await pool.ask()
            broken(own, status=200, first_delay=3600)
            await asyncio.sleep(0.4)
            trial = await pool.asking()
            trial.cancel()
            with pytest.raises(asyncio.CancelledError):
                await trial
            await pool.until(lambda: own.told.running == 0)
            broken(own, first_delay=0)
            assert await pool.ask() == "Hello there"
            assert pool.states() == ["ready", "ready"]

    run(ask())


def test_the_last_replica_is_never_spared(run, pools):
    async def ask():
        async with pools({"status": 500}, breaker={"failures": 1}) as pool:
            for _ in range(3):
                with pytest.raises(BackendError):
                    await pool.ask()
            assert pool.states() == ["ready"]

    run(ask())


def test_answers_that_break_off_count_too(run, pools):
    async def ask():
        async with pools(FINE, FINE, breaker={"failures": 50, "error_rate": 0.4}) as pool:
            await pool.ask()
            broken(pool.own("Hi"), ends="error", ends_after=1, delay=0.05)
            for _ in range(20):
                try:
                    await pool.ask()
                except BackendError:
                    continue
            assert pool.counted("replica_ejections_total", cause="broke_off") == 1

    run(ask())
