"""What clients see while replicas die, freeze and come back: nothing that could be saved is lost, and nothing is silently cut."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial

import pytest

from tests.e2e.faults.clients import COMPLETIONS, PATHS, Background, Caller, Seen, ask, begun, ended, outcomes, together
from tests.e2e.faults.conftest import Site
from tests.support.server import wait_for

SLOW = {"pieces": ["word "] * 60, "delay": 0.05}
STUCK = {"pieces": ["word "] * 3, "delay": 300}
"""Begins, and ends long after everybody's patience."""
CLIENTS = 24
"""Each with a conversation of its own: so many that both engines have some, whatever their ports are."""


def arrived(site: Site, works: Sequence[Callable[[], Seen]]) -> list[Future[Seen]]:
    """What these will have seen, once all of them are at the engines, and first pieces have reached the gateway."""
    before = site.asked()
    futures = begun(works)
    assert wait_for(lambda: site.asked() == before + len(works))
    time.sleep(0.5)
    return futures


def several(site: Site, count: int = CLIENTS, *, stream: bool = True) -> list[Callable[[], Seen]]:
    """Requests of so many conversations."""
    return [partial(ask, site.gateway.url, stream=stream, text=f"conversation {number}") for number in range(count)]


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_a_replica_that_is_killed_before_a_request(site: Site, stream: bool) -> None:
    site.engines[0].kill()
    assert outcomes(together(several(site, stream=stream))) == {"whole": CLIENTS}


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
def test_a_replica_that_is_killed_while_its_requests_wait_for_their_first_piece(site: Site, stream: bool) -> None:
    site.engines[0].play(first_delay=300)
    waiting = begun(several(site, stream=stream))
    assert wait_for(lambda: site.engines[0].running() >= 2)
    site.engines[0].kill()
    assert outcomes(ended(waiting)) == {"whole": CLIENTS}


def test_a_replica_that_is_killed_in_the_middle_of_streams(site: Site) -> None:
    """Its own streams end with an error event, at once; the others go on."""
    site.engines[0].play(**STUCK)
    site.engines[1].play(**SLOW)
    running = arrived(site, several(site))
    hit = site.engines[0].running()
    site.engines[0].kill()
    seen = ended(running)
    assert 0 < hit < CLIENTS
    assert outcomes(seen) == {"told": hit, "whole": CLIENTS - hit}
    assert all("broke off" in one.text for one in seen if one.outcome == "told")


def test_whole_answers_are_taken_again_when_their_replica_is_killed(site: Site) -> None:
    """Nothing of them has left, so nobody notices."""
    site.engines[0].play(**STUCK)
    site.engines[1].play(**SLOW)
    asking = [partial(ask, site.gateway.url, PATHS[number % 3], stream=False, text=f"{number}") for number in range(CLIENTS)]
    running = arrived(site, asking)
    assert site.engines[0].running() > 0
    site.engines[0].kill()
    seen = ended(running)
    assert outcomes(seen) == {"whole": CLIENTS}
    assert all(one.text.count("word ") in (60, 61) for one in seen)
    assert site.gateway.metric("toolwire_retries_total", cause="restarted") > 0


def test_they_are_taken_again_by_another_one(site: Site) -> None:
    """Also where the one that broke off is well again at once, and would have the conversation's prefix."""
    site.engines[0].play(ends="early", ends_after=1, delay=0.1)
    asking = [partial(ask, site.gateway.url, PATHS[number % 3], stream=False, text=f"{number}") for number in range(CLIENTS)]
    assert outcomes(together(asking)) == {"whole": CLIENTS}


@pytest.mark.parametrize("fault", ["killed", "cut"])
def test_so_are_whole_answers_to_raw_prompts(site: Site, fault: str) -> None:
    """Half of the answer had come from the engine."""
    before = site.gateway.metric("toolwire_retries_total", cause="restarted")
    site.engines[0].play(**STUCK if fault == "killed" else {"ends": "early"})
    site.engines[1].play(pieces=["word "] * 30, delay=0.02)
    asking = [partial(ask, site.gateway.url, COMPLETIONS, stream=False, text=f"{number}") for number in range(CLIENTS)]
    if fault == "killed":
        running = arrived(site, asking)
        assert site.engines[0].running() > 0
        site.engines[0].kill()
        seen = ended(running)
    else:
        seen = together(asking)
    assert outcomes(seen) == {"whole": CLIENTS}
    assert all(one.text.count("word ") == 30 for one in seen)
    assert site.gateway.metric("toolwire_retries_total", cause="restarted") > before


def test_a_replica_that_freezes(site: Site) -> None:
    """Nothing arrives, and no connection breaks: those without a first piece are answered elsewhere, the others are told."""
    site.engines[0].play(**STUCK)
    with_pieces = arrived(site, several(site))
    assert wait_for(lambda: site.engines[1].running() == 0)
    hit = site.engines[0].running()
    assert hit > 0
    site.engines[0].freeze()
    assert outcomes(together(several(site))) == {"whole": CLIENTS}
    assert outcomes(ended(with_pieces)) == {"told": hit, "whole": CLIENTS - hit}


@pytest.mark.parametrize(
    "fault",
    [{"status": 500}, {"status": 503}, {"ends": "early"}, {"ends": "error"}, {"ends": "unfinished"}],
    ids=["500", "503", "cut", "error event", "unfinished"],
)
def test_a_replica_that_fails_before_the_first_piece(site: Site, fault: dict[str, object]) -> None:
    site.engines[0].play(**fault)
    before = site.gateway.metric("toolwire_retries_total", model="m")

    def retried() -> bool:
        assert outcomes(together(several(site))) == {"whole": CLIENTS}
        return site.gateway.metric("toolwire_retries_total", model="m") > before

    assert wait_for(retried), "a replica that was just out gets nothing for a moment"


@pytest.mark.faults
def test_all_replicas_are_restarted_one_after_the_other_under_load(site: Site) -> None:
    """Short answers: each restart finds requests at every stage. Only those with a piece out can be lost, and they are told."""
    load = Background(lambda: ask(site.gateway.url, text=f"{time.monotonic()}"), clients=6)
    for engine in site.engines:
        engine.kill()
        engine.start()
        assert wait_for(site.all_in)
    seen = outcomes(load.stop())
    assert seen.pop("whole") > 10
    assert set(seen) <= {"told"}, "nothing was refused, and nothing was cut without a word"
    assert sum(seen.values()) <= 6


def test_when_all_are_gone_for_a_moment_requests_wait(site: Site) -> None:
    for engine in site.engines:
        engine.kill()
    waiting = begun(several(site, 4))
    assert wait_for(lambda: site.gateway.metric("toolwire_queue_requests_waiting") == 4)
    site.engines[1].start()
    assert outcomes(ended(waiting)) == {"whole": 4}


def test_a_client_that_leaves_while_its_request_is_moved(site: Site) -> None:
    for engine in site.engines:
        engine.play(first_delay=300)
    with Caller(site.gateway.url):
        assert wait_for(lambda: site.running() == 1)
        (busy,) = [engine for engine in site.engines if engine.running()]
        (other,) = [engine for engine in site.engines if engine is not busy]
        busy.kill()
        assert wait_for(lambda: other.running() == 1)
    assert wait_for(lambda: other.running() == 0)
