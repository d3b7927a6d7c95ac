"""How a model's replicas share its requests, and how one that fails is noticed, spared and tried again."""

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from .section import Section


class QueueSettings(Section):
    """Where requests wait that no replica can take now."""

    length: int = Field(default=1024, ge=0)
    """Most requests that wait."""
    wait: float = Field(default=10.0, ge=0)
    """Longest wait in seconds, also for a replica to come back; no longer than this after the last one went."""


class HealthSettings(Section):
    """How replicas are asked whether they are well: GET /health, never a generation."""

    interval: float = Field(default=5.0, gt=0)
    """Seconds between two questions, a fifth more or less."""
    timeout: float = Field(default=5.0, gt=0)
    """Seconds a replica gets to answer."""
    failures: int = Field(default=2, ge=1)
    """So many bad answers in a row put a replica out, until a good one."""


class BreakerSettings(Section):
    """When a replica that says it is well gets no requests all the same."""

    failures: int = Field(default=5, ge=1)
    """So many requests that fail in a row."""
    error_rate: float = Field(default=0.5, gt=0, le=1)
    """Or this share of the last 20 requests."""
    pause: float = Field(default=5.0, gt=0)
    """Seconds until one request is sent to try it; twice as many after each trial that fails."""
    longest_pause: float = Field(default=60.0, gt=0)
    """Most seconds between two trials."""

    @model_validator(mode="after")
    def _pauses_grow(self) -> Self:
        if self.longest_pause < self.pause:
            raise PydanticCustomError("pause", "longest_pause must not be less than pause")
        return self


class PoolSettings(Section):
    """How requests are shared out among the replicas of a model, and what is tried before one is lost."""

    concurrency: int = Field(default=1024, ge=1)
    """Most requests of this gateway at one replica at the same time."""
    affinity: bool = True
    """Whether a conversation stays with one replica, where its prefix is cached."""
    balance: float = Field(default=1.25, ge=1)
    """A conversation leaves its replica once that has so many times its even share of all requests."""
    attempts: int = Field(default=3, ge=1, le=10)
    """Most attempts at one request. Only one that has given nothing yet is made again."""
    attempt_timeout: float = Field(default=300.0, gt=0)
    """Seconds that one attempt may take until its first piece."""
    total_timeout: float = Field(default=600.0, gt=0)
    """Seconds that all of them may take until the first piece, with what is waited between."""
    silence: float = Field(default=600.0, gt=0)
    """Longest pause in seconds inside a running answer."""
    examine: bool = True
    """Whether each replica is asked for a few constrained tokens before it is used, to see that constraints are kept."""
    queue: QueueSettings = QueueSettings()
    health: HealthSettings = HealthSettings()
    breaker: BreakerSettings = BreakerSettings()
