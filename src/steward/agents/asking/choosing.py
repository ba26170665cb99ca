"""Reads a question: over which table, and as what; or says what else it could mean, and which words it did not use."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Literal

from pydantic import BaseModel

from steward.agents.asking.behind import row_behind
from steward.agents.asking.lexicon import Lexicon, Sense
from steward.agents.asking.parsing import Parser
from steward.agents.asking.parts import COUNT, Parsed
from steward.agents.asking.parts import Choice as Open
from steward.agents.asking.reading import Measured, Ordered, Reading, Unused
from steward.agents.asking.tagging import Piece, Tagged, Tagger, only
from steward.agents.asking.tokens import Token, said_words, tokens_of
from steward.agents.asking.world import World

MOST_NEAREST: Final = 3
_MOST_TRIES: Final = 8
_FAR: Final = 0.3
"""How much surer a column of another table must be than one of the table itself."""
_SAME: Final = 1.0
"""Tables whose readings score within this are equally likely."""
_NAMED: Final = 3.0
_UNREAD: Final = -30.0
_OF_ONE_ROW: Final = 4.0
_COMPARISONS: Final = frozenset({"<", "<=", ">", ">=", "between"})
GLUE: Final = frozenset(
    {"and", "which", "rows", "rows of", "again", "it", "all", "only", "also", "instead"}
)
"""Pieces that say nothing by themselves."""
_OF_ANSWERS: Final = frozenset({"page", "no filter", "shift"})
"""Pieces that change the answer before; a question of its own has none."""


@dataclass(frozen=True)
class Candidate:
    """A question as read over one table."""

    parsed: Parsed
    reading: Reading | None
    unused: tuple[Piece, ...]
    worth: float
    notes: tuple[str, ...] = ()
    others: tuple[Reading, ...] = ()
    """Readings that use all words as well."""

    @property
    def whole(self) -> bool:
        return self.reading is not None and not self.unused


@dataclass(frozen=True)
class Question:
    """A message with its words cut, ready to be read over any table."""

    world: World
    tagger: Tagger
    lexicon: Lexicon

    @classmethod
    def of(
        cls, message: str, world: World, lexicon: Lexicon, today: date, year: int | None = None
    ) -> "Question":
        tokens = tokens_of(message, names_in(world))
        return cls(world, Tagger(tokens, message.replace("_", " "), lexicon, today, year), lexicon)

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self.tagger.tokens

    def unused(self, pieces: Sequence[Piece]) -> list[Unused]:
        found = [
            Unused(word=token.text, start=token.start, end=token.end)
            for piece in pieces
            for token in self.tokens[piece.first : piece.last]
        ]
        return [each for number, each in enumerate(found) if each not in found[:number]]

    def tagged(self, base: str) -> Tagged:
        paths = self.world.paths(base)

        def reach(sense: Sense) -> Sense | None:
            if sense.table == base:
                return sense
            if sense.table not in paths or sense.kind in {"metric", "segment"}:
                return None
            if sense.kind == "table":
                return replace(sense, score=sense.score - 0.02)
            return replace(sense, score=sense.score - _FAR)

        return self.tagger.tagged(reach)

    def parsed(self, base: str, tagged: Tagged | None = None) -> tuple[Parsed, Parser, Tagged]:
        tagged = tagged or self.tagged(base)
        words = [token.text for token in self.tokens]
        parser = Parser(
            self.world, base, tagged.pieces, words, self.tagger.breaks, self.tagger.codes
        )
        return parser.parse(), parser, tagged

    def candidates(self, bonus: Mapping[str, float] | None = None) -> list[Candidate]:
        """The question over every table that it names something of; the best first."""
        found = [
            self._candidate(base, (bonus or {}).get(base, 0.0)) for base in self.world.datasets
        ]
        found.sort(key=lambda each: -each.worth)
        return found

    def _candidate(self, base: str, bonus: float) -> Candidate:
        parsed, parser, tagged = self.parsed(base)
        reading, unused = completed(parsed, parser)
        worth = tagged.worth + bonus + _UNREAD * len(unused)
        worth += _NAMED * parsed.named_table - 40.0 * (reading is None)
        worth += _OF_ONE_ROW * self._is_of_one_row(base, parsed)
        others = (
            ()
            if reading is None
            else tuple(self._others(base, parsed, tagged, reading, len(unused)))
        )
        return Candidate(parsed, reading, unused, worth, tuple(tagged.notes), others)

    def _is_of_one_row(self, base: str, parsed: Parsed) -> bool:
        """ "The population of Texas": a figure of the row that has this name, rather than of rows that mention it."""
        known = self.world.table(base)
        figures = any(each.column is not None for each in parsed.measures)
        # A second condition on a row that is named already would say nothing: other rows are meant.
        return figures and any(
            each.test == "="
            and len(each.values) == len(parsed.filters) == 1
            and each.column.table is None
            and (facts := self.world.facts(base, each.column.column)) is not None
            and bool(facts.unique)
            and each.column.column in (known.name_column, *known.key)
            for each in parsed.filters
        )

    def _others(
        self, base: str, parsed: Parsed, tagged: Tagged, reading: Reading, unused: int
    ) -> Iterator[Reading]:
        """Readings in which a word that can mean several things means another."""
        pieces = [piece for piece in tagged.pieces if piece.kind != "silent"]
        tries = [(at, sense) for at, senses in parsed.ambiguous.items() for sense in senses[1:]]
        for at, sense in tries[:_MOST_TRIES]:
            chosen = list(pieces)
            chosen[at] = only(pieces[at], sense)
            again, parser, _ = self.parsed(base, Tagged(chosen, tagged.worth))
            other, left = completed(again, parser)
            if other is not None and other != reading and len(left) <= unused:
                yield other


def names_in(world: World) -> frozenset[str]:
    """The words of names as they are written: they are not translated."""
    return frozenset[str]().union(
        *(
            said_words(name)
            for table, facts in world.datasets.items()
            for name in (table, *facts.names)
        )
    )


def completed(parsed: Parsed, parser: Parser) -> tuple[Reading | None, tuple[Piece, ...]]:
    """A reading that can be answered, and the pieces that it does not use."""
    _settle(parsed, parser)
    unused = [each for each in parsed.unused if each.kind not in GLUE]
    asked = parser.asked_columns()
    if row_behind(parsed, asked):
        parser.take_asked()
        unused = [each for each in unused if each.kind != "name"]
    if parsed.functions:
        unused += parser.function_pieces
    # "Those" are of an answer before; where there is none, nobody knows which.
    unused += [
        each
        for each in parser.pieces
        if each.kind == "those"
        and (each.argument == "same" or not parsed.named_table)
        and not (each.argument == "their" and parser.follows_a_name(each))
    ]
    unused += [each for each in parser.pieces if each.kind in _OF_ANSWERS]
    if not (parsed.named_table or parser.names_something()):
        # "How many is that": all rows are not what is spoken of.
        unused += [each for each in parser.pieces if each.kind == "it"]
    unused += parser.lost_glue()
    if not parsed.measures and parsed.groups and parsed.named_table:
        parsed.measures.append(COUNT)
    unused += _directed(parsed, parser)
    unused += _drawn(parsed, parser)
    unused += parser.asked_subject()
    is_chart = parsed.chart in {"histogram", "scatter", "box", "heatmap"} and bool(parsed.columns)
    if not parsed.measures and not (parsed.named_table or parsed.columns or is_chart):
        if not parser.chooses_rows():
            return None, tuple(unused)
        parsed.open.append(Open("these rows, or a figure of them", COUNT, ()))
    return parsed.reading(), tuple(unused)


def _drawn(parsed: Parsed, parser: Parser) -> list[Piece]:
    """Which chart is meant where only "a chart" is said; what was said of one where there is nothing to draw."""
    if parsed.chart == "none":
        parsed.chart = None
    if parsed.chart == "auto":
        timed = any(parser.is_stretch(each) for each in parsed.groups)
        parsed.chart = "line" if timed else "bar" if parsed.groups else None
        if parsed.chart is None:
            return [each for each in parser.pieces if each.kind == "chart"]
    return []


def _settle(parsed: Parsed, parser: Parser) -> None:
    """What shares, times and single rows make of the parts that a question names."""
    if parsed.share:
        _share(parsed, parser)
    if any(isinstance(each.part, Measured) and each.part.function == "avg" for each in parsed.open):
        _told_by_time(parsed, parser)
    for number, each in enumerate(parsed.measures):
        of = [filtered for filtered in parsed.filters if filtered.column == each.column]
        if each.function == "count_distinct" and of and of[0].test == "=":
            # "How often was the signal short": of one value there are no different ones.
            parsed.measures[number] = COUNT
    if parser.is_one_row_each():
        # A single figure, the average and the total are the same.
        parsed.open = [each for each in parsed.open if not isinstance(each.part, Measured)]
        if "listed" in parsed.marks and parsed.measures == [COUNT]:
            _rows_of_groups(parsed)


def _told_by_time(parsed: Parsed, parser: Parser) -> None:
    """ "Emissions of Germany since 2000": one figure for each year, where each year has one."""
    group = parser.one_row_each_by_time()
    if group is not None and len(parsed.measures) == 1 and not parsed.order and not parsed.share:
        parsed.groups.append(group)
        parsed.assumed = [each for each in parsed.assumed if not each.startswith("I took the ")]
        parsed.assumed.append(f"This is one figure for each {group.by.column}.")


def _rows_of_groups(parsed: Parsed) -> None:
    """What is listed is single rows: they are shown with what they were chosen by, not counted."""
    columns = [each.by for each in parsed.groups]
    columns += [each.column for each in parsed.filters if each.column not in columns]
    parsed.columns = [each for each in columns if each.column != "*"]
    parsed.measures, parsed.groups, parsed.rows = [], [], True


def _directed(parsed: Parsed, parser: Parser) -> list[Piece]:
    """ "Lowest first", of groups that nothing else orders; of years it may be of them or of their figures, so it is not used."""
    said = [each for each in parser.pieces if each.kind == "direction"]
    if not said or parsed.order:
        return []
    if not (parsed.groups and parsed.measures):
        compared = [each.column for each in parsed.filters if each.test in _COMPARISONS]
        if parsed.measures or len(compared) != 1 or said[0].argument not in {"asc", "desc"}:
            return said
        # "States with an income over 40000, lowest first": rows by what they are chosen by.
        falls = said[0].argument == "desc"
        parsed.order.append(Ordered(by="column", column=compared.pop(), descending=falls))
        return []
    if said[0].argument == "other" or any(parser.is_stretch(each) for each in parsed.groups):
        return said
    by: Literal["group", "measure"] = "group" if said[0].argument == "a to z" else "measure"
    parsed.order.append(Ordered(by=by, descending=said[0].argument == "desc"))
    return []


def _share(parsed: Parsed, parser: Parser) -> None:
    """Each group's part of the whole; without groups, the part of the rows that the words after the verb say."""
    if not parsed.measures:
        parsed.measures.append(COUNT)
    meant = parser.shared_conditions()
    if parsed.groups and not (meant and parsed.measures == [COUNT]):
        parsed.measures = [
            each.model_copy(update={"share": True}) if number == 0 else each
            for number, each in enumerate(parsed.measures)
        ]
        return
    whole = _shared(parsed)
    if whole is None or not meant:
        parsed.unused += [piece for piece in parser.pieces if piece.kind == "share"]
        return
    parsed.filters = [each for each in parsed.filters if each not in meant]
    names = {each.values[0] for each in meant if each.test == "is"}
    parsed.segments = [each for each in parsed.segments if each not in names]
    parsed.measures = [whole.model_copy(update={"share": True, "where": meant})]


