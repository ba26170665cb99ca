"""Pieces that mean something else because of what stands beside them: days that are rows, "lowest first", a total of sales."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from steward.agents.asking.grammar import phrases
from steward.agents.asking.lexicon import Sense
from steward.agents.asking.tagging import ALIKE, Piece
from steward.agents.asking.tokens import plain
from steward.agents.asking.world import World
from steward.definitions import ColumnFacts

_SURE: Final = 0.9
_ENDS: Final = {"desc": "max", "asc": "min"}


def adjusted(pieces: Sequence[Piece], words: Sequence[str], world: World, base: str) -> list[Piece]:
    """The pieces of a question over one table, each as its neighbours make it; small words are left out."""
    found = [piece for piece in pieces if piece.kind != "silent"]
    for rule in (_row_nouns, _functions, _figures, _directions, _first_times, _both_ends):
        found = list(rule(found, words, world, base))
    return found


def _row_nouns(
    pieces: Sequence[Piece], _: Sequence[str], world: World, base: str
) -> Iterator[Piece]:
    """Of a table with one row per day, days are its rows, unless something is told per day."""
    unit = world.row_unit(base)
    for at, piece in enumerate(pieces):
        before = pieces[at - 1].kind if at else ""
        if piece.kind == "unit" and piece.argument == unit and before not in {"by", "each"}:
            yield replace(piece, kind="name", senses=(Sense("table", base),))
        else:
            yield piece


def _functions(
    pieces: Sequence[Piece], words: Sequence[str], world: World, base: str
) -> Iterator[Piece]:
    """ "Total sales": a function before a figure, although a column is called Total, too."""
    for piece, after in pairwise((*pieces, None)):
        mark = phrases().get((plain(words[piece.first]),)) if piece is not None else None
        if piece is None:
            continue
        is_word = piece.kind == "name" and piece.last == piece.first + 1
        if (
            mark is not None
            and mark.kind == "function"
            and is_word
            and after is not None
            and after.kind == "name"
            and after.first == piece.last
            and _is_sure_figure(after.senses[0], world, base)
        ):
            yield replace(piece, kind="function", argument=mark.argument, senses=())
        else:
            yield piece


def _is_sure_figure(sense: Sense, world: World, base: str) -> bool:
    own = sense.table == base and sense.score > _SURE
    role = world.column(sense.table, sense.name).role if own else ""
    return own and (sense.kind == "metric" or (sense.kind == "column" and role == "measure"))


def _figures(pieces: Sequence[Piece], _: Sequence[str], world: World, base: str) -> Iterator[Piece]:
    """A column that is called as its table counts or names what the table is about: marriages per year, industries."""
    for piece in pieces:
        alike = [each for each in piece.senses if each.score >= piece.surest - ALIKE]
        counted = [
            each
            for each in alike
            if each.kind == "column"
            and each.table == base
            and (facts := world.facts(base, each.name)) is not None
            and (
                "INT" in facts.type.upper()
                if _is_sure_figure(each, world, base)
                else _repeats(facts)
            )
        ]
        is_table = bool(alike) and alike[0].kind == "table" and alike[0].table == base
        if is_table and len(counted) == 1:
            others = tuple(each for each in piece.senses if each != counted[0])
            yield replace(piece, senses=(counted[0], *others))
        else:
            yield piece


def _repeats(facts: ColumnFacts) -> bool:
    """Whether many rows have one value: each is a figure about an industry, and no industry."""
    return facts.kind == "text" and facts.unique is False and bool(facts.values)


def _directions(pieces: Sequence[Piece], _: Sequence[str], __: World, ___: str) -> Iterator[Piece]:
    """ "Lowest first": in which order, and not which one."""
    skip = False
    for piece, after in pairwise((*pieces, None)):
        if piece is None or skip:
            skip = False
            continue
        if piece.kind == "most" and after is not None and after.kind == "first":
            skip = True
            yield replace(piece, kind="direction", last=after.last)
        else:
            yield piece


def _first_times(
    pieces: Sequence[Piece], _: Sequence[str], world: World, base: str
) -> Iterator[Piece]:
    """ "The first year", "the first president": the earliest, where no number says how many."""
    for piece, after in pairwise((*pieces, None)):
        if piece is None:
            continue
        sense = after.senses[0] if after is not None and after.senses else None
        is_row = sense is not None and sense.kind == "table" and sense.table == base
        facts = world.facts(base, sense.name) if sense is not None and sense.table == base else None
        is_time = facts is not None and world.is_time(base, facts)
        if piece.kind == "first" and (is_row or is_time):
            yield replace(piece, kind="time end", argument="asc")
        else:
            yield piece


def _both_ends(
    pieces: Sequence[Piece], _: Sequence[str], world: World, base: str
) -> Iterator[Piece]:
    """ "The smallest, average and largest yield": figures of one column rather than a ranking."""
    ends = set[int]()
    for at in range(len(pieces)):
        run, place, is_list = list[int](), at, False
        while place < len(pieces) and pieces[place].kind in {"most", "function"}:
            run.append(place)
            place += 1
            joined = place + 1 < len(pieces) and pieces[place].kind == "and"
            if joined and pieces[place + 1].kind in {"most", "function"}:
                place, is_list = place + 1, True
        named = pieces[place] if place < len(pieces) and pieces[place].senses else None
        if is_list and named is not None and _is_number(named.senses[0], world, base):
            ends.update(run)
    for at, piece in enumerate(pieces):
        if at in ends and piece.kind == "most":
            yield replace(piece, kind="function", argument=_ENDS[piece.argument])
        else:
            yield piece


def _is_number(sense: Sense, world: World, base: str) -> bool:
    facts = world.facts(base, sense.name) if sense.table == base else None
    return sense.kind == "column" and facts is not None and facts.kind == "number"
