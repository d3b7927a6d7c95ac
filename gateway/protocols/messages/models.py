"""The served models as Anthropic lists them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from gateway.planning.catalog import ModelSpec

from .validation import wrong

MOST = 1000
USUAL = 20


def listed(specs: Iterable[ModelSpec], query: Mapping[str, str]) -> dict[str, Any]:
    """One page, as `limit`, `after_id` and `before_id` ask for it."""
    models = [described(spec) for spec in specs]
    ids = [model["id"] for model in models]
    limit = _limit(query.get("limit"))
    begin = ids.index(query["after_id"]) + 1 if query.get("after_id") in ids else 0
    end = ids.index(query["before_id"]) if query.get("before_id") in ids else len(ids)
    backwards = query.get("before_id") in ids
    page = models[begin:end][-limit:] if backwards else models[begin:end][:limit]
    first, last = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    return {"data": page, "has_more": len(page) < end - begin, "first_id": first, "last_id": last}


def described(spec: ModelSpec) -> dict[str, Any]:
    """One model."""
    created = datetime.fromtimestamp(spec.created, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    found = {"type": "model", "id": spec.name, "display_name": spec.name, "created_at": created, "lifecycle": "active"}
    limits = {"max_input_tokens": spec.context, "max_tokens": spec.max_tokens}
    return {**found, **{key: value for key, value in limits.items() if value is not None}}


def _limit(text: str | None) -> int:
    if text is None:
        return USUAL
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:5]) <= MOST):
        raise wrong("limit", f"Input should be an integer from 1 to {MOST}")
    return int(text)
