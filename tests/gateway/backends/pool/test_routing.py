"""Conversations stay where they are cached, and no replica gets more than its share for that."""

import random
from collections import Counter
from dataclasses import dataclass, replace

import pytest

from gateway.backends.pool.routing import AT_EASE, chosen, of_conversation, ranked
from gateway.chat.plan import Plan


@dataclass
class One:
    place: str
    running: int = 0


def replicas(count: int) -> list[One]:
    return [One(f"http://10.0.0.{number}:8000") for number in range(count)]


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(4, "big") for number in range(count)]


def test_every_gateway_chooses_alike() -> None:
    here, elsewhere = replicas(5), replicas(5)
    random.Random(1).shuffle(elsewhere)
    for key in keys(100):
        assert [one.place for one in ranked(here, key)] == [one.place for one in ranked(elsewhere, key)]


def test_conversations_are_spread_evenly() -> None:
    found = Counter(ranked(replicas(4), key)[0].place for key in keys(4000))
    assert min(found.values()) > 850
    assert max(found.values()) < 1150


def test_when_one_goes_only_its_own_conversations_move() -> None:
    everybody = replicas(5)
    gone, rest = everybody[2], [one for one in everybody if one is not everybody[2]]
    for key in keys(500):
        before = ranked(everybody, key)[0]
        if before is not gone:
            assert ranked(rest, key)[0] is before


def test_nobody_gets_more_than_the_share() -> None:
    """All requests of one conversation at once: the load is bounded whatever the key."""
    everybody = replicas(4)
    for _ in range(400):
        one = chosen(everybody, b"same", balance=1.25)
        assert one is not None
        one.running += 1
    loads = sorted(one.running for one in everybody)
    assert loads[-1] <= 126
    assert sum(loads) == 400


def test_a_quiet_replica_keeps_its_conversations() -> None:
    everybody = replicas(4)
    own = ranked(everybody, b"mine")[0]
    own.running = AT_EASE - 1
    assert chosen(everybody, b"mine", balance=1.25) is own
    own.running = AT_EASE
    assert chosen(everybody, b"mine", balance=1.25) is not own


def test_without_a_conversation_the_least_busy_one_is_taken() -> None:
    everybody = replicas(3)
    everybody[0].running, everybody[1].running = 3, 1
    assert chosen(everybody, None, balance=1.25) is everybody[2]
    assert chosen([], None, balance=1.25) is None


USER = {"role": "user", "content": "Weather?"}
LATER = ({"role": "assistant", "content": "Where?"}, {"role": "user", "content": "Paris"})


@pytest.fixture
def plan(kit: type) -> Plan:
    made = kit.plan(messages=({"role": "system", "content": "Be brief."}, USER))
    assert isinstance(made, Plan)
    return made


def with_messages(plan: Plan, *messages: dict[str, object]) -> Plan:
    return replace(plan, request=replace(plan.request, messages=messages))


def test_all_turns_of_a_conversation_have_one_key(plan: Plan) -> None:
    messages = plan.request.messages
    later = with_messages(plan, *messages, *LATER)
    other = with_messages(plan, messages[0], {"role": "user", "content": "Time?"})
    assert of_conversation(plan) == of_conversation(later)
    assert of_conversation(plan) != of_conversation(other)
    assert of_conversation(plan) != of_conversation(with_messages(plan, USER))


def test_parts_and_prompts_have_keys_too(plan: Plan) -> None:
    def parts(text: str) -> Plan:
        return with_messages(plan, {"role": "user", "content": [{"type": "text", "text": text}, {"type": "image_url"}]})

    assert of_conversation(parts("a")) == of_conversation(parts("a"))
    assert of_conversation(parts("a")) != of_conversation(parts("b"))
    raw = with_messages(plan)
    assert of_conversation(raw) != of_conversation(replace(raw, prompt=replace(raw.prompt, token_ids=(1, 2))))
