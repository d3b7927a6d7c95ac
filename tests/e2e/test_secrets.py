"""No secret of the configuration and none of a client comes out of a gateway: not in its log, its answers, or its recordings."""

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests.support.engines import engine_processes
from tests.support.keys import issue
from tests.support.server import CLIENT, PATIENCE, STARTING, wait_for
from tests.support.tokenizers import byte_level

ROOT = Path(__file__).parents[2]
ENGINE_KEY, URL_PASSWORD, REDIS_PASSWORD = "engine-key-0123456789", "url-password-42", "redis-password-42"
SECRETS = (ENGINE_KEY, URL_PASSWORD, REDIS_PASSWORD)
PUBLIC = ("/", "/ready", "/version", "/openapi.json")
GUARDED = ("/v1/models", "/metrics")


def test_no_secret_comes_out_wherever_it_was_put_in(tmp_path: Path) -> None:
    mine = issue(tmp_path / "keys.jsonl", "ci", limits={"requests_per_minute": 100})
    pieces = ("Your key is ", ENGINE_KEY[:7], ENGINE_KEY[7:], ".")
    with engine_processes(1, pieces=pieces, root=str(byte_level(tmp_path / "tokenizer"))) as (engine,):
        entry = {"backend": "vllm", "chat_template": "toolwire/hermes", "recorder": "all"}
        behind_proxy = engine.url.replace("http://", f"http://user:{URL_PASSWORD}@")
        settings = {
            "models": [
                {**entry, "name": "keyed", "urls": [engine.url], "api_key": ENGINE_KEY},
                {**entry, "name": "proxied", "urls": [behind_proxy]},
            ],
            "auth": {"keys_file": "keys.jsonl"},
            "store": {"kind": "redis", "url": f"redis://:{REDIS_PASSWORD}@127.0.0.1:9/0"},
            "recordings": {"folder": "turns"},
        }
        (tmp_path / "toolwire.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        out, err = tmp_path / "out", tmp_path / "err"
        command = [sys.executable, "-m", "gateway", "serve", "--port", "0", "--log-level", "debug"]
        with out.open("w") as to_out, err.open("w") as to_err:
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            process = subprocess.Popen(command, stdout=to_out, stderr=to_err, cwd=tmp_path, env=environment)
        try:
            assert wait_for(lambda: "Listening" in out.read_text() or process.poll() is not None, STARTING)
            found = re.search(r"Listening on (http://127\.0\.0\.1:\d+)", out.read_text())
            assert found, err.read_text()
            told = [talk(found[1], name, mine, status=200) for name in ("keyed", "proxied")]
            engine.kill()
            told += [talk(found[1], name, mine, status=503) for name in ("keyed", "proxied")]
            told += [CLIENT.get(found[1] + path).text for path in PUBLIC]
            told += [CLIENT.get(found[1] + path, headers={"x-api-key": mine}).text for path in GUARDED]
        finally:
            process.terminate()
            process.wait(PATIENCE)
    log = out.read_text() + err.read_text()
    assert '"engine":"http://127.0.0.1' in log, "the engine's address is told"
    for secret in (*SECRETS, mine):
        assert secret not in log
        assert all(secret not in answer for answer in told)
    recorded = (tmp_path / "turns" / "turns.jsonl").read_text()
    assert "Your key is " in recorded
    assert '"engine":"http://127.0.0.1' in recorded
    for secret in (*SECRETS, mine):
        assert secret not in recorded


def talk(address: str, model: str, secret: str, *, status: int) -> str:
    """A client that gives its key away in what it says, too. The answer, without the model's own words."""
    body = {"model": model, "messages": [{"role": "user", "content": f"Is {secret} a good key?"}], "max_tokens": 9}
    answer = CLIENT.post(f"{address}/v1/chat/completions", json=body, headers={"authorization": f"Bearer {secret}"})
    assert answer.status_code == status, answer.text
    return str(answer.headers) if status == 200 else str(answer.headers) + answer.text
