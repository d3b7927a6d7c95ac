"""Files of records, one JSON object a line, bounded in size and number. A thread of its own makes and writes the lines."""

import logging
import queue
import threading
from collections.abc import Callable
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from os import O_APPEND, O_CREAT, O_WRONLY, SEEK_END
from os import open as os_open
from pathlib import Path

from gateway.errors import SettingsError

from .metrics import Metrics

NAME = "turns.jsonl"
MOST_HELD = 64 * 1024 * 1024
"""Bytes, about, that may wait to be written; what comes when there are more is dropped."""
PATIENCE = 5.0
"""Seconds that the last records get to be written."""
Line = Callable[[], str | None]
"""Makes one line; None: it would be longer than a record may be."""
log = logging.getLogger(__name__)


class Recorder:
    """Takes records from the event loop, which never waits for it. What could not be written is counted, by reason."""

    def __init__(self, folder: Path, metrics: Metrics, *, file_bytes: int, files: int) -> None:
        self._count = metrics.records
        self._files = _opened(folder, file_bytes, files)
        self._waiting: queue.SimpleQueue[tuple[Line, int] | None] = queue.SimpleQueue()
        self._held = 0
        self._lock = threading.Lock()
        self._broken = False
        self._thread = threading.Thread(target=self._write_all, name="recorder", daemon=True)
        self._thread.start()

    def put(self, line: Line, *, size: int) -> None:
        """Have this line made and written. `size`: bytes that it keeps in memory until then, about."""
        with self._lock:
            busy = self._held > 0 and self._held + size > MOST_HELD
            if not busy:
                self._held += size
        if busy:
            self._count.labels("dropped_busy").inc()
        else:
            self._waiting.put((line, size))

    def close(self) -> None:
        """Write what waits, within some seconds."""
        self._waiting.put(None)
        self._thread.join(PATIENCE)

    def _write_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            line, size = item
            self._count.labels(self._written(line)).inc()
            with self._lock:
                self._held -= size
        self._files.close()

    def _written(self, make: Line) -> str:
        """What became of a record, in one of the metric's words."""
        try:
            line = make()
        except Exception:  # a record that cannot be made must not end the others
            log.exception("a turn could not be recorded")
            return "dropped_fault"
        if line is None:
            return "dropped_large"
        try:
            self._files.emit(logging.makeLogRecord({"msg": line}))
        except OSError as error:
            if not self._broken:
                log.error("turns cannot be recorded now: %s: %s", self._files.baseFilename, error.strerror or error)
            self._broken = True
            return "dropped_disk"
        self._broken = False
        return "written"


class _Files(RotatingFileHandler):
    """For the owner's eyes only; tells what goes wrong instead of printing it."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="ascii", opener=_private)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        raise  # noqa: PLE0704 - called where the error is being handled


def _private(path: str, _: int) -> int:
    return os_open(path, O_APPEND | O_CREAT | O_WRONLY, 0o600)


def _opened(folder: Path, file_bytes: int, files: int) -> _Files:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _end_last_line(folder / NAME)
        return _Files(folder / NAME, maxBytes=file_bytes, backupCount=files - 1)
    except OSError as error:
        reason = f"{error.strerror or error}; name another folder, or set recorder: off in the models' entries"
        raise SettingsError(f"recordings.folder: {folder}: {reason}") from None


def _end_last_line(file: Path) -> None:
    """What is written next begins a line, also behind one that was cut short when its gateway was killed."""
    if not file.exists() or not file.stat().st_size:
        return
    with file.open("r+b") as opened:
        opened.seek(-1, SEEK_END)
        if opened.read(1) != b"\n":
            opened.write(b"\n")
