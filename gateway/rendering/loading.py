"""Finds a model's chat template and vocabulary: in a tokenizer folder or on the hub, in a file, or among our own."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chat_templates
from gateway.errors import SettingsError

from .broken_folder import fault_of, in_one_line
from .sharing import Shared
from .tokens import EngineTokens, PromptEncoder

OURS = "toolwire/"


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Vocabulary:
    """What a template and a prompt need of the tokenizer.

    `special`: texts by variable name (`bos_token`, `eos_token` ...). `adds_bos`: whether the model always expects the bos
    token first. `tokenizer_json`: the fast tokenizer's description; None where the engine tokenizes, which then may say by
    `engine_tokens` how. `templates`: the tokenizer's own chat templates by name.
    """

    special: Mapping[str, str] = field(default_factory=dict)
    adds_bos: bool = False
    tokenizer_json: str | None = None
    engine_tokens: EngineTokens | None = None
    templates: Mapping[str, str] = field(default_factory=dict)


_tokenizers: Shared[Vocabulary] = Shared()


def encoder_of(vocabulary: Vocabulary, *, literals: str) -> PromptEncoder | None:
    """What makes token ids of prompts; None where only the engine can. `literals`: the template's own text."""
    if vocabulary.tokenizer_json is not None:
        return PromptEncoder.of_tokenizer(vocabulary.tokenizer_json, literals=literals)
    if vocabulary.engine_tokens is not None:
        return PromptEncoder.of_engine(vocabulary.engine_tokens, literals=literals)
    return None


def load(tokenizer: str | None, chat_template: str | None) -> tuple[dict[str, str], Vocabulary]:
    """Templates by name and the vocabulary. SettingsError says what is missing and what to set instead."""
    vocabulary = Vocabulary(special=dict.fromkeys(("bos_token", "eos_token"), ""))  # templates may join them to other text
    if tokenizer is not None:
        vocabulary = _tokenizers.of((tokenizer, _stamp(tokenizer)), lambda: _from_tokenizer(tokenizer))
    if chat_template is not None:
        return {"default": template_text(chat_template)}, vocabulary
    if not vocabulary.templates:
        source = (
            f"The tokenizer {tokenizer!r} has no chat template" if tokenizer else "Neither a tokenizer nor a chat template is set"
        )
        raise SettingsError(f"{source}; set `chat_template` to a file or to one of: {_our_names()}.")
    return dict(vocabulary.templates), vocabulary


def template_text(chat_template: str) -> str:
    """The source that a `chat_template` setting names: a path, or `toolwire/<name>` for one of ours."""
    if chat_template.startswith(OURS):
        try:
            return chat_templates.load(chat_template.removeprefix(OURS))
        except chat_templates.UnknownTemplate as error:
            raise SettingsError(f"chat_template {chat_template!r} is not one of: {_our_names()}.") from error
    try:
        return Path(chat_template).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The chat template {chat_template!r} cannot be read: {error}") from error


def _our_names() -> str:
    return ", ".join(OURS + name for name in chat_templates.names())


def _stamp(source: str) -> tuple[object, ...]:
    """What changes when a file of a tokenizer's folder does."""
    files = ((path.name, path.stat()) for path in Path(source).expanduser().glob("*") if path.is_file())
    return tuple(sorted((name, found.st_mtime_ns, found.st_size) for name, found in files))


def _from_tokenizer(source: str) -> Vocabulary:
    tokenizer = _auto_tokenizer(source)
    template = tokenizer.chat_template
    templates = dict(template) if isinstance(template, Mapping) else {"default": template} if template else {}
    special = {name: str(text) for name, text in tokenizer.special_tokens_map.items() if isinstance(text, str)}
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        logging.getLogger(__name__).warning(
            "%s has no fast tokenizer: prompts are sent as text, control tokens unguarded", source
        )
    return Vocabulary(
        special=special,
        adds_bos=_adds_bos(tokenizer),
        tokenizer_json=backend.to_str() if backend is not None else None,
        templates=templates,
    )


def _auto_tokenizer(source: str) -> Any:
    if source.startswith(("/", ".", "~")):
        source = str(Path(source).expanduser())
        if not Path(source).is_dir():
            raise SettingsError(f"There is no tokenizer folder {source!r}.")
    from transformers import AutoTokenizer  # takes seconds

    try:
        return AutoTokenizer.from_pretrained(source)
    except Exception as error:  # what it raises depends on the file that is broken
        if Path(source).is_dir():
            raise SettingsError(f"The tokenizer {source!r} cannot be loaded: {fault_of(Path(source), error)}.") from error
        raise SettingsError(
            f"The tokenizer {source!r} is no folder here and could not be fetched ({in_one_line(error)}). Set `tokenizer` to a "
            "folder with the model's tokenizer files, or let this machine reach the hub."
        ) from error


def _adds_bos(tokenizer: Any) -> bool:
    ids = tokenizer("a").input_ids
    return bool(ids) and tokenizer.bos_token_id is not None and ids[0] == tokenizer.bos_token_id
