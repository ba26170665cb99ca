"""Merging rows: the changes of two sides to one dataset, where they touched different rows."""

from dataclasses import dataclass

from steward.core import Invalid
from steward.tables import quote
from steward.versions._edit import KEY_VIOLATION, Edited, Editor
from steward.versions._manifest import Manifest
from steward.versions._plan import Plan
from steward.versions._read import Reading, select
from steward.versions._rest import rest
from steward.versions._storage import GONE, POSITION, ROW, SEGMENT, encoded

_LISTED = 20


@dataclass(frozen=True)
class Clash:
    """Why rows could not be merged."""

    reason: str
    rows: int = 0
    row_ids: tuple[int, ...] = ()


def merge_rows(work: Editor, base: Manifest, theirs: Manifest) -> Edited | Clash:
    """Their changes since `base` on top of ours, which is the manifest that `work` edits."""
    ours = work.manifest
    if not base.family == ours.family == theirs.family:
        return Clash("one side wrote the whole table anew, so rows cannot be told apart")
    if not base.columns == ours.columns == theirs.columns:
        return Clash("the columns differ")
    mine = work.lay(_changes(work, base, ours))
    other = work.lay(_changes(work, base, theirs))
    same = " AND ".join(
        f"m.{quote(c.name)} IS NOT DISTINCT FROM t.{quote(c.name)}" for c in ours.columns
    )
    both = f"{other} t JOIN {mine} m USING ({ROW})"
    clashing = f"{both} WHERE NOT (t.{GONE} = m.{GONE} AND (t.{GONE} OR ({same})))"
    rows = work.connection.execute(
        f"SELECT t.{ROW}, count(*) OVER () FROM {clashing} ORDER BY 1 LIMIT {_LISTED}"
    ).fetchall()
    if rows:
        return Clash("both sides changed the same rows", rows[0][1], tuple(row[0] for row in rows))
    try:
        return work.apply(_replay(work, mine, other), arriving_ids=True)
    except Invalid as error:
        if error.specific_code != KEY_VIOLATION:
            raise
        return Clash(f"together they break the key {', '.join(ours.layout.key)}")


def _changes(work: Editor, base: Manifest, side: Manifest) -> str:
    """A SELECT of the rows a side changed: id, whether gone, whether new, values, place."""
    pieces = rest(base, side, work.locate, work.lay, by_id=True)
    values = ", ".join(f"b.{quote(column.name)}" for column in side.columns)
    differs = " OR ".join(
        f"a.{quote(c.name)} IS DISTINCT FROM b.{quote(c.name)}" for c in side.columns
    )
    return (
        f"SELECT coalesce(b.{ROW}, a.{ROW}) AS {ROW}, b.{SEGMENT} IS NULL AS {GONE}, "
        f"a.{SEGMENT} IS NULL AS fresh, {values}, b.{SEGMENT}, b.{POSITION} "
        f"FROM {pieces.before} a FULL JOIN {pieces.after} b ON a.{ROW} = b.{ROW} "
        f"WHERE a.{SEGMENT} IS NULL OR b.{SEGMENT} IS NULL OR {differs}"
    )


def _replay(work: Editor, mine: str, other: str) -> Plan:
    """Their changes as a plan on our version, without those we made as well."""
    ours = work.manifest
    stored = ", ".join(
        f"{encoded(c, f't.{quote(c.name)}')} AS {quote(c.stored_name)}" for c in ours.columns
    )
    wanted = f"{other} t ANTI JOIN {mine} m USING ({ROW})"
    places = select(ours, work.locate, Reading(columns=(), address=True, ids=True, ordered=False))
    touched = (
        f"SELECT o.{SEGMENT}, o.{POSITION}, t.{GONE}, {stored} FROM ({places}) o "
        f"JOIN (SELECT t.* FROM {wanted} WHERE NOT t.fresh) t ON o.{ROW} = t.{ROW}"
    )
    arriving = (
        f"SELECT {stored}, t.{ROW} FROM {wanted} WHERE t.fresh ORDER BY t.{SEGMENT}, t.{POSITION}"
    )
    return Plan(touched=(touched,), arriving=(arriving,))
