"""One YAML file and TOOLWIRE_* variables -> settings. Everything wrong is refused with its path and the remedy."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from gateway.errors import SettingsError

from .model import BACKENDS, Settings
from .section import nearest

PREFIX = "TOOLWIRE_"
DEFAULT_FILE = "toolwire.yaml"
SECRETS = ("api_key", "url", "urls")
"""Keys whose values may hold a password, and are not repeated to anybody."""
log = logging.getLogger(__name__)


def load(
    file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    changes: Mapping[str, Any] | None = None,
) -> Settings:
    """Settings from a file (given, else $TOOLWIRE_CONFIG, else ./toolwire.yaml if there), the environment and `changes`
    (`{"server.port": 9000}`), each winning over the ones before. SettingsError tells everything that is wrong."""
    env = os.environ if environment is None else environment
    path = _file(file or env.get(PREFIX + "CONFIG"))
    raw = _read(path) if path else {}
    _overlay(raw, env)
    for key, value in (changes or {}).items():
        _put(raw, key.split("."), value=value, source=f"--{key.rpartition('.')[2]}")
    return _validated(raw, path)


def _file(wanted: str | Path | None) -> Path | None:
    if wanted is None:
        return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None
    if not Path(wanted).is_file():
        raise SettingsError(f"{wanted}: no such file; name the configuration file with --config or {PREFIX}CONFIG")
    return Path(wanted)


def _read(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SettingsError(f"{path}: not readable as YAML: {' '.join(str(error).split())}") from error
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise SettingsError(f"{path}: expected keys such as 'server' and 'models' at the top, got {type(raw).__name__}")
    return raw


def _overlay(raw: dict[str, Any], env: Mapping[str, str]) -> None:
    """Put TOOLWIRE_SECTION__KEY values in their places; list entries by number: TOOLWIRE_MODELS__0__NAME."""
    for variable in sorted(env):
        path = variable.removeprefix(PREFIX).lower().split("__")
        if not variable.startswith(PREFIX) or (len(path) == 1 and path[0] not in Settings.model_fields):
            _warn_of_single_underscore(variable)
            continue
        _put(raw, path, value=_value(env[variable], variable), source=variable)


def _warn_of_single_underscore(variable: str) -> None:
    for section, field in Settings.model_fields.items():
        known = field.annotation.model_fields if isinstance(field.annotation, type) else ()
        for key in known:
            if variable == f"{PREFIX}{section}_{key}".upper():
                log.warning("%s has no effect; did you mean %s?", variable, f"{PREFIX}{section}__{key}".upper())


def _value(text: str, variable: str) -> Any:
    """Lists, objects and null as YAML; any other text as it is (the field's type decides what it means)."""
    if text[:1] not in ("[", "{") and text != "null":
        return text
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise SettingsError(f"{variable}: not readable as YAML: {' '.join(str(error).split())}") from error


def _put(raw: dict[str, Any], path: list[str], *, value: Any, source: str) -> None:
    node: Any = raw
    for step, following in zip(path, [*path[1:], None], strict=True):
        key: Any = step
        if isinstance(node, list):
            if not step.isdigit() or int(step) > len(node):
                raise SettingsError(f"{source}: '{step}' is no entry; the next free number is {len(node)}")
            key = int(step)
            node.extend([None] * (key + 1 - len(node)))
        elif not isinstance(node, dict):
            raise SettingsError(f"{source}: {'.'.join(path)} is below a plain value")
        else:
            node.setdefault(key, None)
        if following is None:
            node[key] = value
        elif node[key] is None:
            node[key] = [] if following.isdigit() else {}
        node = node[key]


def _validated(raw: dict[str, Any], path: Path | None) -> Settings:
    try:
        return Settings.model_validate(raw, context={"folder": path.parent if path else None})
    except ValidationError as error:
        source = str(path) if path else "settings"
        raise SettingsError("\n".join(f"{source}: {_line(e)}" for e in error.errors(include_url=False))) from None


def _line(error: Any) -> str:
    """One problem: where, what was expected, what was found."""
    place = _place(error["loc"])
    text = str(error["msg"]).replace("Input should be", "expected")
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tags = BACKENDS
        given = error["input"].get("backend") if isinstance(error["input"], dict) else None
        hint = f"unknown backend '{given}'; {nearest(str(given), tags) or ''}".rstrip("; ") if given else "add a backend"
        return f"{place}.backend: {hint} (one of {', '.join(tags)})"
    if error["type"] == "missing":
        return f"{place}: this key is required"
    if error["type"] == "unknown_key":
        key, hint = error["ctx"]["key"], error["ctx"]["hint"]
        return f"{place}.{key}: unknown key; {hint}".lstrip(".")
    if error["type"] in ("urls", "store_url", "duplicate_name", "no_models", "auth"):
        return f"{place}: {text}" if place else text
    if error["loc"] and error["loc"][-1] in SECRETS:
        return f"{place}: {text}"
    return f"{place}: {text}, got {_short(error['input'])}"


def _place(loc: tuple[str | int, ...]) -> str:
    """`models[0].urls` from pydantic's location, without the union's own step."""
    text = ""
    for before, step in zip((None, *loc), loc, strict=False):
        if isinstance(before, int) and step in BACKENDS:
            continue
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
