"""Comparison of two reports: what broke, what was mended, what came and went, and which figures moved."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, TypeGuard

from steward.evaluation.report import CaseResult, Report


@dataclass(frozen=True)
class Moved:
    """A figure that both reports have and that is not the same."""

    case: str
    fact: str
    before: float
    after: float


@dataclass(frozen=True)
class Comparison:
    broken: list[str] = field(default_factory=list)
    """Passed before, fail now."""
    mended: list[str] = field(default_factory=list)
    still_failing: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    passed_before: int = 0
    passed_after: int = 0
    seconds_before: float = 0.0
    seconds_after: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(before: Report, after: Report) -> Comparison:
    old = {case.key: case for case in before.cases}
    new = {case.key: case for case in after.cases}
    shared = [key for key in new if key in old]

    def both(was: str, now: str) -> list[str]:
        return [key for key in shared if (old[key].outcome, new[key].outcome) == (was, now)]

    return Comparison(
        broken=[
            key for key in shared if old[key].outcome != "failed" and new[key].outcome == "failed"
        ],
        mended=both("failed", "passed"),
        still_failing=both("failed", "failed"),
        new=[key for key in new if key not in old],
        gone=[key for key in old if key not in new],
        moved=[moved for key in shared for moved in _moved(old[key], new[key])],
        passed_before=before.count("passed"),
        passed_after=after.count("passed"),
        seconds_before=before.seconds,
        seconds_after=after.seconds,
    )


def _moved(before: CaseResult, after: CaseResult) -> Iterator[Moved]:
    for fact, value in after.facts.items():
        was = before.facts.get(fact)
        if _is_number(was) and _is_number(value) and was != value:
            yield Moved(after.key, fact, was, value)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