def _shared(parsed: Parsed) -> Measured | None:
    """What a share is of: the rows, or the total of a figure; an average has no parts."""
    if parsed.measures == [COUNT]:
        return COUNT
    (first, *more) = parsed.measures
    bare = [f"I took the {said} of" for said in ("average", "total")]
    assumed = [each for each in parsed.assumed if each.startswith(tuple(bare))]
    if more or first.column is None or not (first.function == "sum" or assumed):
        return None
    # "Share of the generation": of its total, so nothing is left open.
    parsed.assumed = [each for each in parsed.assumed if each not in assumed]
    parsed.open = [each for each in parsed.open if not isinstance(each.part, Measured)]
    return Measured(function="sum", column=first.column)


@dataclass
class Choice:
    """What a question is read as: one reading, or several to choose from."""

    best: Candidate | None
    nearest: list[Reading] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


def choose(question: Question, bonus: Mapping[str, float] | None = None) -> Choice:
    """The best reading; where others are as good, those too."""
    candidates = question.candidates(bonus)
    if not candidates:
        return Choice(None)
    return chosen(candidates)


def chosen(candidates: Sequence[Candidate]) -> Choice:
    best = candidates[0]
    if best.reading is None:
        return Choice(best)
    nearest = list(best.others)
    open_ = [each.about for each in best.parsed.open]
    for each in best.parsed.open:
        nearest += [swapped(best.reading, each.part, other) for other in each.others]
    for other in candidates[1:]:
        if other.reading is None or len(other.unused) > len(best.unused):
            continue
        if best.worth - other.worth < _SAME:
            nearest.append(other.reading)
            open_.append(f"{best.reading.table} or {other.reading.table}")
    distinct = [each for each in dict.fromkeys(map(_key, nearest)) if each != _key(best.reading)]
    told = [Reading.model_validate_json(each) for each in distinct]
    return Choice(best, told, open_)


def swapped(reading: Reading, part: BaseModel, other: BaseModel | None) -> Reading:
    """The reading with one part in place of another, wherever it is; without it where there is no other."""
    old, new = part.model_dump(), None if other is None else other.model_dump()

    def visit(value: Any) -> Any:
        if value == old:
            return new
        if isinstance(value, dict):
            return {name: visit(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [visit(each) for each in value if new is not None or each != old]
        return value

    return Reading.model_validate(visit(reading.model_dump()))


def _key(reading: Reading) -> str:
    return reading.model_dump_json()
