"""Two traps of a vLLM's set-up that only show in what it generates: a few tokens tell.

Whoever sends the first constrained request chooses, for the server's whole life, what its constraints are compiled with, unless
that was named at its start. The first question here chooses right, so asking it before any user does also disarms the trap.
"""

from typing import Any

from gateway.errors import BackendError, BackendRefused

from .base import Finding
from .http import EngineHttp

GENERATE = "/v1/completions"
WORD = "ok"
TAG = '{"type":"structural_tag","format":{"type":"const_string","value":"ok"}}'
REFUSED_BY_XGRAMMAR = {"type": "string", "pattern": "^a+$", "maxLength": 3}
"""It would forget the length, so vLLM refuses this schema where xgrammar is named, and takes it to another where none is."""
NAME_IT = """Start vLLM with --structured-outputs-config '{"backend":"xgrammar"}'."""
KEPT = Finding("E001", "pass", "Constraints are kept from the first token on.")
NOT_KEPT = Finding(
    "E001",
    "fail",
    "Constraints are not kept: the engine was told to write one word, and wrote another. `required` and `strict` are checked "
    "only once an answer is whole.",
    "Start vLLM without --reasoning-parser, which leaves constraints off until the model has stopped thinking.",
)
NAMED = Finding("E002", "pass", "xgrammar compiles the constraints.")
UNNAMED = Finding(
    "E002", "warn", "What compiles the constraints is not named; the gateway chose xgrammar with the first request.", NAME_IT
)
NO_TAGS = Finding(
    "E002",
    "fail",
    "The engine takes no structural tags: an earlier request has chosen something else than xgrammar to compile constraints, or "
    "it is too old. Requests with `required` or `strict` fail.",
    f"{NAME_IT} One that runs must be started again.",
)


async def examined(http: EngineHttp, model: str) -> tuple[Finding, ...]:
    """What is found at this engine; nothing where it does not generate, or cannot say."""
    try:
        kept = await _kept(http, model)
        if kept is None:
            return ()
        if not kept:
            return (NOT_KEPT,)
        return (KEPT, NAMED if await _refuses(http, model) else UNNAMED)
    except BackendRefused as refusal:
        return (NO_TAGS,) if refusal.status == 400 else ()
    except BackendError as error:
        return (NO_TAGS,) if type(error) is BackendError else ()


async def _kept(http: EngineHttp, model: str) -> bool | None:
    """Whether one word is written that the constraint allows; None when the answer has no text."""
    answer = await _ask(http, model, {"structural_tag": TAG}, tokens=8)
    try:
        return str(answer["choices"][0]["text"]) == WORD
    except (TypeError, KeyError, IndexError):
        return None


async def _refuses(http: EngineHttp, model: str) -> bool:
    try:
        await _ask(http, model, {"json": REFUSED_BY_XGRAMMAR}, tokens=1)
    except BackendRefused:
        return True
    return False


async def _ask(http: EngineHttp, model: str, constraint: dict[str, Any], *, tokens: int) -> Any:
    sampling = {"max_tokens": tokens, "temperature": 0, "skip_special_tokens": False}
    return await http.json("POST", GENERATE, {"model": model, "prompt": "Hello", "structured_outputs": constraint, **sampling})
