"""The request body. Fields that are not named here go on to engines that have this endpoint themselves."""

from typing import Any

from pydantic import ConfigDict, Field

from gateway.protocols.wire import Body, EngineExtras, LogitBias, Natural, Penalty, Positive, Seed, Share, Stop, Temperature


class StreamOptions(Body):
    """Whether the tokens spent are told at the end."""

    include_usage: bool = False


class CompletionRequest(EngineExtras):
    """What there is to ask for, with or without an endpoint of the engine's own."""

    model_config = ConfigDict(strict=True, extra="allow")

    model: str
    prompt: Any
    """A string, token ids, or an array of either."""
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Positive = 1
    best_of: Positive | None = None
    max_tokens: Natural | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    frequency_penalty: Penalty | None = None
    presence_penalty: Penalty | None = None
    stop: Stop = Field(default_factory=list)
    seed: Seed | None = None
    logit_bias: LogitBias | None = None
    logprobs: Natural | None = None
    echo: bool = False
    suffix: str | None = None
