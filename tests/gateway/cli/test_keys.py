"""`toolwire keys`, and what `toolwire serve` says where there are none, in processes of their own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import yaml

from gateway.cli.keys import WIRES
from gateway.settings import Wire, hash_of, new_secret, read_keys
from tests.support.redis import MISSING, PROGRAM, redis_server
from tests.support.server import CLIENT, STARTING, replay_model, wait_for

ROOT = str(Path(__file__).parents[3])
ENVIRONMENT = {**os.environ, "PYTHONPATH": ROOT}


def toolwire(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gateway", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=STARTING, cwd=cwd, env=ENVIRONMENT)


def configure(folder: Path, **settings: object) -> None:
    model = replay_model(folder, [{"match": None, "text": "Hello!"}])
    (folder / "toolwire.yaml").write_text(yaml.safe_dump({"models": [model], **settings}), encoding="utf-8")


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    configure(tmp_path, auth={"keys_file": "keys.jsonl"})
    made = toolwire(*"keys create ci --models a* b --requests-per-minute 60 --tokens-per-month 9000".split(), cwd=tmp_path)
    secret = made.stdout.strip()
    assert re.fullmatch(r"tw-[A-Za-z0-9_-]{43}", secret), made.stderr
    kept = json.loads((tmp_path / "keys.jsonl").read_text(encoding="utf-8"))
    limits = {"requests_per_minute": 60, "tokens_per_month": 9000}
    assert kept == {"name": "ci", "hash": hash_of(secret), "models": ["a*", "b"], "limits": limits}
    listed = toolwire("keys", "list", cwd=tmp_path).stdout.splitlines()
    assert listed[1].split() == ["ci", hash_of(secret)[:12], "a*", "b", "60", "-", "-", "-", "9000"]
    assert toolwire("keys", "revoke", "ci", cwd=tmp_path).returncode == 0
    assert (tmp_path / "keys.jsonl").read_text(encoding="utf-8") == ""


@pytest.mark.skipif(PROGRAM is None, reason=MISSING)
def test_keys_in_redis(tmp_path: Path) -> None:
    with redis_server() as url:
        configure(tmp_path, auth={"keys_in_redis": True}, store={"kind": "redis", "url": url})
        assert toolwire("keys", "create", "ci", cwd=tmp_path).stdout.startswith("tw-")
        assert "ci" in toolwire("keys", "list", cwd=tmp_path).stdout
        assert toolwire("keys", "revoke", "ci", cwd=tmp_path).returncode == 0
        assert "ci" not in toolwire("keys", "list", cwd=tmp_path).stdout
    done = toolwire("keys", "list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "store of API keys cannot be reached" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list"], "no place for keys: name a file with --file, or set auth.keys_file"),
        (["create", "a b", "--file", "k"], "name: String should match pattern"),
        (["create", "a", "--file", "k", "--requests-per-minute", "0"], "limits.requests_per_minute: "),
        (["create", "a", "--file", "no/such/folder/k"], "cannot be written: No such file or directory"),
        (["revoke", "a", "--file", "k"], "there is no key called 'a'"),
        (["list", "--file", "broken"], "broken, line 1: not JSON"),
    ],
)
def test_a_wrong_call_says_what_to_do(tmp_path: Path, arguments: list[str], told: str) -> None:
    configure(tmp_path)
    (tmp_path / "broken").write_text("{", encoding="utf-8")
    done = toolwire("keys", *arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "203.0.113.1"])
def test_other_machines_are_not_served_without_keys(tmp_path: Path, host: str) -> None:
    configure(tmp_path)
    done = toolwire("serve", "--host", host, "--port", "0", cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"toolwire: will not listen on {host} without API keys: name a file in auth.keys_file")
    assert "--insecure" in line


def test_insecure_gets_past_the_check(tmp_path: Path) -> None:
    """Shown on an address that no machine has, so that nothing listens."""
    configure(tmp_path)
    done = toolwire("serve", "--host", "203.0.113.1", "--port", "0", "--insecure", cwd=tmp_path)
    assert "cannot listen on 203.0.113.1:0" in done.stderr
    (tmp_path / "keys.jsonl").touch()
    configure(tmp_path, auth={"keys_file": "keys.jsonl"})
    done = toolwire("serve", "--host", "203.0.113.1", "--port", "0", cwd=tmp_path)
    assert "cannot listen on 203.0.113.1:0" in done.stderr


def test_keys_are_in_no_log(tmp_path: Path) -> None:
    configure(tmp_path, auth={"keys_file": "keys.jsonl"}, store={"url": "redis://:pass-word@127.0.0.1:9/0"})
    good, wrong = toolwire("keys", "create", "ci", cwd=tmp_path).stdout.strip(), new_secret()
    command = [sys.executable, "-m", "gateway", "serve", "--port", "0", "--log-level", "debug"]
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("w") as to_out, err.open("w") as to_err:
        process = subprocess.Popen(command, stdout=to_out, stderr=to_err, cwd=tmp_path, env=ENVIRONMENT)
    try:
        assert wait_for(lambda: "Listening" in out.read_text() or process.poll() is not None, STARTING)
        found = re.search(r"http://\S+/v1", out.read_text())
        assert found, err.read_text()
        body = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}
        for header in ("authorization", "x-api-key", "api-key"):
            for secret, status in ((good, 200), (wrong, 401)):
                value = f"Bearer {secret}" if header == "authorization" else secret
                answer = CLIENT.post(f"{found[0]}/chat/completions", json=body, headers={header: value})
                assert answer.status_code == status
                assert secret not in answer.text
    finally:
        process.terminate()
        process.wait(20)
    log = out.read_text() + err.read_text()
    assert '"key":"ci"' in log
    for secret in (good, wrong, hash_of(good), "pass-word"):
        assert secret not in log


def test_every_wire_can_be_chosen(tmp_path: Path) -> None:
    assert get_args(Wire) == WIRES
    made = toolwire(*"keys create old --wire legacy-ui --file keys.jsonl".split(), cwd=tmp_path)
    assert made.returncode == 0
    (key,) = read_keys((tmp_path / "keys.jsonl").read_text(), "keys").values()
    assert key.wire == "legacy-ui"
