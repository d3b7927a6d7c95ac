"""Who tells: the resource of all that goes to a collector."""

import os

from opentelemetry.sdk.resources import Resource


def resource_of(version: str) -> Resource:
    """The service, under the environment's name or ours."""
    known = {"service.version": version}
    if "OTEL_SERVICE_NAME" not in os.environ and "service.name=" not in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        known["service.name"] = "toolwire"
    return Resource.create(known)
