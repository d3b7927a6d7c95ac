"""Sends requests to a gateway over real sockets, a few at a time, each within a time box."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import openai
from openai import AsyncOpenAI

from tests.e2e.scale.asks import Ask
from tests.e2e.scale.outcomes import Answer, Outcome, judged

WARNINGS = "x-toolwire-warnings"
Extras = Callable[[Ask], Mapping[str, Any]]
"""What is added to the body of a request: model, limits, sampling."""


@dataclass(frozen=True, slots=True)
class Target:
    """A gateway, and how it is asked. `time_box`: seconds after which a request counts as hung."""

    url: str
    extras: Extras
    at_once: int
    time_box: float


async def send_all(target: Target, asks: Sequence[Ask]) -> AsyncIterator[tuple[Ask, Answer, Outcome]]:
    """Each request with its answer and the verdict on it, in the order in which they end."""
    turnstile = asyncio.Semaphore(target.at_once)
    async with AsyncOpenAI(base_url=f"{target.url}/v1", api_key="none", timeout=None, max_retries=0) as client:

        async def one(ask: Ask) -> tuple[Ask, Answer, Outcome]:
            async with turnstile:
                began = time.monotonic()
                answer = Answer()
                try:
                    async with asyncio.timeout(target.time_box):
                        await _answer(client, {**ask.body(), **target.extras(ask)}, answer)
                    outcome = judged(ask, answer)
                except TimeoutError:
                    outcome = Outcome("hung", f"no end after {target.time_box:g} s")
                answer.seconds = time.monotonic() - began
                return ask, answer, outcome

        for done in asyncio.as_completed([asyncio.create_task(one(ask)) for ask in asks]):
            yield await done


async def _answer(client: AsyncOpenAI, body: Mapping[str, Any], into: Answer) -> None:
    try:
        raw = await client.chat.completions.with_raw_response.create(**body)
        into.warnings = raw.headers.get(WARNINGS, "")
        parsed = raw.parse()
        if body["stream"]:
            async for chunk in parsed:
                _add(chunk, into)
        else:
            choice = parsed.choices[0]
            into.content, into.finish = choice.message.content or "", choice.finish_reason
            for call in choice.message.tool_calls or []:
                into.names.append(call.function.name)
                into.arguments.append(call.function.arguments)
    except openai.APIStatusError as error:
        into.status = error.status_code
        into.warnings = error.response.headers.get(WARNINGS, "")
        into.error = error.body if isinstance(error.body, Mapping) else {"message": str(error)}
    except openai.APIError as error:  # inside a stream
        into.status = 502
        into.error = error.body if isinstance(error.body, Mapping) else {"message": str(error)}


def _add(chunk: Any, into: Answer) -> None:
    for choice in chunk.choices:
        into.content += choice.delta.content or ""
        into.finish = choice.finish_reason or into.finish
        for call in choice.delta.tool_calls or []:
            if call.index == len(into.names):
                into.names.append(call.function.name)
                into.arguments.append("")
            into.arguments[call.index] += call.function.arguments or ""
