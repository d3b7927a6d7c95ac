"""From a model's entry in the configuration to what serves it: an engine, a renderer, a format."""

import asyncio
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import parsers
from gateway.backends import gguf
from gateway.backends.base import Backend, EngineFacts
from gateway.backends.embedded import EmbeddedBackend
from gateway.backends.http import without_password
from gateway.backends.models import located
from gateway.backends.replay import ReplayBackend
from gateway.checking import Check, Report, Sends, Status, Subject, broken, check, format_of
from gateway.errors import BackendError, SettingsError
from gateway.planning.catalog import ModelSpec
from gateway.rendering import Renderer, Vocabulary
from gateway.rendering.loading import load, template_text
from gateway.rendering.tokens import EngineTokens
from gateway.settings import AnyModel, EmbeddedModel, ReplayModel, VllmModel
from gateway.telemetry.metrics import Metrics
from parsers import Format, UnknownFormat

from .pools import open_pool, replica_checks

DEFAULT_TEMPLATE = "toolwire/hermes"
"""The template of the model that comes with the gateway, whose own knows no tools, and of replayed turns without one."""
log = logging.getLogger(__name__)
MOST_THREADS = 8
"""More do not make generation faster: it waits for memory."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """A served model, and what a person wants to know of how it is served."""

    spec: ModelSpec
    engine: str
    where: str
    template: str


async def open_backend(model: AnyModel, metrics: Metrics, *, quiet: bool = False) -> Backend:
    """The engine, not yet asked anything; `quiet` until it takes the place of the model's other one. SettingsError: the entry is
    wrong."""
    match model:
        case VllmModel():
            return open_pool(model, metrics, quiet=quiet)
        case EmbeddedModel():
            return await asyncio.to_thread(_embedded, model)
        case ReplayModel():
            return ReplayBackend(Path(model.turns))


def _embedded(model: EmbeddedModel) -> Backend:
    threads = model.threads or max(1, min(_processors() - 1, MOST_THREADS))
    return EmbeddedBackend(located(model.path), context=model.context, threads=threads, parallel=model.parallel)


def _processors() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2


async def assemble(model: AnyModel, backend: Backend, *, created: int) -> Assembled:
    """The served model. BackendUnavailable: the engine cannot be asked yet. SettingsError: the entry is wrong."""
    facts = await backend.facts()
    renderer, template = await asyncio.to_thread(renderer_of, model, facts, backend)
    fmt, verdict = await asyncio.to_thread(_checked, model, _subject(model, renderer, template, backend))
    contexts = [limit for limit in (model.context, facts.max_model_len) if limit is not None]
    spec = ModelSpec(
        name=model.name,
        aliases=model.aliases,
        format=fmt,
        renderer=renderer,
        backend=backend,
        engine_model=facts.model or model.name,
        context=min(contexts, default=None),
        max_tokens=model.max_tokens,
        strict=model.strict,
        strict_policy=model.strict_policy,
        required_fallback=model.required_fallback,
        parallel_calls=model.parallel_calls,
        sampling=model.sampling,
        renders_tools=renderer.capabilities.tools,
        created=created,
        template_check=verdict,
        strict_history=model.strict_history,
        wire=model.wire,
        recorder=model.recorder,
        guards=model.guards,
    )
    return Assembled(spec, " ".join(filter(None, (facts.engine, facts.version))), _where(model), template)


def renderer_of(model: AnyModel, facts: EngineFacts | None = None, backend: Backend | None = None) -> tuple[Renderer, str]:
    """A model's renderer, and the name of its template for people. `facts`: what the engine said, where it was asked."""
    templates, vocabulary, name = sources_of(model, facts, backend)
    return Renderer(templates, vocabulary), name


def sources_of(
    model: AnyModel, facts: EngineFacts | None = None, backend: Backend | None = None
) -> tuple[Mapping[str, str], Vocabulary, str]:
    """A model's templates by name, its vocabulary, and the name of its template for people."""
    if isinstance(model, EmbeddedModel) and model.tokenizer is None:
        return _of_gguf(model, backend)
    template, tokenizer = model.chat_template, model.tokenizer
    if isinstance(model, ReplayModel) and template is None and tokenizer is None:
        template = DEFAULT_TEMPLATE if _needs_stand_in(model) else _ours_for(configured_format(model))
    if isinstance(model, VllmModel) and tokenizer is None:
        tokenizer = (facts.root or facts.model) if facts else None
        if tokenizer is None:
            raise SettingsError("set tokenizer to the model's folder or hub id; its engine does not tell")
    return *load(tokenizer, template), template or f"of {tokenizer}"


