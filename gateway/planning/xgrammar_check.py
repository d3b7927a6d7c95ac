"""xgrammar's grammar builder without torch: says before the engine does why a structural tag cannot be built."""

import importlib
import importlib.util
import re
import sys
import threading
import types
from functools import lru_cache
from typing import Any

MODULE = "xgrammar"


_importing = threading.Lock()  # plans are made in threads, and a half-imported package looks like a broken one


def _grammar_class() -> Any | None:
    with _importing:
        return _imported()


@lru_cache(maxsize=1)
def _imported() -> Any | None:
    """xgrammar's Grammar, None when it is not installed. Its package imports torch, which building a grammar never needs."""
    if MODULE in sys.modules and hasattr(sys.modules[MODULE], "Grammar"):
        return sys.modules[MODULE].Grammar
    spec = importlib.util.find_spec(MODULE)
    if spec is None or spec.submodule_search_locations is None:
        return None
    if importlib.util.find_spec("torch") is None and MODULE not in sys.modules:
        package = types.ModuleType(MODULE)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[MODULE] = package
    try:
        importlib.import_module(f"{MODULE}.load_binding")
        return importlib.import_module(f"{MODULE}.grammar").Grammar
    except ImportError:
        return None


def available() -> bool:
    """Whether xgrammar is installed."""
    return _grammar_class() is not None


def problem_of_tag_text(text: str) -> str | None:
    """Why xgrammar refuses a structural tag, given as JSON text; None when it does not."""
    return _refusal("from_structural_tag", text)


def problem_of_schema_text(text: str) -> str | None:
    """Why xgrammar refuses a JSON Schema, given as JSON text; None when it does not."""
    return _refusal("from_json_schema", text)


def _refusal(builder: str, text: str) -> str | None:
    try:
        getattr(_grammar_class(), builder)(text)
    except (RuntimeError, ValueError, TypeError) as error:
        # "[10:08:25] /project/cpp/json_schema_converter.cc:4944: Unsupported type ..." -> the author's part only
        return re.sub(r"^\[[\d:]+\] \S+: ", "", str(error).strip()) or "it cannot be compiled"
    return None


def tag_accepts(tag: str, text: str) -> bool | None:
    """Whether decoding held to a structural tag, given as JSON text, could write this text; None where that cannot be told."""
    if not available():
        return None
    try:
        core = importlib.import_module(f"{MODULE}.base")._core
        matcher = core.GrammarMatcher(_byte_compiler().compile_structural_tag(tag), None, False, 0, None)
        return bool(matcher.accept_string(text, False)) and bool(matcher.is_completed())
    except (RuntimeError, ValueError, TypeError, AttributeError, ImportError):
        return None


@lru_cache(maxsize=1)
def _byte_compiler() -> Any:
    """A compiler for a vocabulary of single bytes, which accepts what any vocabulary could spell.

    It is made of xgrammar's own parts: the classes around them import transformers, which takes seconds.
    """
    core = importlib.import_module(f"{MODULE}.base")._core
    vocabulary = core.TokenizerInfo([*(bytes([i]) for i in range(256)), b"<stop>"], 0, None, [256], False)
    return core.GrammarCompiler(vocabulary, 1, False, -1)
