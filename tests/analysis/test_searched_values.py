"""Values that were searched before are not searched again, and are never another version's."""

from steward.workbench.datasets import SearchedValues

KEY = ("v1", "city", 3)


def test_a_search_that_found_everything_answers_longer_ones() -> None:
    known = SearchedValues()
    assert known.found(KEY, "ber") is None
    known.keep(KEY, "be", [("Berlin", 4), ("Bern", 2)])
    assert known.found(KEY, "Bern") == [("Bern", 2)]
    assert known.found(("v2", "city", 3), "Bern") is None


def test_a_search_that_was_cut_answers_only_itself() -> None:
    known = SearchedValues()
    known.keep(KEY, "b", [("Berlin", 4), ("Bern", 2), ("Bonn", 1)])
    assert known.found(KEY, "B") == [("Berlin", 4), ("Bern", 2), ("Bonn", 1)]
    assert known.found(KEY, "be") is None


def test_only_the_newest_searches_are_kept() -> None:
    known = SearchedValues(most=1)
    known.keep(KEY, "a", [])
    known.keep(KEY, "b", [])
    assert known.found(KEY, "a") is None
    assert known.found(KEY, "b") == []
