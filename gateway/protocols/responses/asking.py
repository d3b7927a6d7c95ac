"""What a request to something that is kept asks for: whose it is, which one, and which page of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from gateway.errors import RequestError
from gateway.middleware.asgi import Scope
from gateway.protocols.validation import not_among, wrong_type

from .owner import owner_of

Json = dict[str, Any]
ORDERS = ("asc", "desc")
MOST_LISTED = 100
INPUT: Json = {"type": "input_text"}


@dataclass(frozen=True, slots=True)
class Asking:
    """Which thing is meant, and by whom."""

    method: str
    owner: str
    path: Mapping[str, str]
    """The ids that stand in the path."""
    query: Mapping[str, str]

    @classmethod
    def of(cls, scope: Scope) -> "Asking":
        """The last value of each query parameter counts."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        found = {name: values[-1] for name, values in query.items()}
        return cls(scope["method"], owner_of(scope), scope.get("path_params") or {}, found)

    def number(self, name: str, default: int, bounds: tuple[int, int]) -> int:
        """A whole number among the query parameters."""
        text = self.query.get(name)
        if text is None:
            return default
        if not re.fullmatch(r"-?[0-9]{1,9}", text):
            raise wrong_type(name, "an integer", text)
        least, most = bounds
        if not least <= int(text) <= most:
            side, expected = ("below minimum", f">= {least}") if int(text) < least else ("above maximum", f"<= {most}")
            message = f"Invalid '{name}': integer {side} value. Expected a value {expected}, but got {text} instead."
            raise RequestError(message, param=name, code=f"integer_{side.replace(' ', '_').replace('imum', '')}_value")
        return int(text)

    def page(self, items: Sequence[Json]) -> Json:
        """The page of these items that is asked for, the latest first unless asked otherwise."""
        limit = self.number("limit", 20, (1, MOST_LISTED))
        order = self.query.get("order", "desc")
        if order not in ORDERS:
            raise not_among("order", order, ORDERS)
        ordered = list(items) if order == "asc" else list(reversed(items))
        after = self.query.get("after")
        start = next((place + 1 for place, item in enumerate(ordered) if item.get("id") == after), 0) if after else 0
        return listed(ordered[start : start + limit], more=start + limit < len(ordered))


def listed(items: Sequence[Json], *, more: bool = False) -> Json:
    """These items as a list of the API's, each with what their readers expect."""
    data = [_told(item) for item in items]
    ends = (data[0].get("id"), data[-1].get("id")) if data else (None, None)
    return {"object": "list", "data": data, "first_id": ends[0], "last_id": ends[1], "has_more": more}


def _told(item: Json) -> Json:
    """Messages have their content as parts; all items but those of thinking and summaries have a status."""
    if item.get("type") in ("reasoning", "compaction"):
        return item
    if item.get("type") != "message":
        return {"status": "completed", **item}
    content = item.get("content")
    part: Json = {"type": "output_text", "annotations": [], "logprobs": []} if item.get("role") == "assistant" else INPUT
    return {"status": "completed", **item, "content": [{**part, "text": content}] if isinstance(content, str) else content}
