"""The model families that an engine of this suite is made to speak as, and the configuration entries for that."""

from pathlib import Path
from typing import Any

import chat_templates
import parsers
from tests.e2e.vllm import install


def template(family: str) -> str | None:
    """The name of our template of this family, None when it has none."""
    file = parsers.get(family).template
    stem = Path(file).stem if file else None
    return stem if stem in chat_templates.names() else None


def spoken() -> list[str]:
    """The formats that one of our templates shows tools in: any model can be made to speak them."""
    return [name for name in parsers.names() if template(name)]


def entry(model: str, url: str, family: str) -> dict[str, Any]:
    """A configuration entry: this engine's model, spoken to as if it were one of that family."""
    return {
        "name": f"{model}-{family}",
        "backend": "vllm",
        "urls": [url],
        "tokenizer": str(install.model_folder(model)),
        "chat_template": f"toolwire/{template(family)}",
        "parser": family,
    }
