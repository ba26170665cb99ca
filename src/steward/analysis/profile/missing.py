"""Which columns are null in the same rows."""

from collections.abc import Sequence
from itertools import combinations

from steward.analysis.profile.counting import Scope
from steward.analysis.profile.results import ColumnProfile, Missing, MissingPair, MissingTogether
from steward.tables import quote

SHOWN = 20
_READ = 5_000
_BITS = 60
_PAIR_COLUMNS = 60


def missing_together(scope: Scope, columns: Sequence[ColumnProfile]) -> Missing:
    """One scan: each row's nulls become bits, equal sets of bits are counted."""
    gappy = [column.name for column in columns if column.nulls]
    if not gappy:
        return Missing(scope.rows, (), ())
    words = []
    for start in range(0, len(gappy), _BITS):
        bits = " | ".join(
            f"(({quote(name)} IS NULL)::BIGINT << {place})"
            for place, name in enumerate(gappy[start : start + _BITS])
        )
        words.append(f"{bits} AS w{start // _BITS}")
    places = ", ".join(f"w{place}" for place in range(len(words)))
    complete = " AND ".join(f"w{place} = 0" for place in range(len(words)))
    rows = scope.connection.execute(
        f"SELECT count(*) AS c, {places} FROM (SELECT {', '.join(words)} FROM {scope.table.source}) "
        f"GROUP BY {places} ORDER BY {complete} DESC, c DESC, {places} LIMIT {_READ + 1}"
    ).fetchall()
    sets = [(_names(gappy, row[1:]), int(row[0])) for row in rows]
    together = [(names, count) for names, count in sets if names]
    return Missing(
        complete_rows=sum(count for names, count in sets if not names),
        combinations=tuple(
            MissingTogether(names, count, round(count / scope.rows, 6))
            for names, count in together[:SHOWN]
        ),
        pairs=_pairs(together, columns) if len(rows) <= _READ else (),
    )


def _names(gappy: Sequence[str], words: Sequence[int]) -> tuple[str, ...]:
    return tuple(
        name for place, name in enumerate(gappy) if words[place // _BITS] >> (place % _BITS) & 1
    )


def _pairs(
    together: Sequence[tuple[tuple[str, ...], int]], columns: Sequence[ColumnProfile]
) -> tuple[MissingPair, ...]:
    """Pairs whose nulls coincide more often than not."""
    nulls = {column.name: column.nulls for column in columns if column.nulls}
    if len(nulls) > _PAIR_COLUMNS:
        return ()
    both: dict[tuple[str, str], int] = {}
    for names, count in together:
        for pair in combinations(names, 2):
            both[pair] = both.get(pair, 0) + count
    found = []
    for (first, second), count in both.items():
        share = count / (nulls[first] + nulls[second] - count)
        if share >= 0.5:
            found.append(MissingPair(first, second, count, round(share, 6)))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.first, pair.second))[:SHOWN])
