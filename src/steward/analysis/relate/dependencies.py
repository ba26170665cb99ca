"""Functional dependencies of low arity, exact and approximate, kept only where chance cannot explain them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import duckdb
import numpy as np
from numpy.typing import NDArray

from steward.analysis.relate.columns import Facts, whole_number
from steward.analysis.relate.keys import combine
from steward.analysis.relate.model import Dependency
from steward.core import give_way
from steward.tables import Table, quote

MAX_ERROR = 0.02
MAX_ERROR_OF_PAIRS = 0.01
_SAMPLE_ROWS = 5_000
_MIN_ROWS = 20
_COLUMNS_SINGLE = 30
_COLUMNS_PAIRED = 10
_EXACT_CHECKS = 60
# A rule must explain nearly all that chance would leave unexplained, and that must be a real number of rows.
_MIN_STRENGTH = 0.9
_MIN_CHANCE_VIOLATIONS = 12.0
_SEED = 20_240_229

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class _Candidate:
    determinant: tuple[Facts, ...]
    dependent: Facts
    strength: float


def find_dependencies(
    connection: duckdb.DuckDBPyConnection, table: Table, facts: Sequence[Facts]
) -> tuple[Dependency, ...]:
    """Minimal dependencies with one or two columns on the left; a sample refutes, the whole table confirms."""
    if not facts or facts[0].rows < _MIN_ROWS:
        return ()
    usable = [each for each in facts if each.family != "other" and each.distinct >= 2]
    usable = usable[:_COLUMNS_SINGLE]
    samples = _Samples(connection, table, usable)
    confirmed: list[Dependency] = []
    for arity in (1, 2):
        candidates = _singles(usable, samples) if arity == 1 else _pairs(usable, samples, confirmed)
        for candidate in candidates[:_EXACT_CHECKS]:
            found = _confirm(connection, table, candidate)
            if found is not None:
                confirmed.append(found)
    confirmed = _marked(confirmed)
    confirmed.sort(key=lambda each: (len(each.determinant), each.determinant, each.dependent))
    return tuple(confirmed)


def _determines(facts: Facts) -> bool:
    """Whether a column may stand on the left: repeated, discrete values."""
    if facts.unique or facts.distinct > facts.filled * 0.8:
        return False
    return whole_number(facts) or facts.family in {"text", "uuid", "date", "boolean"}


def _singles(usable: Sequence[Facts], samples: "_Samples") -> list[_Candidate]:
    found = []
    for left in usable:
        if not _determines(left):
            continue
        give_way()
        codes = samples.by(left)
        for right in usable:
            if right is left:
                continue
            strength = _strength(codes[left.name], codes[right.name])
            if strength is not None:
                found.append(_Candidate((left,), right, strength))
    return _ranked(found)


def _pairs(
    usable: Sequence[Facts], samples: "_Samples", confirmed: Sequence[Dependency]
) -> list[_Candidate]:
    """Two columns that decide a third which neither decides alone."""
    pool = [each for each in usable if _determines(each)][:_COLUMNS_PAIRED]
    known = {(each.determinant, each.dependent) for each in confirmed}
    found = []
    for left, other in combinations(pool, 2):
        if ((left.name,), other.name) in known or ((other.name,), left.name) in known:
            # One decides the other, so the pair says no more than its stronger half.
            continue
        give_way()
        codes = samples.by(max(left, other, key=lambda each: each.distinct))
        both = _together(codes[left.name], codes[other.name])
        for right in usable:
            if right is left or right is other:
                continue
            if ((left.name,), right.name) in known or ((other.name,), right.name) in known:
                continue
            halves = (codes[left.name], codes[other.name])
            strength = _strength(both, codes[right.name], halves)
            if strength is not None:
                found.append(_Candidate((left, other), right, strength))
    return _ranked(found)


def _ranked(found: list[_Candidate]) -> list[_Candidate]:
    return sorted(
        found,
        key=lambda each: (
            -each.strength,
            [member.position for member in each.determinant],
            each.dependent.position,
        ),
    )


class _Samples:
    """Rows as small codes. A column with many values gets a sample of whole groups: all rows of some of them."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, table: Table, usable: Sequence[Facts]
    ) -> None:
        self._connection = connection
        self._table = table
        self._usable = usable
        self._kept: dict[str, dict[str, Codes]] = {}

    def by(self, left: Facts) -> dict[str, Codes]:
        grouped = left.rows > _SAMPLE_ROWS and left.distinct > _SAMPLE_ROWS // 20
        return self._of(left.name if grouped else "", left.rows)

    def _of(self, name: str, rows: int) -> dict[str, Codes]:
        if name not in self._kept:
            step = max(1, rows // _SAMPLE_ROWS)
            hashed = quote(name) if name else ", ".join(quote(each.name) for each in self._usable)
            terms = ", ".join(
                f"CASE WHEN {quote(each.name)} IS NULL THEN NULL ELSE hash({quote(each.name)}) END AS c{index}"
                for index, each in enumerate(self._usable)
            )
            columns = self._connection.execute(
                f"SELECT {terms} FROM {self._table.source} WHERE hash({hashed}) % {step} = 0 "
                f"LIMIT {_SAMPLE_ROWS * 2}"
            ).fetchnumpy()
            self._kept[name] = {
                each.name: _coded(np.ma.asarray(columns[f"c{index}"]))
                for index, each in enumerate(self._usable)
            }
        return self._kept[name]


def _coded(values: "np.ma.MaskedArray[tuple[int, ...], np.dtype[np.uint64]]") -> Codes:
    mask = np.ma.getmaskarray(values)
    _, inverse = np.unique(np.ma.getdata(values), return_inverse=True)
    codes = inverse.astype(np.int64)
    codes[mask] = -1
    return codes


def _together(left: Codes, right: Codes) -> Codes:
    joined = combine([left.astype(np.uint64), right.astype(np.uint64)])
    _, inverse = np.unique(joined, return_inverse=True)
    codes = inverse.astype(np.int64)
    codes[(left < 0) | (right < 0)] = -1
    return codes


def _strength(left: Codes, right: Codes, halves: Sequence[Codes] = ()) -> float | None:
    """How much of what chance leaves unexplained the rule explains in the sample; None where it is no rule.

    For a pair, chance knows each half already: the other half must explain what that one leaves open.
    """
    present = left >= 0
    rows = int(present.sum())
    if rows < _MIN_ROWS:
        return None
    left, right = left[present], right[present]
    violations = _violations(left, right)
    if violations > rows * MAX_ERROR * 2:
        return None
    known = [half[present] for half in halves] or [np.zeros(rows, dtype=np.int64)]
    by_chance = min(_violations(left, _shuffled(right, half)) for half in known)
    if by_chance < _MIN_CHANCE_VIOLATIONS:
        return None
    strength = 1 - violations / by_chance
    return strength if strength >= _MIN_STRENGTH else None


def _shuffled(values: Codes, groups: Codes) -> Codes:
    """The values dealt anew within each group, always in the same way."""
    deal = np.random.default_rng(_SEED).permutation(len(values))
    shuffled = np.empty_like(values)
    shuffled[np.argsort(groups, kind="stable")] = values[np.lexsort((deal, groups))]
    return shuffled


def _violations(left: Codes, right: Codes) -> int:
    """Rows to remove so that each left value has one right value: g3 times the rows."""
    width = int(right.max()) + 2
    pairs, counts = np.unique(left * width + right + 1, return_counts=True)
    groups = pairs // width
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    return int(len(left) - np.maximum.reduceat(counts, starts).sum())


def _confirm(
    connection: duckdb.DuckDBPyConnection, table: Table, candidate: _Candidate
) -> Dependency | None:
    names = [quote(each.name) for each in candidate.determinant]
    left = ", ".join(f"{name} AS l{index}" for index, name in enumerate(names))
    keys = ", ".join(f"l{index}" for index in range(len(names)))
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    row = connection.execute(
        f"SELECT sum(total), sum(best), count(*) FROM ("
        f"SELECT sum(n) AS total, max(n) AS best FROM ("
        f"SELECT {left}, {quote(candidate.dependent.name)} AS r, count(*) AS n FROM {table.source} "
        f"WHERE {present} GROUP BY ALL) GROUP BY {keys})"
    ).fetchone()
    if row is None or not row[0]:
        return None
    rows, kept, groups = int(row[0]), int(row[1]), int(row[2])
    error = (rows - kept) / rows
    if error > (MAX_ERROR if len(names) == 1 else MAX_ERROR_OF_PAIRS):
        return None
    return Dependency(
        table=table.name,
        determinant=tuple(each.name for each in candidate.determinant),
        dependent=candidate.dependent.name,
        error=round(error, 6),
        exact=kept == rows,
        rows=rows,
        groups=groups,
        violating_rows=rows - kept,
        essential=True,
    )


def _marked(confirmed: Sequence[Dependency]) -> list[Dependency]:
    """A minimal cover: the weakest dependencies that the remaining ones imply are marked as not essential."""
    decides = Counter(each.determinant for each in confirmed)
    weakest_first = sorted(
        confirmed,
        key=lambda each: (
            each.exact,
            decides[each.determinant],
            -each.error,
            each.determinant,
            each.dependent,
        ),
    )
    essential = set(confirmed)
    for each in weakest_first:
        if each.dependent in _closure(set(each.determinant), essential - {each}):
            essential.remove(each)
    return [replace(each, essential=each in essential) for each in confirmed]


def _closure(known: set[str], rules: set[Dependency]) -> set[str]:
    """All columns that follow from the known ones."""
    while True:
        more = {rule.dependent for rule in rules if known.issuperset(rule.determinant)} - known
        if not more:
            return known
        known |= more
