"""What is noticed about replicas: that they are gone, that they are back, and that they are not what they were."""

from dataclasses import replace

import pytest

from gateway.backends.examination import KEPT, NAMED, NO_TAGS, NOT_KEPT, UNNAMED
from gateway.errors import BackendUnavailable


def change(engine, **script):
    engine.script = replace(engine.script, **script)


def test_facts_are_what_all_replicas_have(run, pools):
    async def ask():
        async with pools({"max_model_len": 4096}, {"max_model_len": 2048}) as pool:
            facts = await pool.backend.facts()
            assert (facts.engine, facts.model, facts.max_model_len, facts.version) == ("vllm", "served", 2048, "0.32.0")
            assert pool.states() == ["ready", "ready"]
            first = pool.backend.replicas()[0]
            assert [found.id for found in first.findings if found.status != "pass"] == ["E003"]

    run(ask())


@pytest.mark.parametrize(
    ("odd", "entry", "told"),
    [
        ({"model": "other"}, {}, "it serves other, not served: correct engine_model"),
        ({"model": "other"}, {"engine_model": "served"}, "it serves other, not served: correct engine_model"),
        ({"root": "/elsewhere"}, {}, "it serves /elsewhere, others /here: if that is the same model, name its tokenizer"),
    ],
)
def test_a_replica_of_another_model_gets_nothing(run, pools, odd, entry, told):
    async def ask():
        async with pools({"root": "/here"}, {"root": "/here", **odd}, entry=entry) as pool:
            for number in range(8):
                await pool.ask(str(number))
            assert [engine.told.asked for engine in pool.engines] == [8, 0]
            assert told in pool.states()[1]
            assert pool.counted("replica_up") == 1

    run(ask())


def test_folders_may_differ_where_the_tokenizer_is_named(run, pools):
    async def ask():
        async with pools({"root": "/here"}, {"root": "/elsewhere"}, entry={"tokenizer": "/mine"}) as pool:
            assert pool.states() == ["ready", "ready"]

    run(ask())


def test_when_none_serves_the_model_that_is_an_error(run, pools):
    async def ask():
        with pytest.raises(BackendUnavailable, match="it serves other, not mine"):
            async with pools({"model": "other"}, entry={"engine_model": "mine"}):
                pass

    run(ask())


def test_a_replica_that_comes_back_as_another_model_is_noticed(run, pools):
    async def ask():
        async with pools({}, {}) as pool:
            engine = pool.engines[1]
            change(engine, health=503)
            await pool.until(lambda: pool.states()[1] == "does not answer /health")
            change(engine, health=200, model="other")
            await pool.until(lambda: "it serves other, not served" in pool.states()[1])
            change(engine, model="served", max_model_len=1000)
            await pool.until(lambda: "its context has 1000 tokens where requests may have 4096" in pool.states()[1])
            change(engine, max_model_len=4096)
            await pool.until(lambda: pool.states() == ["ready", "ready"])
            assert pool.counted("replica_ejections_total", cause="unhealthy") == 1

    run(ask())


def test_so_is_one_that_was_changed_without_a_pause(run, pools):
    async def ask():
        async with pools({}, {}, health={"interval": 0.1, "timeout": 1}) as pool:
            change(pool.engines[0], model="other")
            await pool.until(lambda: "it serves other" in pool.states()[0])
            assert await pool.ask() == "Hello there"

    run(ask())


@pytest.mark.parametrize(
    ("constraints", "found"),
    [
        ("kept", (KEPT, NAMED)),
        ("unnamed", (KEPT, UNNAMED)),
        ("ignored", (NOT_KEPT,)),
        ("no_tags", (NO_TAGS,)),
    ],
)
def test_traps_are_found(run, pools, constraints, found):
    async def ask():
        async with pools({"constraints": constraints}) as pool:
            (one,) = pool.backend.replicas()
            assert one.findings == found
            assert one.ready
            assert pool.engines[0].told.asked == 0

    run(ask())


def test_a_replica_that_was_restarted_is_examined_again(run, pools):
    async def ask():
        async with pools({}) as pool:
            change(pool.engines[0], health=503, constraints="no_tags")
            await pool.until(lambda: pool.states() == ["does not answer /health"])
            change(pool.engines[0], health=200)
            await pool.until(lambda: pool.states() == ["ready"])
            assert pool.backend.replicas()[0].findings == (NO_TAGS,)

    run(ask())


def test_nothing_is_examined_where_that_is_not_wanted(run, pools):
    async def ask():
        async with pools({"constraints": "ignored"}, examine=False) as pool:
            assert pool.backend.replicas()[0].findings == ()

    run(ask())


def test_tokens_are_counted_by_whoever_answers(run, pools):
    async def ask():
        async with pools({}, {}) as pool:
            assert await pool.backend.count_tokens("abc") == 3

    run(ask())
