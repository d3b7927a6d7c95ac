"""`toolwire serve`, `render` and `schema` in a process of their own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
import yaml

from tests.support.server import CLIENT, PATIENCE, STARTING, replay_model

TURNS = [{"match": None, "text": "Hello!"}]


def toolwire(*arguments: str, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[3])
    env = {**os.environ, "PYTHONPATH": root}
    command = [sys.executable, "-m", "gateway", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=STARTING, cwd=cwd, env=env)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "toolwire.yaml"
    model = {**replay_model(tmp_path, TURNS), "aliases": ["gpt-4o"]}
    file.write_text(yaml.safe_dump({"models": [model]}), encoding="utf-8")
    return file


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The server's process and what it printed until it listened."""
    command = [sys.executable, "-m", "gateway", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines: list[str] = []
    try:
        while not lines or not lines[-1].startswith("Listening"):
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
            lines.append(line)
        yield process, lines
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_prints_what_it_serves_answers_and_stops(config: Path, number: signal.Signals) -> None:
    with running("--config", str(config)) as (process, lines):
        assert lines[0].split() == ["MODEL", "FORMAT", "TEMPLATE", "ENGINE", "AT"]
        assert lines[1].split()[:5] == ["scripted,", "gpt-4o", "hermes", "toolwire/hermes", "replay"]
        found = re.search(r"http://127\.0\.0\.1:\d+/v1", lines[-1])
        assert found
        body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}
        answer = CLIENT.post(f"{found[0]}/chat/completions", json=body)
        assert answer.json()["choices"][0]["message"]["content"] == "Hello!"
        process.send_signal(number)
        _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Traceback" not in log
    (line,) = [json.loads(text) for text in log.splitlines() if text.startswith("{") and '"gateway.requests"' in text]
    assert line["model"] == "scripted"
    assert line["request_id"] == answer.headers["x-request-id"]


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="only Linux tells what another process may have open")
def test_more_connections_are_taken_than_the_system_gives_at_first(config: Path) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with running("--config", str(config)) as (process, _):
            told = Path(f"/proc/{process.pid}/limits").read_text(encoding="utf-8")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    found = re.search(r"Max open files +(\S+)", told)
    assert found is not None
    assert int(found[1]) == min(hard, 65_536)


def test_a_stream_leaves_piece_by_piece(tmp_path: Path) -> None:
    """Small writes must not wait until the client's system has acknowledged the one before, some 40 ms later."""
    model = replay_model(tmp_path, [{"match": None, "pieces": ["word "] * 20, "delay_ms": 10}])
    (tmp_path / "toolwire.yaml").write_text(yaml.safe_dump({"models": [model]}), encoding="utf-8")
    body = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    with running("--config", str(tmp_path / "toolwire.yaml")) as (_, lines), httpx.Client() as client:
        url = lines[-1].split()[2] + "/chat/completions"
        reads = []  # the first answer on a connection is acknowledged at once, whatever it comes in
        while max(reads[1:], default=0) <= 10 and len(reads) < 12:
            with client.stream("POST", url, json=body) as answer:
                arrived = [time.monotonic() for _ in answer.iter_raw()]
                reads.append(sum(later - earlier > 0.001 for earlier, later in pairwise(arrived)))
    assert max(reads[1:]) > 10, reads


@pytest.mark.parametrize(
    ("text", "arguments", "told"),
    [
        ("server: {prot: 1}", [], "toolwire.yaml: server.prot: unknown key; did you mean 'port'?"),
        ("models: [{name: a, backend: replay, turns: none.jsonl, parser: hermes}]", [], "toolwire: models: a: "),
        ("", ["--config", "/no/such.yaml"], "/no/such.yaml: no such file; name the configuration file with --config"),
        ("", ["--model", "/no/such.gguf"], "no such file; give the path of a GGUF file"),
        ("", ["--port", "70000"], "server.port: expected less than or equal to 65535, got 70000"),
        ("", ["--port", "x"], "argument --port: invalid int value: 'x'"),
        ("server: {host: 203.0.113.1}", ["--insecure"], "cannot listen on 203.0.113.1:8000: "),
    ],
)
def test_a_wrong_start_says_what_to_do(tmp_path: Path, text: str, arguments: list[str], told: str) -> None:
    (tmp_path / "toolwire.yaml").write_text(text, encoding="utf-8")
    done = toolwire("serve", *arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_in_use_is_told_before_a_model_is_loaded(config: Path) -> None:
    with running("--config", str(config)) as (_, lines):
        port = lines[-1].split(":")[2].split("/")[0]
        done = toolwire("serve", "--config", str(config), "--port", port)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another with --port" in done.stderr
    assert "loading" not in done.stderr


CHAT = {
    "messages": [{"role": "user", "content": "Weather?"}],
    "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
}


def test_render_shows_the_prompt_and_its_opening(config: Path) -> None:
    for arguments in (
        ["--config", str(config)],
        ["--config", str(config), "--name", "gpt-4o"],
        ["--template", "toolwire/hermes"],
    ):
        shown = json.loads(toolwire("render", *arguments, stdin=json.dumps(CHAT)).stdout)
        assert shown["text"].endswith("<|im_start|>assistant\n")
        assert "get_weather" in shown["text"]
        assert shown["opening"] == ""
    text = toolwire("render", "--template", "toolwire/hermes", "--text", stdin=json.dumps(CHAT["messages"])).stdout
    assert text.endswith("<|im_start|>assistant\n")


@pytest.mark.parametrize(
    ("arguments", "stdin", "told"),
    [
        (["--template", "toolwire/hermes"], "{", "stdin is not JSON"),
        (["--template", "toolwire/hermes"], "{}", "`messages` must be a list"),
        (["--template", "toolwire/hermes"], '{"messages": [], "tools": [5]}', "`tools` must be a list of objects"),
        (["--template", "toolwire/none"], "[]", "is not one of: toolwire/"),
        (["--config", "CONFIG", "--name", "other"], "[]", "no configured model is called 'other'; there are: scripted, gpt-4o"),
    ],
)
def test_a_wrong_render_says_what_to_do(config: Path, arguments: list[str], stdin: str, told: str) -> None:
    done = toolwire("render", *(str(config) if word == "CONFIG" else word for word in arguments), stdin=stdin)
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_schema_is_printed() -> None:
    assert json.loads(toolwire("schema").stdout)["title"] == "toolwire.yaml"
