"""Names and aliases lead to models; everything else is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import BackendUnavailable, UnknownModel
from gateway.planning.catalog import Catalog
from tests.support.planned import scripted


def test_a_model_is_found_by_name_and_by_alias(tmp_path: Path) -> None:
    spec = scripted(tmp_path, "x", aliases=("gpt-4o",))
    catalog = Catalog([spec])
    assert catalog.find("scripted") is spec
    assert catalog.find("gpt-4o") is spec
    assert list(catalog) == [spec]


def test_an_unknown_name_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    catalog = Catalog([scripted(tmp_path, "x", aliases=("gpt-4o",))])
    with pytest.raises(UnknownModel) as refused:
        catalog.find("gpt-5" + "x" * 500)
    assert (refused.value.status, refused.value.code, refused.value.param) == (404, "model_not_found", "model")
    assert "does not exist or you do not have access to it. Served here: `scripted`, `gpt-4o`." in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_model_whose_engine_is_not_up_is_no_unknown_one(tmp_path: Path) -> None:
    spec = replace(scripted(tmp_path, "x"), name="later", aliases=("soon",))
    catalog = Catalog()
    catalog.expect("later", ("soon",), reason="nobody answers at http://x")
    with pytest.raises(BackendUnavailable, match="`soon` cannot be served now: nobody answers"):
        catalog.find("soon")
    with pytest.raises(UnknownModel, match="Served here: `later`, `soon`"):
        catalog.find("never")
    catalog.add(spec)
    assert catalog.find("soon") is spec
    assert catalog.waiting == {}


def test_an_alias_may_be_a_pattern_that_stands_behind_exact_names(tmp_path: Path) -> None:
    spec = scripted(tmp_path, "x", aliases=("claude-*",))
    small = replace(spec, name="small", aliases=("claude-*haiku*", "claude-instant"))
    for order in ([spec, small], [small, spec]):
        catalog = Catalog(order)
        assert catalog.find("claude-opus-4-8") is spec
        assert catalog.find("claude-haiku-4-5") is small
        assert catalog.find("claude-instant") is small
        with pytest.raises(UnknownModel, match=r"Served here: .*`claude-\*`"):
            catalog.find("Claude-x")


def test_a_pattern_reaches_a_model_that_is_waited_for(tmp_path: Path) -> None:
    catalog = Catalog([scripted(tmp_path, "x", aliases=("claude-*",))])
    catalog.expect("later", ("claude-later*",), reason="nobody answers")
    with pytest.raises(BackendUnavailable, match="`claude-later-1` cannot be served now"):
        catalog.find("claude-later-1")


def test_a_fallback_answers_while_the_model_itself_cannot(tmp_path: Path) -> None:
    small, large = scripted(tmp_path, "x"), replace(scripted(tmp_path, "x"), name="large", aliases=("big",))
    catalog = Catalog([small])
    catalog.fallbacks = {"large": "scripted"}
    catalog.expect("large", ("big",), reason="nobody answers")
    assert catalog.answering("big") is small
    catalog.add(large)
    assert catalog.answering("big") is large
    assert catalog.instead_of("big") is small
    assert catalog.instead_of("scripted") is None
    with pytest.raises(UnknownModel):
        catalog.answering("never")
