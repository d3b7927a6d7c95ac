"""Files of records: bounded, private, written behind the event loop's back, and nothing lost without being counted."""

import threading
from pathlib import Path

import pytest

from gateway.errors import SettingsError
from gateway.telemetry import recorder as module
from gateway.telemetry.metrics import Metrics
from gateway.telemetry.recorder import NAME, Recorder


def counted(metrics: Metrics, outcome: str) -> float:
    return metrics.registry.get_sample_value("toolwire_recorder_turns_total", {"outcome": outcome}) or 0.0


def test_files_are_bounded_in_size_and_number_and_for_their_owner(tmp_path: Path) -> None:
    metrics = Metrics()
    recorder = Recorder(tmp_path / "a" / "b", metrics, file_bytes=1000, files=3)
    for number in range(100):
        recorder.put(lambda number=number: f'{{"n":{number:090}}}', size=100)  # type: ignore[misc]
    recorder.close()
    files = sorted((tmp_path / "a" / "b").iterdir())
    assert [file.name for file in files] == [NAME, f"{NAME}.1", f"{NAME}.2"]
    assert all(file.stat().st_size <= 1000 for file in files)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert files[0].read_text().endswith("99}\n"), "the newest are in the first file"
    assert counted(metrics, "written") == 100


def test_what_comes_too_fast_is_dropped_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_HELD", 1000)
    metrics, go = Metrics(), threading.Event()
    recorder = Recorder(tmp_path, metrics, file_bytes=100_000, files=2)

    def slow() -> str:
        go.wait(10)
        return "{}"

    for _ in range(5):
        recorder.put(slow, size=400)
    assert counted(metrics, "dropped_busy") == 3
    go.set()
    recorder.close()
    assert counted(metrics, "written") == 2


def test_what_cannot_be_made_or_is_too_long_is_counted_and_the_rest_goes_on(tmp_path: Path) -> None:
    metrics = Metrics()
    recorder = Recorder(tmp_path, metrics, file_bytes=100_000, files=2)

    def broken() -> str:
        raise KeyError("x")

    recorder.put(broken, size=1)
    recorder.put(lambda: None, size=1)
    recorder.put(lambda: '{"good":1}', size=1)
    recorder.close()
    assert (tmp_path / NAME).read_text() == '{"good":1}\n'
    assert [counted(metrics, outcome) for outcome in ("dropped_fault", "dropped_large", "written")] == [1, 1, 1]


def test_a_disk_that_fails_is_told_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    recorder = Recorder(tmp_path, metrics, file_bytes=100, files=2)
    (tmp_path / f"{NAME}.1").mkdir()
    (tmp_path / f"{NAME}.1" / "in the way").touch()
    for _ in range(4):
        recorder.put(lambda: "x" * 80, size=80)
    recorder.close()
    assert counted(metrics, "written") == 1
    assert counted(metrics, "dropped_disk") == 3
    assert [record.message for record in caplog.records if "cannot be recorded" in record.message][1:] == []


def test_what_comes_behind_a_record_that_was_cut_short_begins_a_line(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"whole":1}\n{"cu')
    recorder = Recorder(tmp_path, Metrics(), file_bytes=100_000, files=2)
    recorder.put(lambda: '{"next":1}', size=1)
    recorder.close()
    assert (tmp_path / NAME).read_text() == '{"whole":1}\n{"cu\n{"next":1}\n'


def test_a_folder_that_cannot_be_made_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"recordings\.folder: .*name another folder"):
        Recorder(tmp_path / "file" / "below", Metrics(), file_bytes=1000, files=2)
