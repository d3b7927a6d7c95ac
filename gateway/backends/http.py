"""The engine's HTTP: one way to stream an answer, one to ask short questions; every failure leaves as a BackendError.

Streams are read by connections of our own on httptools (httpx costs several times as much per chunk and stalls with hundreds of
streams), short questions by httpx.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from gateway.chat.flow import Reads, Shortcut, Take
from gateway.errors import (
    BackendBusy,
    BackendError,
    BackendGarbled,
    BackendOverloaded,
    BackendRefused,
    BackendTimeout,
    BackendUnavailable,
    ContextTooLong,
    GatewayError,
)
from gateway.telemetry.tracing import carried, engines

from .http_connection import Dropped, HttpConnection, NotHttp, Silence
from .http_pool import HttpPool, TooLate, Unreachable

SOON = 1.0
"""Seconds after which to ask an engine again that was busy and did not say for how long."""
LONGEST_COMPLAINT = 64 * 1024
CONFIGURED_WRONG = (401, 403, 404)
"""Statuses of the engine that speak of the gateway's own set-up (its key, the model's name), not of the client's request."""
FAILURES = (Dropped, NotHttp, Silence, TooLate, Unreachable)
TOO_LONG = re.compile(r"(maximum|available) context (length|size)|maximum model length|context_length_exceeded", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `read`: the longest silence of a stream, the engine's queue included. `control`: a whole short question."""

    connect: float = 5.0
    read: float = 600.0
    control: float = 5.0


class EngineHttp:
    """One engine's address. Connections are opened in the running loop at first use and kept."""

    def __init__(self, url: str, *, api_key: str | None = None, timeouts: Timeouts | None = None) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self.place = without_password(self.url)
        """The address for people."""
        self._timeouts = timeouts or Timeouts()
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._pool: HttpPool | None = None
        self._client: httpx.AsyncClient | None = None
        self.running: set[Streamed] = set()
        """Answers that are being read."""

    def stream(self, path: str, body: bytes) -> "Streamed":
        """Posts JSON. Entered once the engine has answered 200; gives what each read gave. Left before the end, the connection is
        closed, which makes the engine stop."""
        return Streamed(self, path, body)

    def hang_up_silent(self) -> int:
        """Close the connections of answers of which nothing was read since this was last called; how many there were."""
        silent = [running for running in self.running if running.connection.reads == running.noted]
        for running in self.running:
            running.noted = running.connection.reads
        for running in silent:
            running.connection.close()
        return len(silent)

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a short question."""
        response = await self._ask(method, path, body)
        if response.status_code != 200:
            raise refusal(response.status_code, response.content, self.place, headers=response.headers)
        try:
            return response.json()
        except ValueError:
            raise BackendGarbled(f"The engine at {self.place} answered {path} with something that is not JSON.") from None

    async def answers(self, path: str) -> bool:
        """Whether a GET gives 200."""
        try:
            return (await self._ask("GET", path, None)).status_code == 200
        except BackendError:
            return False

    async def close(self) -> None:
        """Close all connections; streams that still run end with an error."""
        for running in self.running:
            running.connection.close()
        if self._pool is not None:
            self._pool.close()
        if self._client is not None:
            await self._client.aclose()

    async def post(self, path: str, body: bytes) -> HttpConnection:
        """The connection on which the answer comes, to be given back."""
        if self._pool is None:
            headers = {**self._headers, "content-type": "application/json", "accept": "text/event-stream"}
            times = {"connect": self._timeouts.connect, "silence": self._timeouts.read}
            self._pool = HttpPool(self.url, headers, **times)
        try:
            return await self._pool.post(path, body, carried.get() or {})
        except FAILURES as error:
            raise self.failure(error) from error

    def give_back(self, connection: HttpConnection) -> None:
        """Its answer is over, or nobody wants it any more."""
        if self._pool is not None:
            self._pool.give_back(connection)

    async def refusal(self, connection: HttpConnection) -> GatewayError:
        """What an answer other than 200 means."""
        complaint = b""
        try:
            while len(complaint) < LONGEST_COMPLAINT and (block := await connection.read()):
                complaint += block
        except FAILURES:
            pass  # what has come of it must do
        return refusal(connection.status, complaint[:LONGEST_COMPLAINT], self.place, headers=connection.headers)

    async def _ask(self, method: str, path: str, body: Any) -> httpx.Response:
        if self._client is None:
            self._client = httpx.AsyncClient(headers=self._headers, timeout=self._timeouts.control, trust_env=False)
        try:
            return await self._client.request(method, self.url + path, json=body, headers=carried.get())
        except httpx.TimeoutException as error:
            raise BackendTimeout(
                f"The engine at {self.place} did not answer {path} within {self._timeouts.control:g} s."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BackendUnavailable(f"The engine at {self.place} cannot be reached: {_words(error)}.") from error

    def failure(self, error: Exception) -> BackendError:
        """What a broken connection means."""
        if isinstance(error, TooLate):
            return BackendTimeout(f"The engine at {self.place} took no connection within {self._timeouts.connect:g} s.")
        if isinstance(error, Silence):
            return BackendTimeout(f"The engine at {self.place} was silent for {self._timeouts.read:g} s.")
        if isinstance(error, Unreachable):
            return BackendUnavailable(f"The engine at {self.place} cannot be reached: {_words(error)}.")
        if isinstance(error, NotHttp):
            return BackendGarbled(f"The engine at {self.place} does not speak HTTP: {_words(error)}.")
        return BackendUnavailable(f"The engine at {self.place} broke off: {_words(error)}.")


class Streamed(Reads[bytes]):
    """One answer of an engine, each item what one read gave."""

    def __init__(self, engine: EngineHttp, path: str, body: bytes) -> None:
        self._engine = engine
        self._asked = path, body
        self.connection: HttpConnection
        self.noted = -1
        """How many reads there were when somebody last looked."""

    async def __aenter__(self) -> Self:
        engine = self._engine
        if (asked := engines.get()) is not None:
            asked.append(engine.place)
        self.connection = await engine.post(*self._asked)
        try:
            if self.connection.status != 200:
                raise await engine.refusal(self.connection)
        except BaseException:  # also when nobody waits any more: the connection must not be lost to the pool
            engine.give_back(self.connection)
            raise
        engine.running.add(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._engine.running.discard(self)
        self._engine.give_back(self.connection)

    @property
    def over(self) -> bool:  # type: ignore[override]
        """The engine has ended its body."""
        return self.connection.complete

    async def __anext__(self) -> bytes:
        try:
            block = await self.connection.read()
        except FAILURES as error:
            raise self._engine.failure(error) from error
        if not block:
            raise StopAsyncIteration
        return block

    async def run(self, take: Take[bytes], shortcut: Shortcut | None = None) -> None:
        """Give everything to `take`; see Reads. There is no text here yet."""
        del shortcut
        try:
            await self.connection.run(take)
        except FAILURES as error:
            raise self._engine.failure(error) from error


def without_password(url: str) -> str:
    """An address without the name and password that may stand in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


def refusal(status: int, complaint: bytes, url: str, *, headers: Mapping[str, str]) -> GatewayError:
    """The error that an engine's own error answer becomes. The names in `headers` are found in any case."""
    message = complaint_text(complaint) or f"status {status} without a message"
    if status == 429:
        return BackendBusy(f"The engine takes no more requests now: {message}", retry_after=retry_after(headers))
    if status == 400 and TOO_LONG.search(message):
        return ContextTooLong(message)
    if status == 503:
        problem = BackendOverloaded(f"The engine at {url} takes no request now: {message}")
        problem.retry_after = retry_after(headers)
        return problem
    if 400 <= status < 500 and status not in CONFIGURED_WRONG:
        return BackendRefused(message, status=status)
    if status >= 500:
        return BackendError(f"The engine at {url} failed: {message}")
    return BackendRefused(f"The engine at {url} answered {status}: {message} (check the model's url, engine_model and api_key)")


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds after which to ask again: of `retry-after-ms`, or `retry-after` (seconds or a date); SOON where neither tells."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value := headers.get(name, "").strip()):
            return float(value) / unit
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return SOON
    return max(0.0, date.timestamp() - time.time())


def complaint_text(body: bytes) -> str:
    """The message of an error body: OpenAI's envelope, FastAPI's `detail`, or the text itself."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace").strip()[:1000]
    return error_text(parsed)


def error_text(parsed: Any) -> str:
    """The message in an error object, whichever way it is nested."""
    while isinstance(parsed, dict):
        parsed = next((parsed[key] for key in ("error", "message", "detail") if parsed.get(key)), "")
    return parsed if isinstance(parsed, str) else json.dumps(parsed, ensure_ascii=False)[:1000]
