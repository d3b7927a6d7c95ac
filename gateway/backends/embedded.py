"""llama.cpp inside this process (through xllamacpp): serves a GGUF file without a server, a compiler or a GPU."""

import asyncio
import http.client
import json
import logging
import os
import secrets
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from gateway.chat.events import Piece, Usage
from gateway.chat.flow import Pulled, Reads
from gateway.chat.plan import Dialect, Plan
from gateway.errors import BackendGarbled, BackendUnavailable, SettingsError

from . import gguf
from .base import EngineFacts
from .bridge import Bridge, Slots, Start
from .guidance import can_hold
from .http import EngineHttp
from .llama import TurnReader, bodies, total

LARGEST_DEFAULT_CONTEXT = 8192
BATCH = 64
"""Prompt tokens per step. Between steps a request can be cancelled; larger steps are no faster on CPUs."""
PATIENCE = 30.0
"""Seconds that the engine gets to tokenize."""
PROMPT_CACHE_MIB = 256
"""How much memory the prompts of finished requests may keep for the next ones."""
log = logging.getLogger(__name__)


class _Job:
    """One request on its way: chunks of its choices come through `bridge`, None when a choice's thread has ended."""

    def __init__(self) -> None:
        self.bridge: Bridge[tuple[int, dict[str, Any] | None]] = Bridge()
        self.cancelled = False


class EmbeddedBackend:
    """One model in memory. The constructor loads it (seconds for large files); SettingsError when that cannot be done.

    `context`: tokens of prompt and answer per request; default: the model's own, 8192 at most. `parallel`: requests generated
    at once, each with its own context memory; more wait. `threads`: of the engine, which spins: never more than free cores.
    """

    name = "embedded"
    takes_token_ids = True

    def __init__(self, path: Path, *, context: int | None = None, threads: int = 2, parallel: int = 4) -> None:
        self.model = gguf.read(path)
        self.dialect: Dialect | None = "lark" if can_hold(self.model.tokens) else None
        if self.dialect is None:
            log.warning(
                "%s: with %d tokens its vocabulary has a size that llguidance cannot hold to a grammar, so calls and answers"
                " are checked once they are written; add a token to the file to change that",
                path,
                self.model.tokens,
            )
        trained = self.model.context or LARGEST_DEFAULT_CONTEXT
        self._context = min(context or LARGEST_DEFAULT_CONTEXT, trained)
        # The engine opens a port of its own on 127.0.0.1, which nobody shall use past the gateway.
        key = secrets.token_urlsafe(32)
        threads = min(threads, os.cpu_count() or 1)
        self._server: Any = _load(path, context=self._context, threads=threads, parallel=parallel, key=key)
        self._url: str = self._server.listening_address
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._http = EngineHttp(self._url, api_key=key)
        self._threads = ThreadPoolExecutor(parallel, thread_name_prefix="llama")
        self._slots = Slots(parallel)
        self._jobs: set[_Job] = set()

    @asynccontextmanager
    async def stream(self, plan: Plan) -> AsyncGenerator[Reads[list[Piece]]]:
        """Generate; see Backend. Entering waits for a free slot."""
        if self._server is None:
            raise BackendUnavailable("The embedded engine has been closed.")
        job = _Job()
        self._jobs.add(job)
        wanted = bodies(plan, self.model)
        starts = [asyncio.create_task(self._start(job, choice, body)) for choice, body in enumerate(wanted)]
        try:
            reader = _JobReader(plan, self.model.ends)
            first = reader.read(await job.bridge.take())  # the engine has taken it, or this raises
            async with aclosing(_pieces(job, reader, first)) as pieces:
                yield Pulled(pieces)
        finally:
            self._jobs.discard(job)
            job.cancelled = True
            for start in starts:
                start.cancel()

    async def facts(self) -> EngineFacts:
        """What the file says."""
        import xllamacpp

        name = self.model.name or self.model.path.stem
        return EngineFacts("llama.cpp", name, self._context, f"xllamacpp {xllamacpp.__version__}")

    async def count_tokens(self, text: str) -> int:
        """What the engine's own port says."""
        has_bos = bool(self.model.bos) and text.startswith(self.model.bos or "")
        question = {"content": text, "add_special": not has_bos, "parse_special": True}
        return len((await self._http.json("POST", "/tokenize", question))["tokens"])

    def encode(self, text: str) -> list[int]:
        """The ids of a text in which no control token is seen, nothing added. Blocks: for threads."""
        question = json.dumps({"content": text, "add_special": False, "parse_special": False})
        connection = http.client.HTTPConnection(self._url.removeprefix("http://").rstrip("/"), timeout=PATIENCE)
        try:
            connection.request("POST", "/tokenize", question, self._headers)
            return list(json.load(connection.getresponse())["tokens"])
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            raise BackendUnavailable(f"The embedded engine does not tokenize: {error}") from error
        finally:
            connection.close()

    async def healthy(self) -> bool:
        """Until it is closed."""
        return self._server is not None

    async def close(self) -> None:
        """Stop what runs and free the model."""
        server, self._server = self._server, None
        for job in self._jobs:
            job.cancelled = True
            job.bridge.put((0, {"error": {"code": 503, "message": "it has been closed"}}))
        await self._http.close()
        await asyncio.to_thread(self._threads.shutdown)
        del server  # the engine's own thread ends here

    async def _start(self, job: _Job, choice: int, body: dict[str, Any]) -> None:
        """Run one choice in a thread once a slot is free; the slot is free again when the thread has left the engine."""
        await self._slots.acquire()
        if self._server is None:
            self._slots.release()
            return
        asyncio.get_running_loop().run_in_executor(self._threads, self._in_slot, job, choice, body)

    def _in_slot(self, job: _Job, choice: int, body: dict[str, Any]) -> None:
        """In a worker thread, which gives the slot back itself: the event loop may have been closed by then."""
        try:
            self._generate(job, choice, body)
        finally:
            self._slots.release()

    def _generate(self, job: _Job, choice: int, body: dict[str, Any]) -> None:
        """In a worker thread: the engine calls back with each chunk; True ends the generation."""

        def on_chunk(chunk: dict[str, Any]) -> bool:
            start.end()
            return job.cancelled or not job.bridge.put((choice, chunk))

        if job.cancelled:
            return
        start = Start(needed="grammar" in body)
        try:
            self._server.handle_completions(body, on_chunk)
        except Exception as error:  # whatever it is, somebody waits to hear of it
            job.bridge.put((choice, {"error": {"message": str(error) or type(error).__name__}}))
        finally:
            start.end()
        job.bridge.put((choice, None))


