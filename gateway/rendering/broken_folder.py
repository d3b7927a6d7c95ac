"""What is wrong with a tokenizer's folder, found in its files: the library that reads them seldom says which one it could not."""

import json
from pathlib import Path

from tokenizers import Tokenizer

TOKENIZER = "tokenizer.json"
_JSON = (TOKENIZER, "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json", "vocab.json")
_OTHER_VOCABULARIES = ("tokenizer.model", "vocab.json", "vocab.txt", "tekken.json", "spiece.model", "tiktoken.model")
_POINTER = "version https://git-lfs"
_AGAIN = "download it again"
MOST_REASON = 300


def fault_of(folder: Path, error: Exception) -> str:
    """The file at fault and the remedy in one line; what the library said where every file looks sound."""
    names = [name for name in _JSON if (folder / name).is_file()]
    texts = [*names, *sorted(path.name for path in folder.glob("*.jinja"))]
    found = next(filter(None, (_fault(folder / name) for name in texts)), None)
    if found is not None:
        return found
    if TOKENIZER not in names:
        if any((folder / name).is_file() for name in _OTHER_VOCABULARIES):
            return f"{TOKENIZER} is missing and could not be made from the other files ({in_one_line(error)})"
        return f"{TOKENIZER} is missing; copy the model's tokenizer files there, or name the folder that holds them"
    return in_one_line(error)


def in_one_line(error: Exception) -> str:
    """What an error of a library says, without its line breaks and not for pages."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= MOST_REASON else text[:MOST_REASON].rstrip() + " ..."


def _fault(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return f"{path.name} is not UTF-8 text (byte {error.start}); {_AGAIN}"
    except OSError as error:
        return f"{path.name} cannot be read ({error.strerror}); let the gateway's user read it"
    if text.startswith(_POINTER):
        return f"{path.name} is a Git LFS pointer instead of the file; run `git lfs pull` in its folder"
    return _fault_in_json(path, text) if path.suffix == ".json" else None


def _fault_in_json(path: Path, text: str) -> str | None:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        what = f"is not JSON (line {error.lineno}, column {error.colno}: {error.msg})" if text.strip() else "is empty"
        return f"{path.name} {what}; {_AGAIN}"
    if not isinstance(value, dict):
        return f"{path.name} is not a JSON object; {_AGAIN}"
    if path.name != TOKENIZER:
        return None
    try:
        Tokenizer.from_str(text)
    except Exception as error:  # the library raises no other class
        return f"{path.name} describes no tokenizer ({in_one_line(error)}); {_AGAIN}"
    return None
