"""The suites that Steward brings along: they hold, cover every kind, and come out alike every time."""

from collections import Counter
from dataclasses import replace

import pytest

from steward.evaluation import load_suites, shipped
from steward.evaluation.case import load_kinds
from tests.evaluation.playing import Play


def test_there_are_cases_of_every_kind() -> None:
    kinds = Counter(case.kind for suite in load_suites(shipped()) for case in suite.cases)
    assert sum(kinds.values()) >= 40
    # Recorded runs are an installation's own.
    assert set(kinds) == {name for name, _ in load_kinds()} - {"replay"}


EVERY = {"conversations": 12}
"""Of long suites every so many cases are played here; `steward eval` plays them all."""


@pytest.mark.parametrize("name", shipped())
def test_suite_holds(play: Play, name: str) -> None:
    suite = load_suites([name])[0]
    report = play.suite(replace(suite, cases=suite.cases[:: EVERY.get(name, 1)]))
    assert [(case.id, case.problems) for case in report.cases if case.problems] == []
