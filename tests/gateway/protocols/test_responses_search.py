"""The search for tools finds them by the words in their names, descriptions and parameters."""

import pytest

from gateway.planning.tool_search import words
from gateway.protocols.responses.search import search
from gateway.protocols.responses.tool_set import Deferred, Placed
from parsers import Tool

pytest.importorskip("bm25s")

SPECS = [
    ("getUserByID", "Reads one account", {"id": {"type": "integer"}}),
    ("send_mail", "Sends an e-mail", {"recipients": {"type": "array", "items": {"properties": {"street": {}}}}}),
    ("get_weather", "Tells the weather of a city", {"city": {"type": "string", "description": "Such as Zürich"}}),
    ("crm__list_orders", "", {}),
]
TOOLS = {
    name: Deferred(Placed(Tool(name, description, {"type": "object", "properties": properties}), ""), {"name": name})
    for name, description, properties in SPECS
}


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("user", "getUserByID"),
        ("USERS by id", "getUserByID"),
        ("mail", "send_mail"),
        ("a street", "send_mail"),
        ("weather forecast", "get_weather"),
        ("Zürich", "get_weather"),
        ("all orders of the crm", "crm__list_orders"),
    ],
)
def test_the_best_comes_first(query: str, best: str) -> None:
    assert search(query, TOOLS)[0] == best


@pytest.mark.parametrize("query", ["", "!!!", "submarine"])
def test_nothing_fits(query: str) -> None:
    assert search(query, TOOLS) == []


def test_no_more_than_a_handful() -> None:
    many = {f"tool_{n}": Deferred(Placed(Tool(f"tool_{n}", "does things"), ""), {}) for n in range(50)}
    assert len(search("tool", many)) == 8


def test_words() -> None:
    assert words("getUserByID list_orders HTTPServer v2 Größe 天気") == [
        *("get", "user", "by", "id"),
        *("list", "order"),
        *("http", "server", "v2"),
        "größe",
        "天気",
    ]
