"""vLLM: raw turns from `/v1/completions`, special tokens kept, constraints as structured outputs."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any

from gateway.chat.events import Piece
from gateway.chat.flow import Reads
from gateway.chat.json_text import canonical
from gateway.chat.plan import Constraint, Dialect, Plan
from gateway.errors import BackendError, BackendGarbled, ContextTooLong
from gateway.middleware.caller import cache_salt

from .base import EngineFacts, Finding
from .completions import CompletionsReader, body_of
from .examination import examined
from .http import EngineHttp, Streamed, Timeouts
from .piece_reads import PieceReads
from .watched import Watched

GENERATE = "/v1/completions"
GREEDY = 1e-5
"""Temperatures below this are 0 to vLLM."""


class VllmBackend:
    """One vLLM server. `model` is the name it serves; None = the first one it lists. `broke_off` is called when an answer breaks
    off that had begun."""

    name = "vllm"
    takes_token_ids = True
    dialect: Dialect | None = "structural_tag"

    def __init__(
        self, *, url: str, model: str | None = None, api_key: str | None = None, timeouts: Timeouts | None = None
    ) -> None:
        self._http = EngineHttp(url, api_key=api_key, timeouts=timeouts)
        self.place = self._http.place
        self.model = model
        self.broke_off: Callable[[], None] = _nothing
        self.shares_prefixes = False
        """Whether prompts of different API keys may share what the engine has cached."""
        self._facts: EngineFacts | None = None

    def stream(self, plan: Plan) -> AbstractAsyncContextManager[Reads[list[Piece]]]:
        """Generate; see Backend."""
        return _Generation(self, plan)

    async def ask(self, plan: Plan) -> Streamed:
        """The engine's answer to a plan, which may now be entered."""
        return self._http.stream(GENERATE, canonical(await self._body(plan)).encode())

    def forget(self) -> None:
        """The engine has failed: it may be back as another one."""
        self._facts = None

    async def facts(self) -> EngineFacts:
        """What `/v1/models` and `/version` say, asked anew each time."""
        listed = await self._http.json("GET", "/v1/models")
        entry = _served(listed, self.model)
        try:
            version = (await self._http.json("GET", "/version")).get("version")
        except (BackendError, AttributeError):
            version = None  # a proxy in front of vLLM may not pass it on
        names = tuple(str(each.get("id")) for each in listed["data"])
        self._facts = EngineFacts("vllm", entry.get("id"), entry.get("max_model_len"), version, entry.get("root"), names)
        return self._facts

    async def examine(self) -> tuple[Finding, ...]:
        """Whether it keeps constraints; see examination."""
        return await examined(self._http, self.model or await self._first_model())

    def hang_up_silent(self) -> int:
        """End the answers of which nothing has come since this was last called; how many there were."""
        return self._http.hang_up_silent()

    @asynccontextmanager
    async def forward(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[Reads[bytes]]:
        """vLLM's own answer; see Forwards."""
        async with self._http.stream(path, json.dumps(body).encode()) as blocks:
            yield Watched(blocks, self.broke_off)

    async def count_tokens(self, text: str) -> int:
        """What `/tokenize` says; the text has its special tokens already."""
        question = {"model": self.model or await self._first_model(), "prompt": text, "add_special_tokens": False}
        answer = await self._http.json("POST", "/tokenize", question)
        try:
            return int(answer["count"])
        except (TypeError, KeyError, ValueError):
            raise BackendGarbled(f"The engine at {self.place} does not tell how many tokens a text has.") from None

    async def healthy(self) -> bool:
        """Whether `/health` says so."""
        return await self._http.answers("/health")

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()

    async def _body(self, plan: Plan) -> dict[str, Any]:
        body = body_of(plan, model=self.model or await self._first_model())
        body["n"] = 1 if is_greedy(plan) else plan.sampling.n
        body["skip_special_tokens"] = False
        body["spaces_between_special_tokens"] = False
        if plan.prompt.token_ids is None:
            body["add_special_tokens"] = False  # the rendered text has its own
        if not self.shares_prefixes and (salt := cache_salt(body.get("cache_salt"))):
            body["cache_salt"] = salt
        if plan.constraint is not None:
            body["structured_outputs"] = structured_outputs(plan.constraint)
        if plan.sampling.max_tokens is None and (room := await self._room(plan)) is not None:
            body["max_tokens"] = room  # left out, this endpoint would stop after 16
        return body

    async def _first_model(self) -> str:
        facts = self._facts or await self.facts()
        if facts.model is None:
            raise BackendGarbled(f"The engine at {self.place} lists no model; set engine_model.")
        return facts.model

    async def _room(self, plan: Plan) -> int | None:
        """How many tokens fit behind the prompt."""
        limit = (self._facts or await self.facts()).max_model_len
        if limit is None:
            return None
        prompt = await self._length(plan)
        if prompt >= limit:
            raise ContextTooLong.of(prompt, limit)
        return limit - prompt

    async def _length(self, plan: Plan) -> int:
        ids = plan.prompt.token_ids
        return await self.count_tokens(plan.prompt.text) if ids is None else len(ids)


class _Generation(AbstractAsyncContextManager[Reads[list[Piece]]]):
    """What one engine makes of one plan."""

    def __init__(self, backend: VllmBackend, plan: Plan) -> None:
        self._backend = backend
        self._plan = plan
        self._answer: Streamed
        self._reads: PieceReads

    async def __aenter__(self) -> Reads[list[Piece]]:
        try:
            self._answer = await self._backend.ask(self._plan)
            blocks = await self._answer.__aenter__()
        except BackendError:
            self._backend.forget()
            raise
        sampling = self._plan.sampling
        copies = sampling.n if is_greedy(self._plan) else 1
        reader = CompletionsReader(choices=sampling.n // copies, top_logprobs=sampling.top_logprobs)
        self._reads = PieceReads(blocks, reader, copies=copies, broke_off=self._backend.broke_off)
        return self._reads

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, BackendError):
            self._backend.forget()
        try:
            if kind is None:
                await self._reads.exhaust()
        finally:
            await self._answer.__aexit__(kind, error, trace)


def _nothing() -> None:
    """Nobody wants to know."""


def is_greedy(plan: Plan) -> bool:
    """Whether sampling leaves nothing to chance. vLLM then refuses n > 1, so one choice is asked for and given n times."""
    return plan.sampling.temperature is not None and plan.sampling.temperature < GREEDY


def _served(listed: Any, model: str | None) -> Mapping[str, Any]:
    """The entry of a model (or of the first) in the answer of `/v1/models`."""
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BackendGarbled("The engine's list of models cannot be read.")
    wanted = [entry for entry in entries if model is None or entry.get("id") == model]
    return wanted[0] if wanted else {"id": model}


def structured_outputs(constraint: Constraint) -> dict[str, Any]:
    """vLLM's own shape of a constraint. A structural tag goes as JSON text; an object there is refused."""
    match constraint.kind:
        case "structural_tag":
            return {"structural_tag": canonical(constraint.value)}
        case "json_schema":
            return {"json": constraint.value}
        case "json_object":
            return {"json_object": True}
        case "lark":
            return {"grammar": constraint.value}
