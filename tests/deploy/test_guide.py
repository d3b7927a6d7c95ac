"""What docs/deploy.md tells to type and to write is taken."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.settings import Settings
from tests.support.planned import hermes_call
from tests.support.server import CLIENT, replay_model, serving

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
CONFIGURED = ROOT / "deploy" / "toolwire.vllm.yaml"


def blocks(beginning: str) -> list[str]:
    """The indented blocks that begin with this text."""
    found = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", GUIDE, re.MULTILINE)
    texts = [re.sub(r"^ {4}", "", block, flags=re.MULTILINE).strip() + "\n" for block in found]
    return [text for text in texts if text.startswith(beginning)]


def test_the_first_tool_call(tmp_path: Path) -> None:
    (command,) = blocks("curl -s localhost:8000/v1/chat/completions")
    asked = json.loads(command.partition("-d '")[2].rpartition("'")[0])
    (served,) = yaml.safe_load(CONFIGURED.read_text(encoding="utf-8"))["models"]
    assert asked["model"] == served["name"]
    with serving(
        {"models": [replay_model(tmp_path, [{"match": "Paris", "text": hermes_call()}], name=served["name"])]}
    ) as gateway:
        path = command.split()[2].removeprefix("localhost:8000")
        (choice,) = CLIENT.post(f"{gateway.url}{path}", json=asked).json()["choices"]
    told = re.search(r'"function": (\{.*?\}")\}\}\]', GUIDE)
    assert told is not None
    assert choice["message"]["tool_calls"][0]["function"] == json.loads(told[1] + "}")
    assert f'"finish_reason": "{choice["finish_reason"]}"' in GUIDE


@pytest.mark.parametrize("text", blocks("server: {host"))
def test_configurations(text: str) -> None:
    configured: dict[str, Any] = yaml.safe_load(CONFIGURED.read_text(encoding="utf-8"))
    settings = Settings.model_validate({**configured, **yaml.safe_load(text)})
    assert (settings.server.host, settings.auth.on) == ("0.0.0.0", True)


def test_what_is_replaced_in_files_stands_there() -> None:
    changes = re.findall(r"sed -i 's#(.*?)#(.*?)#' (\S+)", GUIDE)
    assert changes
    for old, _, file in changes:
        assert f"deploy/toolwire.vllm.yaml {file}" in GUIDE
        assert old in CONFIGURED.read_text(encoding="utf-8")


def test_the_unit_has_what_the_guide_makes() -> None:
    unit = (ROOT / "deploy" / "toolwire.service").read_text(encoding="utf-8")
    assert re.search(r"install\.sh (\S+)", GUIDE)[1] in unit  # type: ignore[index]
    assert re.search(r"cp deploy/toolwire\.vllm\.yaml (\S+)", GUIDE)[1] in unit  # type: ignore[index]
    (user,) = re.findall(r"useradd .* (\S+)$", GUIDE, re.MULTILINE)
    assert f"User={user}\n" in unit
    assert "StateDirectory=toolwire\n" in unit, "keys are made in /var/lib/toolwire"


def test_files_that_are_named_exist() -> None:
    for name in re.findall(r"`((?:deploy|docs)/[\w./-]+)`", GUIDE):
        assert (ROOT / name).exists(), name
