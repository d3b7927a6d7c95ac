"""The configuration: what it may say (`model`) and how it is read (`source`)."""

from .guards import GuardSettings
from .keys import ApiKey, KeyLimits, hash_of, masked, new_secret, read_key, read_keys
from .model import (
    AnyModel,
    AuthSettings,
    EmbeddedModel,
    Limits,
    ModelSettings,
    ReplayModel,
    SamplingDefaults,
    Server,
    Settings,
    StoreSettings,
    TelemetrySettings,
    VllmModel,
    json_schema,
)
from .pool import BreakerSettings, HealthSettings, PoolSettings, QueueSettings
from .recordings import Recorded, RecordingSettings
from .section import nearest
from .source import load
from .wire import Wire

__all__ = [
    "AnyModel",
    "ApiKey",
    "AuthSettings",
    "BreakerSettings",
    "EmbeddedModel",
    "GuardSettings",
    "HealthSettings",
    "KeyLimits",
    "Limits",
    "ModelSettings",
    "PoolSettings",
    "QueueSettings",
    "Recorded",
    "RecordingSettings",
    "ReplayModel",
    "SamplingDefaults",
    "Server",
    "Settings",
    "StoreSettings",
    "TelemetrySettings",
    "VllmModel",
    "Wire",
    "hash_of",
    "json_schema",
    "load",
    "masked",
    "nearest",
    "new_secret",
    "read_key",
    "read_keys",
]
