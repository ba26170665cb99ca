"""Figures that are pushed: a patch leads to what a whole read finds, whatever a reader had before and however slow it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.app.dashboards import live_figures
from steward.observe import LiveFigures
from steward.observe.patched_document import PatchedDocument
from steward.testing import Installation
from tests.observe.test_figures import FAILING, _query

pytestmark = pytest.mark.every_database

WORDS = ("a", "b", "a/b", "~c")
NAMES = st.sampled_from(WORDS)


def applied(document: Any, operations: Any) -> Any:
    """What a reader makes of a patch, by RFC 6902."""
    for each in operations:
        if each["path"] == "":
            document = each["value"]
            continue
        *above, name = [
            part.replace("~1", "/").replace("~0", "~") for part in each["path"].split("/")[1:]
        ]
        inside = document
        for part in above:
            inside = inside[part]
        assert each["op"] == "add"
        inside[name] = each["value"]
    return document


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), NAMES, NAMES, st.integers(0, 3)),
            st.tuples(st.just("add"), NAMES, NAMES, st.integers(0, 3)),
            st.tuples(st.just("section"), NAMES, NAMES, st.integers(0, 3)),
            st.tuples(st.just("replace"), NAMES, NAMES, st.integers(0, 3)),
            st.tuples(st.just("read"), NAMES, NAMES, st.integers(0, 2)),
        ),
        max_size=40,
    )
)
def test_readers_at_any_pace_get_the_same_document(steps: list[tuple[str, str, str, int]]) -> None:
    kept = PatchedDocument(100)
    readers: list[tuple[int | None, Any]] = [(None, None)] * 3
    for what, first, second, value in steps:
        if first not in kept.document:
            kept.put((first,), {})
        if what == "put":
            kept.put((first, "n"), value)
        elif what == "add":
            kept.add((first, second), {"x": value, "y": 1})
        elif what == "section":
            kept.put((first,), {"fresh": {"x": value}})
        elif what == "replace":
            kept.replace({first: {second: {"x": value}}})
        else:
            readers[value] = _caught_up(kept, readers[value])
    for reader in readers:
        number, document = _caught_up(kept, reader)
        assert (number, document) == (kept.number, kept.document)
    assert kept.parts <= 1 + len(WORDS) * (1 + len(WORDS) * 4)


def _caught_up(kept: PatchedDocument, reader: tuple[int | None, Any]) -> tuple[int, Any]:
    number, document = reader
    patch = kept.since(number)
    return patch.number, applied(document, patch.operations)


def test_a_part_that_changed_often_is_sent_once() -> None:
    kept = PatchedDocument(0)
    kept.replace({"now": {"runs": 0}})
    before = kept.number
    for count in range(1_000):
        kept.put(("now", "runs"), count + 1)
    [operation] = kept.since(before).operations
    assert operation == {"op": "add", "path": "/now/runs", "value": 1_000}


def test_a_number_of_another_document_gets_all() -> None:
    kept = PatchedDocument(1_000)
    kept.put(("a",), 1)
    for number in (None, 0, 999, 5_000):
        [operation] = kept.since(number).operations
        assert operation == {"op": "replace", "path": "", "value": {"a": 1}}
    assert kept.since(kept.number).operations == ()


def _live(installation: Installation, hours: int = 24) -> LiveFigures:
    return live_figures(installation.steward, installation.scope, hours, None)


def _looked(figures: LiveFigures) -> PatchedDocument:
    figures.apply(figures.look())
    return figures.document


def test_what_is_added_up_equals_what_is_read_whole(installation: Installation) -> None:
    figures = [_live(installation, hours) for hours in (24, 24 * 7)]
    readers: list[tuple[int | None, Any]] = [(None, None)] * 2
    for sql in ("SELECT 1 AS one", FAILING, "SELECT 2 AS two", FAILING, "SELECT 3 AS three"):
        _query(installation, sql)
        installation.clock.advance(minutes=3)
        for each in figures:
            _looked(each)
        readers[0] = _caught_up(figures[0].document, readers[0])
    readers[1] = _caught_up(figures[1].document, readers[1])
    for each, (_, document) in zip(figures, readers, strict=True):
        whole = _looked(_live(installation, each._hours)).document
        assert document == whole
        assert document["now"]["runs"] == 5
        assert document["now"]["failed"] == 2


def test_a_run_is_added_once_although_it_is_looked_at_again(installation: Installation) -> None:
    figures = _live(installation)
    _looked(figures)
    _query(installation, "SELECT 1 AS one")
    for _ in range(3):
        assert _looked(figures).document["now"]["runs"] == 1
    number = figures.document.number
    _looked(figures)
    assert figures.document.number == number


def test_the_period_moves_on_with_the_hour(installation: Installation) -> None:
    figures = _live(installation)
    _query(installation, "SELECT 1 AS one")
    _looked(figures)
    number = figures.document.number
    installation.clock.advance(hours=24)
    found = _looked(figures)
    assert (found.document["now"]["runs"], found.document["before"]["runs"]) == (0, 1)
    [operation] = found.since(number).operations
    assert operation["op"] == "replace"
