"""A whole marker, or the beginning of one at the very end."""

import pytest

from parsers.readers.boundary import boundary, whole

MARKERS = ("<a>", "<a>b", "[", "<｜x▁")


@pytest.mark.parametrize(
    ("text", "start", "marker"),
    [
        ("x<a>c", 1, "<a>"),
        ("x<a>b", 1, "<a>b"),
        ("x<a>", 1, None),
        ("x<", 1, None),
        ("x[<", 1, "["),
        ("a<｜x", 1, None),
        ("a<｜x▁", 1, "<｜x▁"),
        ("<<a>.", 1, "<a>"),
        ("<b<", 2, None),
    ],
)
def test_the_first_place_of_interest(text: str, start: int, marker: str | None) -> None:
    match = boundary(MARKERS).search(text)
    assert match is not None
    assert (match.start(), match.group(1)) == (start, marker)


def test_no_place_of_interest() -> None:
    assert boundary(MARKERS).search("a > b <b") is None


def test_at_the_end_only_whole_markers_count() -> None:
    found = whole(MARKERS).search("x<<a>")
    assert found is not None
    assert found.group(1) == "<a>"
    assert whole(MARKERS).search("x<a") is None
