"""Asks the official renderers of models whose prompts are made by code, not by a chat template.

Their libraries live in a virtual environment of their own, in the cache folder, made when it is first asked for. gpt-oss' library
wants its vocabulary in tiktoken's form, which is made from the tokenizer that npm has.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support import tokenizers

REQUIREMENTS = ("mistral-common[sentencepiece]==1.13.1", "openai-harmony==0.0.8")
RENDERERS = Path(__file__).with_name("official_renderers.py")


def asked(requests: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Their answers in order: each has `prompt`, or `error` where the code refuses the conversation."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    environment = {**os.environ, "TIKTOKEN_ENCODINGS_BASE": str(vocabulary().parent)}
    done = subprocess.run(
        [python(), RENDERERS], input=lines, env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def python() -> Path:
    """The interpreter that has the libraries."""
    home = tokenizers.cache() / f"official-{hashlib.sha256(' '.join(REQUIREMENTS).encode()).hexdigest()[:12]}"
    found = home / "bin" / "python"
    if not found.exists():
        work = home.with_name(f"{home.name}.{os.getpid()}")
        subprocess.run([sys.executable, "-m", "venv", work], check=True)
        pip = [work / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(work, ignore_errors=True)
            pytest.skip(f"the official renderers cannot be fetched: {done.stderr.strip()[-200:]}")
        work.rename(home)
    return found


def vocabulary() -> Path:
    """gpt-oss' vocabulary: a line for each token, its bytes in base64 and its rank."""
    path = tokenizers.cache() / "tiktoken" / "o200k_base.tiktoken"
    if not path.exists():
        described = json.loads((tokenizers.folder("gptoss") / "tokenizer.json").read_text(encoding="utf-8"))
        letters = _bytes_of_letters()
        ranked = sorted(described["model"]["vocab"].items(), key=lambda entry: entry[1])
        lines = (f"{base64.b64encode(bytes(letters[c] for c in token)).decode()} {rank}\n" for token, rank in ranked)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="ascii")
    return path


def _bytes_of_letters() -> dict[str, int]:
    """Byte-level vocabularies spell each byte as a letter: printable ones as themselves, the others from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + at): byte for at, byte in enumerate(others)}
