"""What the import contracts cannot say: `parsers` stands on the standard library alone, and the front page knows every format."""

import ast
import sys
from pathlib import Path

import pytest

import parsers

ROOT = Path(__file__).parents[2]
OWN = sorted((ROOT / "parsers").rglob("*.py"))


def imported(file: Path) -> set[str]:
    """The top-level packages that a file imports from elsewhere."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("file", OWN, ids=[str(file.relative_to(ROOT)) for file in OWN])
def test_parsers_stand_on_the_standard_library(file: Path) -> None:
    assert imported(file) <= sys.stdlib_module_names | {"parsers"}


def test_the_front_page_names_every_format() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in parsers.names() if f"`{name}`" not in page] == []
