"""Meanings that the data suggests for words that nothing is called by, for a person to confirm.

Each is tried: only what makes the question readable is offered, over the table where it leaves the fewest words unused.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Final

from steward.agents.asking.choosing import Candidate, Question, choose
from steward.agents.asking.figures import HOW_MUCH
from steward.agents.asking.lexicon import Lexicon
from steward.agents.asking.reading import Offer, OfferedMeaning, Reading
from steward.agents.asking.tagging import Piece
from steward.agents.asking.tokens import plain
from steward.agents.asking.wording import spaced
from steward.agents.asking.world import World
from steward.definitions import (
    Definitions,
    Metric,
    Segment,
    TableDefinition,
    pointer,
    quantity_of,
    quoted,
)

_MOST_MEANINGS: Final = 12
_MOST_TABLES: Final = 4
_COUNTED: Final = frozenset({"count", "which", "share", "number", "rows"})
"""What stands before the rows that a question is about."""


def find_offers(
    message: str, question: Question, today: date, bonus: Mapping[str, float] | None = None
) -> list[Offer]:
    """What the words that a question leaves open could be defined as; none where that would not make it readable."""
    candidates = question.candidates(bonus)
    fewest = _left(candidates[0]) if candidates else 0
    best: list[Offer] = []
    for candidate in candidates[:_MOST_TABLES]:
        table = candidate.parsed.table
        offers = list(_offers(question, candidate))
        if not offers:
            continue
        trial = World(
            question.world.datasets,
            _defined(question.world.definitions, offers),
            question.world.found,
            question.world.title,
        )
        again = Question.of(message, trial, Lexicon(trial), today)
        found = choose(again, bonus).best
        if found is None or found.reading is None or found.reading.table != table:
            continue
        used = [each for each in offers if _uses(found.reading, each)]
        if used and not found.unused and _left(found) < fewest:
            best, fewest = used, _left(found)
    return best


def _left(candidate: Candidate) -> int:
    return len(candidate.unused) + len(candidate.parsed.open)


def _offers(question: Question, candidate: Candidate) -> Iterator[Offer]:
    table, known = candidate.parsed.table, set[str]()
    if not candidate.parsed.named_table:
        pieces = [each for each in question.tagged(table).pieces if each.kind != "silent"]
        for before, piece in pairwise(pieces):
            if before.kind in _COUNTED and piece.kind == "unknown":
                yield from _row(question, table, question.tokens[piece.first].text, before.kind)
                break
    for piece in (*candidate.unused, *candidate.parsed.in_part):
        for offer in _of_piece(question, table, piece):
            if offer.entry not in known:
                known.add(offer.entry)
                yield offer


def _of_piece(question: Question, table: str, piece: Piece) -> Iterator[Offer]:
    tokens = question.tokens[piece.first : piece.last]
    said = " ".join(token.text for token in tokens)
    if piece.kind in {"how much", "most"}:
        yield from _figure(question.world, table, said, "amount", (HOW_MUCH,))
    elif piece.kind in {"unknown", "name"} and said.isalpha():
        yield from _rest(question, table, said)
        quantity = quantity_of(said)
        if quantity is not None and quantity.kind == "amount":
            yield from _figure(question.world, table, said, said, ())


def _row(question: Question, table: str, word: str, before: str) -> Iterator[Offer]:
    """ "How many stations", of a table called metro: what its rows are, unless a person said so already."""
    known = question.world.table(table)
    is_noun = plain(word) != word or before == "which"
    if known.state == "confirmed" or not is_noun or not word.isalpha():
        return
    own = known.model_dump(mode="json", include={"key", "name_column", "default_time", "synonyms"})
    yield Offer(
        word=word,
        table=table,
        entry=pointer("tables", table),
        value={name: value for name, value in own.items() if value},
        field="row",
        several=False,
        meanings=[OfferedMeaning(text=f"rows of {spaced(table)}", value=plain(word))],
    )


def _rest(question: Question, table: str, word: str) -> Iterator[Offer]:
    """ "Unpaid", where a column has the value "paid": all of its other values, from which a person takes some away."""
    for stem, sense in question.lexicon.negated(word):
        facts = question.world.facts(table, sense.name)
        if sense.kind != "value" or sense.table != table or facts is None:
            continue
        values = {each.strip().casefold(): None for each in question.world.values(table, facts)}
        others = [each for each in values if each != stem]
        if 0 < len(others) <= _MOST_MEANINGS:
            yield Offer(
                word=word,
                table=table,
                entry=pointer("tables", table, "segments", word),
                field="where",
                several=True,
                meanings=[
                    OfferedMeaning(text=f"{spaced(facts.name)} {each}", value=_is(facts.name, each))
                    for each in others
                ],
            )
            return


def _is(column: str, value: str) -> str:
    text = value.replace("'", "''")
    return f"lower(trim({quoted(column)})) = '{text}'"


def _figure(
    world: World, table: str, word: str, name: str, synonyms: Sequence[str]
) -> Iterator[Offer]:
    """Totals of the table's amounts, where the word speaks of an amount and no metric is called so."""
    amounts = [
        each.name
        for each in world.datasets[table].columns
        if each.kind == "number"
        and (quantity := quantity_of(each.name)) is not None
        and quantity.kind == "amount"
        and world.column(table, each.name).additive == "always"
        and world.column(table, each.name).role == "measure"
    ]
    if amounts and name not in world.definitions.metrics:
        yield Offer(
            word=word,
            table=table,
            entry=pointer("metrics", name),
            value={"over": table, **({"synonyms": list(synonyms)} if synonyms else {})},
            field="formula",
            several=False,
            meanings=[
                OfferedMeaning(text=f"total of {spaced(each)}", value=f"sum({quoted(each)})")
                for each in amounts[:_MOST_MEANINGS]
            ],
        )


def _defined(definitions: Definitions, offers: Sequence[Offer]) -> Definitions:
    """As they would be with the offers as they are first shown."""
    metrics, tables = dict(definitions.metrics), dict(definitions.tables)
    for offer in offers:
        name, values = _name(offer), [each.value for each in offer.meanings]
        if offer.field == "formula":
            metrics[name] = Metric.model_validate({**offer.value, "formula": values[0]})
        elif offer.field == "row":
            known = tables.get(offer.table) or TableDefinition()
            tables[offer.table] = known.model_copy(update={"row": values[0]})
        else:
            known = tables.get(offer.table) or TableDefinition()
            segments = {**known.segments, name: Segment(where=" or ".join(values))}
            tables[offer.table] = known.model_copy(update={"segments": segments})
    return definitions.model_copy(update={"metrics": metrics, "tables": tables})


def _name(offer: Offer) -> str:
    return offer.entry.rpartition("/")[2]


def _uses(reading: Reading, offer: Offer) -> bool:
    if offer.field == "row":
        return reading.table == offer.table
    metrics = {each.metric for each in reading.measures}
    return _name(offer) in metrics or _name(offer) in reading.segments
