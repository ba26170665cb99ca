"""The evidence of a pair in words: what was compared, how far it agrees, what that weighs."""

from dataclasses import dataclass
from typing import Any

from steward.analysis.resolve.levels import in_words
from steward.analysis.resolve.rules import Rules
from steward.tables import literal

MASKED = "•"


@dataclass(frozen=True)
class Evidence:
    """One comparison of a pair; values are as the source has them, or masked."""

    field: str
    level: str
    weight: float
    left: str | None
    right: str | None


def evidence_sql(rules: Rules) -> str:
    """One text per pair, without any value: `company: the same (+13.6); phone: different (-1.8)`."""
    parts = []
    for place, comparison in enumerate(rules.comparisons):
        cases = " ".join(
            f"WHEN {number} THEN {literal(in_words(level))}"
            for number, level in enumerate(comparison.levels)
        )
        name = comparison.field.replace("_", " ")
        said = f"{literal(name + ': ')} || CASE level_{place} {cases} END"
        weight = f"printf(' (%+.1f)', weight_{place}::DOUBLE)"
        parts.append(f"CASE WHEN level_{place} >= 0 THEN {said} || {weight} END")
    return f"concat_ws('; ', {', '.join(parts)})" if parts else "''"


def evidence_of(
    rules: Rules,
    levels: list[int],
    weights: list[float],
    left: dict[str, Any],
    right: dict[str, Any],
) -> tuple[Evidence, ...]:
    """The strongest evidence first; comparisons with a missing value come last."""
    found = []
    for comparison, level, weight in zip(rules.comparisons, levels, weights, strict=True):
        missing = level < 0
        found.append(
            Evidence(
                field=comparison.field,
                level="missing on one side" if missing else in_words(comparison.levels[level]),
                weight=round(float(weight), 2),
                left=left.get(comparison.field),
                right=right.get(comparison.field),
            )
        )
    return tuple(sorted(found, key=lambda one: (one.weight == 0.0, -abs(one.weight), one.field)))


def mask(value: str | None) -> str | None:
    """Enough to recognise that something is there, not what: first letter and rough length."""
    if not value:
        return value
    return value[0] + MASKED * min(len(value) - 1, 8)