def _of_gguf(model: EmbeddedModel, backend: Backend | None) -> tuple[Mapping[str, str], Vocabulary, str]:
    """The file's own template, unless the entry names another; the engine tokenizes."""
    file = gguf.read(located(model.path))
    template = model.chat_template or (DEFAULT_TEMPLATE if model.path is None else None)
    if template is None and file.chat_template is None:
        raise SettingsError("the GGUF file has no chat template; set chat_template to one of ours or a file")
    special = {f"{name}_token": text for name, text in (("bos", file.bos), ("eos", file.eos)) if text is not None}
    source = file.chat_template or "" if template is None else template_text(template)
    tokens = EngineTokens(file.control, file.added, backend.encode) if isinstance(backend, EmbeddedBackend) else None
    return {"default": source}, Vocabulary(special, file.adds_bos, engine_tokens=tokens), template or "of the file"


def _subject(model: AnyModel, renderer: Renderer, template: str, backend: Backend | None = None) -> Subject:
    sends: Sends | None = None
    if not isinstance(model, ReplayModel) and backend is not None:
        sends = "ids" if backend.takes_token_ids else "text"
    configured = None if model.parser == "auto" else configured_format(model)
    return Subject(template, renderer, configured, backend.dialect if backend else None, sends)


def _checked(model: AnyModel, subject: Subject) -> tuple[Format, Status | None]:
    """The model's format, and the verdict on its template. SettingsError: it cannot be served, or the entry forbids it."""
    if model.template_check == "off" or _needs_stand_in(model):
        return _format(format_of(subject), None), None
    report = check(subject, thorough=False)
    refusal = report.refusal
    if refusal is not None and model.template_check == "fail":
        fmt = _format(None if report.format is None else parsers.get(report.format), report)
        raise SettingsError(
            f"its chat template ({subject.name}) and its parser ({fmt.name}) do not fit, {refusal.id}: {refusal.message} "
            f"{refusal.remedy} Serve it all the same with template_check: warn."
        )
    for found in report.checks:
        if found.status != "pass":
            log.warning("model %s, chat template %s: %s %s", model.name, subject.name, found.id, found.message)
    return _format(None if report.format is None else parsers.get(report.format), report), report.verdict


def _format(fmt: Format | None, report: Report | None) -> Format:
    if fmt is not None:
        return fmt
    why = next((f". {found.message} {found.remedy}" for found in report.checks if found.id == "P050"), "") if report else ""
    raise SettingsError(
        f"no tool-call format fits its chat template; set parser to one of {', '.join(parsers.names())}, "
        f"or chat_template to one that shows tools{why}"
    )


async def check_entry(model: AnyModel) -> Report:
    """The whole check of a model's entry: its template, and its engines where they can be reached."""
    if _needs_stand_in(model):
        _ours_for(configured_format(model))  # there is nothing to check, which this says
    facts, engines = await _asked(model) if isinstance(model, VllmModel) else (None, ())
    templates, vocabulary, template = await asyncio.to_thread(sources_of, model, facts)
    unusable = next(filter(None, (broken(template, text) for text in templates.values())), None)
    report = unusable
    if report is None:
        report = await asyncio.to_thread(check, _subject(model, Renderer(templates, vocabulary), template))
    return replace(report, checks=(*report.checks, *engines))


async def _asked(model: VllmModel) -> tuple[EngineFacts | None, tuple[Check, ...]]:
    """What the engines say, and what is found at them. An entry that names a tokenizer does not need them."""
    pool = open_pool(model, Metrics())
    try:
        return await pool.facts(), tuple(replica_checks(pool.replicas()))
    except BackendError:
        if model.tokenizer is None:
            raise
        return None, tuple(replica_checks(pool.replicas()))
    finally:
        await pool.close()


def _needs_stand_in(model: AnyModel) -> bool:
    """Whether turns are replayed for whose format no template is at hand: no model sees the prompt, so that any will do."""
    at_hand = model.chat_template or model.tokenizer
    return isinstance(model, ReplayModel) and not at_hand and configured_format(model).template is None


def _ours_for(fmt: Format) -> str:
    if fmt.template is None:
        raise SettingsError(f"set chat_template; there is none of ours for {fmt.name}")
    return f"toolwire/{fmt.template.removesuffix('.jinja')}"


def configured_format(model: AnyModel) -> Format:
    """The format that an entry names."""
    if model.parser == "auto":
        raise SettingsError("set parser: nothing else tells in which format the turns are written")
    try:
        return parsers.get(model.parser)
    except UnknownFormat as error:
        raise SettingsError(f"parser: {error}") from None


def _where(model: AnyModel) -> str:
    match model:
        case VllmModel():
            return ", ".join(map(without_password, model.urls))
        case EmbeddedModel():
            return model.path or "SmolLM2-135M-Instruct (built in)"
        case ReplayModel():
            return model.turns