class _JobReader:
    """Puts the choices of one request together."""

    def __init__(self, plan: Plan, ends: frozenset[str]) -> None:
        self._turns = [TurnReader(choice, plan.sampling, ends=ends) for choice in range(plan.sampling.n)]
        self._running = len(self._turns)

    @property
    def complete(self) -> bool:
        """Whether every choice has ended."""
        return self._running == 0

    def read(self, chunks: list[tuple[int, dict[str, Any] | None]]) -> list[Piece]:
        """Chunks to pieces, as many as there are."""
        pieces: list[Piece] = []
        for choice, chunk in chunks:
            turn = self._turns[choice]
            if chunk is not None:
                pieces.extend(turn.read(chunk))
            elif not turn.finished:
                raise BackendGarbled("The embedded engine stopped before the answer was complete.")
            else:
                self._running -= 1
        if self.complete:
            pieces.append(Piece(0, "", usage=self._usage()))
        return pieces

    def _usage(self) -> Usage:
        return total([turn.usage for turn in self._turns])


async def _pieces(job: _Job, reader: _JobReader, first: list[Piece]) -> AsyncGenerator[list[Piece]]:
    if first:
        yield first
    while not reader.complete:
        if pieces := reader.read(await job.bridge.take()):
            yield pieces


def _load(path: Path, *, context: int, threads: int, parallel: int, key: str) -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise SettingsError("the embedded engine is not installed; install it: pip install 'toolwire[embedded]'") from None
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context * parallel
    params.n_parallel = parallel
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.special = True  # the format's markers are part of the text
    params.warmup = False
    params.verbosity = 0
    params.api_keys = [key]
    params.endpoint_slots = params.endpoint_props = params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError:
        raise SettingsError(
            f"{path}: llama.cpp cannot load this model (damaged, of an unknown kind, or larger than memory)"
        ) from None
