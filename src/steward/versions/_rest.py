"""What two versions do not share: the rows that a comparison has to look at.

Segments with the same part and patch on both sides are left out. Where only the patch differs, only the rows that
either patch names remain. So a comparison costs what changed, not what there is.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steward.versions._manifest import Manifest, Segment
from steward.versions._read import Locate, Reading, patches, select
from steward.versions._storage import POSITION, SEGMENT

Lay = Callable[[str], str]


@dataclass(frozen=True)
class Rest:
    """FROM items of the rows that may differ: columns, segment, position and row id."""

    before: str
    after: str
    aligned: bool = False
    """Whether row n of the one side is row n of the other."""


@dataclass(frozen=True)
class _Split:
    alone_before: tuple[int, ...]
    alone_after: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    """Segments over the same part that differ in their patch."""


def rest(before: Manifest, after: Manifest, locate: Locate, lay: Lay, *, by_id: bool) -> Rest:
    """With `by_id`, equal rows under another id count as different."""
    split = _split(before, after, by_id=by_id)
    if not split.pairs:
        first = _numbers(before, split.alone_before)
        return Rest(
            f"({_rows(before, locate, split.alone_before)})",
            f"({_rows(after, locate, split.alone_after)})",
            aligned=first is not None and first == _numbers(after, split.alone_after),
        )
    named = lay(_named_rows(before, after, locate, split.pairs))
    return Rest(
        _with_pairs(before, locate, split.alone_before, [a for a, _ in split.pairs], named, "a"),
        _with_pairs(after, locate, split.alone_after, [b for _, b in split.pairs], named, "b"),
    )


def _split(before: Manifest, after: Manifest, *, by_id: bool) -> _Split:
    def content(segment: Segment) -> tuple[object, ...]:
        return segment.content if by_id else segment.content[:3]

    if before.columns != after.columns:
        # The same bytes may mean other values under other columns: compare all of it.
        everything = tuple(range(len(before.segments))), tuple(range(len(after.segments)))
        return _Split(*everything, ())
    shared = Counter(map(content, before.segments)) & Counter(map(content, after.segments))
    left = _unshared(before.segments, shared.copy(), content)
    right = _unshared(after.segments, shared.copy(), content)
    pairs: list[tuple[int, int]] = []
    bases = {(after.segments[i].digest, after.segments[i].ids): i for i in right}
    for index in left:
        segment = before.segments[index]
        other = bases.pop((segment.digest, segment.ids), None)
        if other is not None:
            pairs.append((index, other))
    paired_left, paired_right = {a for a, _ in pairs}, {b for _, b in pairs}
    return _Split(
        tuple(index for index in left if index not in paired_left),
        tuple(index for index in right if index not in paired_right),
        tuple(pairs),
    )


def _unshared(
    segments: Sequence[Segment],
    shared: Counter[tuple[object, ...]],
    content: Callable[[Segment], tuple[object, ...]],
) -> list[int]:
    found = []
    for index, segment in enumerate(segments):
        if shared[content(segment)] > 0:
            shared[content(segment)] -= 1
        else:
            found.append(index)
    return found


def _numbers(manifest: Manifest, chosen: Sequence[int]) -> list[tuple[int, int]] | None:
    """First id and number of rows of each segment; none where ids have gaps or rows another order."""
    segments = [manifest.segments[index] for index in chosen]
    if any(segment.patch or segment.ids.digest for segment in segments):
        return None
    return [(segment.ids.low, segment.rows) for segment in segments]


def _rows(manifest: Manifest, locate: Locate, chosen: Sequence[int]) -> str:
    reading = Reading(only=tuple(chosen), address=True, ids=True, ordered=False)
    return select(manifest, locate, reading)


def _named_rows(
    before: Manifest, after: Manifest, locate: Locate, pairs: Sequence[tuple[int, int]]
) -> str:
    """A SELECT of the rows that a patch of either side names: segment before, segment after, position."""
    listed = ", ".join(f"({a}, {b})" for a, b in pairs)
    queries = []
    for manifest, side, index in ((before, "a", 0), (after, "b", 1)):
        chosen = [pair[index] for pair in pairs if manifest.segments[pair[index]].patch]
        if chosen:
            queries.append(
                f"SELECT m.a, m.b, p.{POSITION} AS position FROM {patches(manifest, locate, chosen)} p "
                f"JOIN (VALUES {listed}) m(a, b) ON m.{side} = p.{SEGMENT}"
            )
    return " UNION ".join(queries)


def _with_pairs(
    manifest: Manifest,
    locate: Locate,
    alone: Sequence[int],
    paired: Sequence[int],
    named: str,
    side: str,
) -> str:
    rows = (
        f"SELECT r.* FROM ({_rows(manifest, locate, paired)}) r SEMI JOIN {named} n "
        f"ON n.{side} = r.{SEGMENT} AND n.position = r.{POSITION}"
    )
    if alone:
        rows = f"({_rows(manifest, locate, alone)}) UNION ALL ({rows})"
    return f"({rows})"
