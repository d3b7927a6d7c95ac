"""How deeply JSON is nested."""

from typing import Any

CONTAINERS = frozenset({dict, list})


def deeper_than(limit: int, value: Any, text: bytes) -> bool:
    """Whether a value, which `text` is the JSON of, has arrays and objects more than `limit` deep in one another."""
    if text.count(b"[") + text.count(b"{") <= limit:
        return False  # so few are not deep, wherever they stand, and to count them takes no time
    level = [value]
    for _ in range(limit):
        level = [
            child for node in level for child in (node.values() if type(node) is dict else node) if type(child) in CONTAINERS
        ]
        if not level:
            return False
    return True
