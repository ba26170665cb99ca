"""Compares a question with the plan that is to answer it, whoever planned: words that no part of the plan uses are told."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from steward.agents.asking.checking import objections
from steward.agents.asking.choosing import GLUE, Question
from steward.agents.asking.lexicon import Lexicon, Sense
from steward.agents.asking.reading import Asked, Reading, Unused
from steward.agents.asking.reading_plans import read_plan
from steward.agents.asking.tagging import Piece
from steward.agents.asking.tokens import name_words
from steward.agents.asking.units import in_units
from steward.agents.asking.wording import Words
from steward.agents.asking.world import World

_NOT_READ: Final = "I cannot show how this was computed as a reading."
_ALWAYS: Final = GLUE | {"those", "page", "which", "rows", "rows of", "or", "contrast", "or more"}
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


@dataclass
class Said:
    """What a plan says, as words and numbers that a question can be compared with."""

    names: set[str] = field(default_factory=set)
    """Tables, columns, metrics, segments and values, in the form in which words are compared."""
    marks: set[str] = field(default_factory=set)
    numbers: set[float] = field(default_factory=set)

    def add(self, name: Any) -> None:
        self.names.add(" ".join(name_words(str(name))))
        self.numbers |= {float(each) for each in _NUMBER.findall(str(name))[:20]}

    def uses(self, sense: Sense) -> bool:
        if sense.kind == "table":
            return " ".join(name_words(sense.table)) in self.names
        told = sense.value if sense.kind == "value" else sense.name
        return " ".join(name_words(str(told))) in self.names


def compare(
    message: str,
    documents: list[Mapping[str, Any]],
    world: World,
    lexicon: Lexicon,
    today: date,
    *,
    texts: tuple[str, ...] = (),
    chart: str | None = None,
) -> Asked:
    """What a plan of a model answers of a question: `documents` are its query plans, `texts` its SQL and code."""
    said = Said()
    for document in documents:
        _read_document(document, said)
    for text in texts:
        _read_text(text, said)
    if chart is not None:
        said.marks.add("chart")
    reading = read_plan(documents[0], world) if len(documents) == 1 and not texts else None
    question = Question.of(message, world, lexicon, today)
    unused = list(_unused(question, world, said))
    assumed = [] if reading is not None else [_NOT_READ]
    if reading is not None:
        assumed += _unasked(reading, question, world)
        if chart in {"bar", "line", "area", "pie"}:
            reading = reading.model_copy(update={"chart": chart})
    problems = objections(reading, world) if reading is not None else []
    problems += [problem for document in documents for problem in _multiplied(document, world)]
    nearest = reading
    if reading is not None:
        nearest = in_units(reading, world)[0]
        if nearest != reading and not any(each.is_unit for each in reading.groups):
            problems.append("The amounts have several units. They cannot be added up or compared.")
    fact = not unused and not problems
    return Asked(
        status="fact" if fact else "proposal",
        reading=reading,
        unused=unused,
        assumed=list(dict.fromkeys(assumed)),
        nearest=[nearest] if nearest is not None and not fact else [],
        problems=problems,
    )


def _multiplied(document: Mapping[str, Any], world: World) -> Iterator[str]:
    """Joins under a figure that lead from one row to several: each row would be counted several times."""
    if not document.get("aggregate"):
        return
    for join in document.get("joins", ()):
        table, right = join.get("dataset"), {on.get("right") for on in join.get("on", ())}
        facts = world.datasets.get(table)
        if facts is None or join.get("kind") in {"semi", "anti"}:
            continue
        keys = [set(facts.key), *(set(each) for each in facts.keys)]
        keys += [{each.name} for each in facts.columns if each.unique]
        keys += [
            set(each.to_columns)
            for each in world.definitions.relationships
            if each.to_table == table
        ]
        if not any(key and key <= right for key in keys):
            yield f"The join with {table} can find several rows for one, so figures count rows more than once."


def _unused(question: Question, world: World, said: Said) -> Iterator[Unused]:
    """Words that carry meaning and that no part of the plan is about."""
    best: list[Piece] | None = None
    fewest = 0
    for base in world.datasets:
        left = [
            piece
            for piece in question.tagged(base).pieces
            if piece.kind != "silent" and not _is_used(piece, said)
        ]
        if best is None or len(left) < fewest:
            best, fewest = left, len(left)
    yield from question.unused(best or [])


def _is_used(piece: Piece, said: Said) -> bool:
    match piece.kind:
        case "name":
            return any(said.uses(each) for each in piece.senses)
        case "number":
            return float(piece.number or 0) in said.numbers
        case "period":
            ends = (
                [each for each in (piece.span.start, piece.span.end) if each] if piece.span else []
            )
            return any(float(each.year) in said.numbers for each in ends)
        case "function" | "functions":
            return set(piece.argument.split()) <= said.marks or (
                piece.argument == "sum" and "count" in said.marks
            )
        case "most" | "time end" | "frequent" | "adjective" | "first" | "order" | "direction":
            return "order" in said.marks or bool({"max", "min"} & said.marks)
        case "in all" | "how much":
            return bool({"sum", "count"} & said.marks)
        case "compare" | "between" | "times":
            return "compare" in said.marks
        case "each" | "unit" | "over time" | "part":
            return (
                piece.argument in said.marks
                or piece.argument in said.names
                or "group" in said.marks
            )
        case kind:
            return kind in _ALWAYS or kind in said.marks


_MARKS: Final = {
    "count": ("count",),
    "count_distinct": ("count", "distinct"),
    "sum": ("sum",),
    "avg": ("avg",),
    "min": ("min",),
    "max": ("max",),
    "median": ("median",),
    "stddev": ("stddev",),
}


def _read_document(document: Mapping[str, Any], said: Said) -> None:
    said.add(document.get("source"))
    for join in document.get("joins", ()):
        said.add(join.get("dataset"))
    for each in document.get("aggregate", ()):
        said.marks.update(_MARKS.get(each.get("function"), ()))
        said.add(each.get("name"))
    for each in document.get("window", ()):
        said.marks |= {"share", "running", "change"} & {
            {"share": "share", "difference": "change", "sum": "running"}.get(each["function"], "")
        }
    if document.get("compute") or document.get("pivot"):
        said.marks |= {"share", "change"}
    if document.get("group"):
        said.marks |= {"group", "distinct", "by"}
    if document.get("order") or document.get("limit"):
        said.marks.add("order")
    if document.get("limit"):
        said.numbers.add(float(document["limit"]))
    _read_piece(dict(document), said)
    text = json.dumps(document, default=str)
    for mark, words in {
        "compare": ('"compare"', '"between"', '"having"'),
        "not": ('"!="', '"negate": true', '"not"', '"is_null"'),
        "empty": ('"is_null"',),
        "filled": ('"is_null"',),
        "contains": ('"matches"',),
        **{unit: (f'"{unit}"',) for unit in ("year", "quarter", "month", "week", "day", "hour")},
    }.items():
        if any(word in text for word in words):
            said.marks.add(mark)


def _read_piece(piece: Any, said: Said) -> None:
    if isinstance(piece, list):
        for each in piece:
            _read_piece(each, said)
    elif isinstance(piece, Mapping):
        for key, each in piece.items():
            if key in {"column", "text", "date", "timestamp"} or (
                key == "value" and not isinstance(each, Mapping | list)
            ):
                said.add(each)
            _read_piece(each, said)
    elif isinstance(piece, str):
        said.add(piece)


def _read_text(text: str, said: Said) -> None:
    """Names and literals of SQL; of code that is no SQL, its words."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(text, read="duckdb")
    except (SqlglotError, RecursionError):
        for word in re.findall(r"\w+", text):
            said.add(word)
        said.marks |= {mark for several in _MARKS.values() for mark in several}
        said.marks |= {"group", "by", "order", "compare", "not", "share", "empty", "filled"}
        return
    for node in tree.walk():
        if isinstance(node, exp.Column | exp.Table | exp.Alias):
            said.add(node.alias_or_name)
        elif isinstance(node, exp.Literal):
            said.add(node.this)
    said.marks |= {
        mark
        for kind, marks in {
            exp.Count: ("count",),
            exp.Distinct: ("distinct",),
            exp.Sum: ("sum",),
            exp.Avg: ("avg",),
            exp.Min: ("min",),
            exp.Max: ("max",),
            exp.Median: ("median",),
            exp.Stddev: ("stddev",),
            exp.StddevSamp: ("stddev",),
            exp.Group: ("group", "by", "distinct"),
            exp.Order: ("order",),
            exp.Div: ("share", "change"),
            exp.Binary: ("compare",),
            exp.Not: ("not",),
            exp.NEQ: ("not",),
            exp.Is: ("empty", "filled", "not"),
            exp.Like: ("contains",),
            exp.Window: ("running", "change", "share"),
        }.items()
        if tree.find(kind) is not None
        for mark in marks
    }


def _unasked(reading: Reading, question: Question, world: World) -> Iterator[str]:
    """Sentences on what a plan restricts although nobody asked for it."""
    words = Words(world.definitions)
    told = {token.word for token in question.tokens}

    def spoken(*names: Any) -> bool:
        return any(word in told for name in names for word in name_words(str(name)))

    for each in reading.filters:
        if not spoken(each.column.column, *each.values):
            yield f"You did not ask for it, but only this counts: {words.filter_chip(each, reading.table)}."
    for period in reading.periods:
        years = {(end or "")[:4] for end in (period.start, period.end)}
        if not years & told and not any(
            piece.kind == "period"
            for base in list(question.world.datasets)[:1]
            for piece in question.tagged(base).pieces
        ):
            said = period.said or words.period(period, reading.table)
            yield f"You named no time. This is only {said}."
