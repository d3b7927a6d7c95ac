"""The options that choose a configuration, for every verb that needs one."""

import argparse
import re
from pathlib import Path
from typing import Any

from gateway.settings import Settings, load


def add_options(parser: argparse.ArgumentParser) -> None:
    """`--config` and `--model`."""
    parser.add_argument("--config", metavar="FILE", help="configuration file (default: toolwire.yaml if there is one)")
    parser.add_argument("--model", metavar="FILE.gguf", help="serve this GGUF file, or hf:OWNER/REPO/FILE, and nothing else")


def read_settings(options: argparse.Namespace) -> Settings:
    """The settings of the file, the environment and the command line, which wins. SettingsError: something in them is wrong."""
    changes: dict[str, Any] = {}
    for key in ("host", "port"):
        if getattr(options, key, None) is not None:
            changes[f"server.{key}"] = getattr(options, key)
    if options.model:
        changes["models"] = [{"name": _name(options.model), "backend": "embedded", "path": _whole(options.model)}]
    return load(options.config, changes=changes)


def _name(path: str) -> str:
    """What clients call a model file: its name without folder and ending."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(path).stem).strip("-._") or "model"


def _whole(path: str) -> str:
    """Seen from here, not from the configuration file's folder."""
    return path if path.startswith("hf:") else str(Path(path).expanduser().absolute())
