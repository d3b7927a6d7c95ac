"""Whether turns are recorded, where, and what must not be in the files."""

from pathlib import Path
from urllib.parse import urlsplit

from gateway.pipeline.recording import Recordings, Redaction
from gateway.settings import Settings, VllmModel
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.recorder import Recorder

from .version import its_version


def open_recorder(settings: Settings, metrics: Metrics) -> Recorder | None:
    """What writes the files; None when no model is recorded. SettingsError: they cannot be written."""
    if all(model.recorder == "off" for model in settings.models):
        return None
    wanted = settings.recordings
    return Recorder(Path(wanted.folder), metrics, file_bytes=wanted.file_bytes, files=wanted.files)


def recordings_for(settings: Settings, recorder: Recorder) -> Recordings:
    """How turns are recorded with these settings. Secrets of the configuration are in no record."""
    engines = [model for model in settings.models if isinstance(model, VllmModel)]
    urls = [settings.store.url or "", *(url for model in engines for url in model.urls)]
    secrets = [*(model.api_key for model in engines), *(urlsplit(url).password for url in urls)]
    redaction = Redaction(settings.recordings.content == "masked", tuple(secret for secret in secrets if secret))
    return Recordings(recorder, settings.recordings.record_bytes, redaction, its_version())
