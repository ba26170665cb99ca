"""Comparing two versions of rows in DuckDB: by key, by row identity, or as multisets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import duckdb

from steward.core import Invalid
from steward.tables import quote
from steward.versions._manifest import Manifest
from steward.versions._read import Locate
from steward.versions._rest import Lay, Rest, rest
from steward.versions._storage import POSITION, ROW, SEGMENT
from steward.versions.diffs import ColumnChange, DiffPage, DiffRow, Method, VersionDiff
from steward.versions.results import Role

MAX_PAGE = 1_000
_KIND = (
    f"CASE WHEN a.{SEGMENT} IS NULL THEN 'added' WHEN b.{SEGMENT} IS NULL THEN 'removed' "
    "ELSE 'changed' END"
)


@dataclass(frozen=True)
class Comparison:
    """One comparison within one session."""

    connection: duckdb.DuckDBPyConnection
    before: Manifest
    after: Manifest
    locate: Locate
    lay: Lay
    asked_key: tuple[str, ...] | None = None

    @cached_property
    def key(self) -> tuple[str, ...]:
        if self.asked_key is not None:
            for name in self.asked_key:
                if name not in self.common:
                    raise Invalid(f"Column {name!r} cannot match rows: both sides need it.")
            return self.asked_key
        declared = self.after.layout.key
        usable = declared == self.before.layout.key and all(n in self.common for n in declared)
        return declared if usable else ()

    @cached_property
    def method(self) -> Method:
        if self.key:
            return "key"
        return "row" if self.before.family == self.after.family else "content"

    @cached_property
    def common(self) -> tuple[str, ...]:
        known = {column.name for column in self.before.columns}
        return tuple(column.name for column in self.after.columns if column.name in known)

    @cached_property
    def rest(self) -> Rest:
        found = rest(self.before, self.after, self.locate, self.lay, by_id=self.method == "row")
        if self.method == "key":
            for side in (found.before, found.after):
                self._check_key(side)
        return found

    def summary(self) -> VersionDiff:
        added, removed, changed, cells = self._counts()
        return VersionDiff(
            method=self.method,
            key=self.key,
            columns=column_changes(self.before, self.after),
            rows_before=self.before.rows,
            rows_after=self.after.rows,
            added=added,
            removed=removed,
            changed=changed,
            changed_cells={name: count for name, count in cells.items() if count},
        )

    def page(self, kind: Role | None, limit: int, offset: int) -> DiffPage:
        if not 1 <= limit <= MAX_PAGE or offset < 0:
            raise Invalid(f"A page holds 1 to {MAX_PAGE} rows and starts at 0 or later.")
        old, new = self.before.public_columns, self.after.public_columns
        texts = [f"CAST(a.{quote(c.name)} AS VARCHAR)" for c in old]
        texts += [f"CAST(b.{quote(c.name)} AS VARCHAR)" for c in new]
        flags = [self._differs(name) for name in self.common if name not in self.key]
        wanted = f" AND {_KIND} = '{kind}'" if kind else ""
        rows = self.connection.execute(
            f"SELECT {_KIND} AS kind, coalesce(b.{ROW}, a.{ROW}), "
            f"{', '.join([*texts, *flags])} FROM {self._differing()}{wanted} "
            f"ORDER BY coalesce(b.{SEGMENT}, a.{SEGMENT}), coalesce(b.{POSITION}, a.{POSITION}), kind "
            f"LIMIT {limit:d} OFFSET {offset:d}"
        ).fetchall()
        flagged = [name for name in self.common if name not in self.key]
        return DiffPage(old, new, tuple(_row(row, len(old), len(new), flagged) for row in rows))

    def _counts(self) -> tuple[int, int, int, dict[str, int]]:
        if self.method == "content":
            return (*self._count_surplus(), 0, {})
        names = [name for name in self.common if name not in self.key]
        cells = [
            f"count(*) FILTER ({_KIND} = 'changed' AND {self._differs(name)})" for name in names
        ]
        roles = [
            f"count(*) FILTER ({_KIND} = '{role}')" for role in ("added", "removed", "changed")
        ]
        row = self.connection.execute(
            f"SELECT {', '.join([*roles, *cells])} FROM {self._differing()}"
        ).fetchone()
        added, removed, changed, *counts = row or (0, 0, 0)
        return added, removed, changed, dict(zip(names, counts, strict=False))

    def _differing(self) -> str:
        """A FROM item over sides a and b that yields differing rows only."""
        if self.method == "content":
            return self._surplus()
        names = [name for name in self.common if name not in self.key]
        differs = " OR ".join(self._differs(name) for name in names) or "false"
        if self.method == "key":
            joined = f"FULL JOIN {self.rest.after} b ON " + " AND ".join(map(self._same, self.key))
        elif self.rest.aligned:
            # Every row was written again: reading both sides in step needs no hash table of one of them.
            joined = f"POSITIONAL JOIN {self.rest.after} b"
        else:
            joined = f"FULL JOIN {self.rest.after} b ON a.{ROW} = b.{ROW}"
        return f"{self.rest.before} a {joined} WHERE (a.{SEGMENT} IS NULL OR b.{SEGMENT} IS NULL OR {differs})"

    def _differs(self, name: str) -> str:
        left, right = self._sides(name)
        return f"{left} IS DISTINCT FROM {right}"

    def _same(self, name: str) -> str:
        left, right = self._sides(name)
        return f"{left} IS NOT DISTINCT FROM {right}"

    def _sides(self, name: str) -> tuple[str, str]:
        """A column on both sides, as text where its type changed."""
        types = {c.name: c.type for c in self.before.columns}
        left, right = f"a.{quote(name)}", f"b.{quote(name)}"
        if types[name] == next(c.type for c in self.after.columns if c.name == name):
            return left, right
        return f"CAST({left} AS VARCHAR)", f"CAST({right} AS VARCHAR)"

    def _fingerprints(self) -> str:
        types = {c.name: c.type for c in self.before.columns}
        retyped = {
            c.name for c in self.after.columns if c.name in types and types[c.name] != c.type
        }
        return _fingerprint(self.common, retyped, types)

    def _surplus(self) -> str:
        """Rows that occur more often on one side: each side numbers its equal rows, equal numbers cancel."""
        sides = [
            f"(SELECT *, row_number() OVER (PARTITION BY h1, h2 ORDER BY {SEGMENT}, {POSITION}) "
            f"AS h3 FROM (SELECT *, {self._fingerprints()} FROM {side}))"
            for side in (self.rest.before, self.rest.after)
        ]
        return (
            f"{sides[0]} a FULL JOIN {sides[1]} b ON a.h1 = b.h1 AND a.h2 = b.h2 AND a.h3 = b.h3 "
            f"WHERE (a.{SEGMENT} IS NULL OR b.{SEGMENT} IS NULL)"
        )

    def _count_surplus(self) -> tuple[int, int]:
        """The same counted only, which needs no numbering."""
        fields = self._fingerprints()
        row = self.connection.execute(
            "SELECT coalesce(sum(greatest(n, 0)), 0)::BIGINT, coalesce(sum(greatest(-n, 0)), 0)::BIGINT "
            f"FROM (SELECT sum(side) AS n FROM (SELECT -1 AS side, {fields} FROM {self.rest.before} "
            f"UNION ALL SELECT 1, {fields} FROM {self.rest.after}) GROUP BY h1, h2 HAVING sum(side) <> 0)"
        ).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def _check_key(self, side: str) -> None:
        names = ", ".join(map(quote, self.key))
        row = self.connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {side} GROUP BY {names} HAVING count(*) > 1)"
        ).fetchone()
        if row and row[0]:
            raise Invalid(
                f"{', '.join(self.key)} does not identify rows: {row[0]} value(s) occur more than once. "
                "Compare by another key, or by content."
            )


def column_changes(before: Manifest, after: Manifest) -> tuple[ColumnChange, ...]:
    old = {column.name: column.type for column in before.columns}
    new = {column.name: column.type for column in after.columns}
    found = [ColumnChange(name, "removed", old[name], None) for name in old if name not in new]
    found += [ColumnChange(name, "added", None, new[name]) for name in new if name not in old]
    found += [
        ColumnChange(name, "retyped", old[name], new[name])
        for name in new
        if name in old and old[name] != new[name]
    ]
    kept_before = [name for name in old if name in new]
    kept_after = [name for name in new if name in old]
    found += [
        ColumnChange(name, "moved", str(kept_before.index(name) + 1), str(position))
        for position, name in enumerate(kept_after, start=1)
        if kept_before[position - 1] != name
    ]
    return tuple(found)


def _fingerprint(names: Sequence[str], retyped: set[str], types: dict[str, str]) -> str:
    """Two hashes per row. The second mixes texts with a salt and in another order: equal pairs of different
    rows are then as unlikely as a broken disk."""
    if not names:
        return "0 AS h1, 0 AS h2"
    plain = [f"CAST({quote(n)} AS VARCHAR)" if n in retyped else quote(n) for n in names]
    salted = [
        f"({value} || chr(1))" if name in retyped or types[name] == "VARCHAR" else value
        for name, value in zip(names, plain, strict=True)
    ]
    return f"hash({', '.join(plain)}) AS h1, hash({', '.join(reversed(salted))}) AS h2"


def _row(row: Sequence[object], old: int, new: int, flagged: Sequence[str]) -> DiffRow:
    kind: Role = row[0]  # type: ignore[assignment]
    number: int | None = row[1]  # type: ignore[assignment]
    before: tuple[str | None, ...] = tuple(row[2 : 2 + old])  # type: ignore[arg-type]
    after: tuple[str | None, ...] = tuple(row[2 + old : 2 + old + new])  # type: ignore[arg-type]
    flags = row[2 + old + new :]
    changed = tuple(name for name, flag in zip(flagged, flags, strict=True) if flag)
    return DiffRow(
        kind=kind,
        row=number,
        before=None if kind == "added" else before,
        after=None if kind == "removed" else after,
        changed=changed if kind == "changed" else (),
    )
