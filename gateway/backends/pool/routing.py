"""Which replica a request goes to: its conversation's own, unless that has more than its share."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from gateway.chat.plan import Plan

AT_EASE = 8
"""A replica with fewer requests is never too busy for its own conversations."""
MOST = 4096
"""Characters of a message, or of a prompt, that tell one conversation from another."""


class Loaded(Protocol):
    """What is looked at of a replica."""

    @property
    def place(self) -> str:
        """Its address, which is the same for every gateway."""
        ...

    @property
    def running(self) -> int:
        """Requests that it has from this gateway."""
        ...


R = TypeVar("R", bound=Loaded)


def ranked(replicas: Iterable[R], key: bytes | None) -> list[R]:
    """The replicas in the order in which this conversation prefers them, the same in every gateway (rendezvous hashing: when one
    goes, only its own conversations move). Without a key: those with the fewest requests first."""
    if key is None:
        return sorted(replicas, key=lambda replica: replica.running)
    return sorted(replicas, key=lambda replica: _weight(key, replica.place), reverse=True)


def chosen(replicas: Sequence[R], key: bytes | None, *, balance: float) -> R | None:
    """The first in the conversation's order that has less than `balance` times an even share of all requests; without a
    conversation, one with the fewest requests."""
    if len(replicas) <= 1:
        return replicas[0] if replicas else None
    share = (sum(replica.running for replica in replicas) + 1) / len(replicas)
    most = max(AT_EASE, math.ceil(share * balance)) if key is not None else math.inf
    return next((replica for replica in ranked(replicas, key) if replica.running < most), None)


def _weight(key: bytes, place: str) -> bytes:
    return hashlib.blake2b(place.encode(), key=key, digest_size=8).digest()


def of_conversation(plan: Plan) -> bytes:
    """What all turns of one conversation have in common: everything to the end of its first user message. Of a prompt that the
    client wrote itself: its beginning."""
    if plan.request.messages:
        return _digest(_beginning(plan.request.messages))
    ids = plan.prompt.token_ids
    return _digest([plan.prompt.text[:MOST] if ids is None else ",".join(map(str, ids[:MOST]))])


def _beginning(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        yield message["role"]
        yield from (text[:MOST] for text in _texts(message.get("content")))
        if message["role"] == "user":
            return


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | tuple):
        yield from (part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str))


def _digest(texts: Iterable[str]) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for text in texts:
        found.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return found.digest()
