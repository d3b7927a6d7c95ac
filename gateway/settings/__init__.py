"""The configuration: what it may say (`model`) and how it is read (`source`)."""

from .model import (
    AnyModel,
    EmbeddedModel,
    Limits,
    ModelSettings,
    ReplayModel,
    SamplingDefaults,
    Server,
    Settings,
    StoreSettings,
    VllmModel,
    json_schema,
    nearest,
)
from .source import load

__all__ = [
    "AnyModel",
    "EmbeddedModel",
    "Limits",
    "ModelSettings",
    "ReplayModel",
    "SamplingDefaults",
    "Server",
    "Settings",
    "StoreSettings",
    "VllmModel",
    "json_schema",
    "load",
    "nearest",
]
