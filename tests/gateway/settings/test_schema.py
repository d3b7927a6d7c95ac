"""The JSON Schema for editors says what the models say."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from gateway.cli.schema import text
from gateway.settings import (
    ApiKey,
    AuthSettings,
    BreakerSettings,
    EmbeddedModel,
    GuardSettings,
    HealthSettings,
    KeyLimits,
    Limits,
    PoolSettings,
    QueueSettings,
    RecordingSettings,
    ReplayModel,
    SamplingDefaults,
    Server,
    Settings,
    StoreSettings,
    TelemetrySettings,
    VllmModel,
)

COMMITTED = Path(__file__).parents[3] / "docs" / "toolwire.schema.json"


def test_the_committed_schema_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == text(), "run: toolwire schema > docs/toolwire.schema.json"


@pytest.mark.parametrize(
    ("document", "valid"),
    [
        ("models: [{name: a, backend: vllm, urls: [http://x]}]", True),
        ("models: [{name: a, backend: replay, turns: t.jsonl}]", True),
        ("server: {port: 1}", True),
        ("server: {prot: 1}", False),
        ("models: [{name: a, backend: replay}]", False),
        ("models: [{name: a, backend: nothing}]", False),
    ],
)
def test_the_schema_tells_good_files_from_bad_ones(document: str, valid: bool) -> None:
    validator = jsonschema_rs.Draft202012Validator(json.loads(text()))
    assert validator.is_valid(yaml.safe_load(document)) is valid


def test_every_key_is_explained() -> None:
    page = (COMMITTED.parent / "configuration.md").read_text(encoding="utf-8")
    sections = [Settings, Server, Limits, StoreSettings, SamplingDefaults, VllmModel, EmbeddedModel, ReplayModel]
    sections += [AuthSettings, ApiKey, KeyLimits, TelemetrySettings, RecordingSettings, GuardSettings]
    sections += [PoolSettings, QueueSettings, HealthSettings, BreakerSettings]
    keys = {key for section in sections for key in section.model_fields}
    assert {key for key in keys if f"`{key}`" not in page and f"## {key}" not in page} == set()
