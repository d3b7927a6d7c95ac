"""The model of noise over the families' vocabulary, made on the spot once vLLM is installed."""

import hashlib
import shutil
from pathlib import Path

from tests.e2e.scale import vocabulary
from tests.e2e.vllm import install

NAME = "noise"


def folder() -> Path:
    """The model's folder; it is made anew when the families' markers have changed."""
    target = install.model_folder(NAME)
    markers = "\0".join(text for family in vocabulary.FAMILIES for text in vocabulary.framing(family))
    stamp = hashlib.sha256((install.fingerprint() + markers).encode()).hexdigest()
    marker = target / "made-for"
    if not marker.exists() or marker.read_text() != stamp:
        _make(target)
        marker.write_text(stamp)
    return target


def _make(target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    extended = target.with_name(f"{NAME}-tokenizer")
    vocabulary.extend(install.model_folder("random"), extended)
    install.run(install.engine_python(), install.HERE / "models.py", "random", extended, target)
    shutil.rmtree(extended)
