"""A question in, an `Asked` out: what it is read as, what was not used, what was assumed, and what else it could mean."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final

from pydantic import BaseModel

from steward.agents.asking.checking import cautions, objections
from steward.agents.asking.choosing import GLUE, MOST_NEAREST, Choice, Question, choose
from steward.agents.asking.compiling import compile_reading
from steward.agents.asking.follow_ups import Shown, changed, follows
from steward.agents.asking.lacking import read_lacking
from steward.agents.asking.lexicon import Lexicon
from steward.agents.asking.offers import find_offers
from steward.agents.asking.reading import Asked, Reading, Unused
from steward.agents.asking.tokens import name_words
from steward.agents.asking.units import in_units
from steward.agents.asking.world import World
from steward.core import Invalid

_STAYS: Final = 2.0
"""How much likelier the table of the last question is."""


_MENTIONED: Final = 50.0
_SEVERAL: Final = 2


@dataclass(frozen=True)
class Before:
    """What a conversation has come to."""

    reading: Reading | None = None
    shown: Shown = field(default_factory=Shown)
    offered: tuple[Reading, ...] = ()
    """Where Steward asked back: the readings to choose from."""
    pending: tuple[str, ...] = ()
    """Where Steward asked back: words that the reading does not use; what follows does not use them either."""

    @property
    def year(self) -> int | None:
        """The year that is spoken of."""
        for each in self.reading.periods if self.reading is not None else ():
            if each.start is not None:
                return int(each.start[:4])
        return None


def given(reading: Reading, world: World) -> Asked:
    """A reading that a person chose: answered as it is."""
    return _asked(world, reading, [], [], [], [], [])


def ask(
    message: str,
    world: World,
    lexicon: Lexicon,
    today: date,
    before: Before | None = None,
    mentions: Sequence[str] = (),
) -> Asked:
    """What a message asks; tables in `mentions` are what it is about. Words that it leaves open are offered with meanings."""
    asked, question = _read(message, world, lexicon, today, before, mentions)
    if asked.status == "fact" or question is None:
        return asked
    bonus = dict.fromkeys(mentions, _MENTIONED)
    return asked.model_copy(update={"offers": find_offers(message, question, today, bonus)})


def reads_whole(message: str, world: World, lexicon: Lexicon, today: date) -> bool:
    return _read(message, world, lexicon, today)[0].status == "fact"


def _read(
    message: str,
    world: World,
    lexicon: Lexicon,
    today: date,
    before: Before | None = None,
    mentions: Sequence[str] = (),
) -> tuple[Asked, Question | None]:
    """What is asked, and the question where it is one of its own."""
    before = before or Before()
    question = Question.of(message, world, lexicon, today, before.year)
    if not question.tokens or not world.datasets:
        return Asked(status="refused"), None
    picked = _picked(question, before.offered)
    if picked is not None:
        return given(picked, world), None
    last = before.reading
    if last is not None and last.table in world.datasets:
        followed = _followed(question, world, last, before.shown)
        if followed is not None:
            others = [_followed(question, world, each, Shown()) for each in before.offered[1:]]
            readings = [each.reading for each in others if each is not None and each.reading]
            return _still_open(followed, before.pending, readings), None
    bonus = {last.table: _STAYS} if last is not None else {}
    bonus |= dict.fromkeys(mentions, _MENTIONED)
    lacked = read_lacking(
        message, lambda part: Question.of(part, world, lexicon, today, before.year)
    )
    if lacked is not None:
        reading, of = lacked
        return _asked(world, reading, [], [*of.parsed.assumed, *of.notes], [], [], []), question
    choice = choose(question, bonus)
    if last is not None and last.measures and _is_bare(choice, question):
        choice.open.append("all rows, or a figure")
    return _as_asked(question, world, choice), question


def _picked(question: Question, offered: Sequence[Reading]) -> Reading | None:
    """The one of several readings that a reply names by what sets it apart: "gross", "the net one"."""
    if len(offered) < _SEVERAL:
        return None
    named = [_names(each) for each in offered]
    said = {
        question.tokens[at].word
        for piece in question.tagged(offered[0].table).pieces
        if piece.kind not in GLUE | {"silent", "it"}
        for at in range(piece.first, piece.last)
    }
    shared = set.intersection(*named)
    fitting = [
        reading
        for reading, names in zip(offered, named, strict=True)
        if (said <= names and said - shared) or _repeats(question, reading)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _repeats(question: Question, reading: Reading) -> bool:
    """ "Gross over 5000": whether all that a reply says are conditions of the reading."""
    parsed, _, _ = question.parsed(reading.table)
    more = (parsed.measures, parsed.groups, parsed.columns, parsed.periods, parsed.order)
    alone = not any(more) and not parsed.unused and not parsed.chart and not parsed.functions
    return alone and bool(parsed.filters) and all(x in reading.filters for x in parsed.filters)


def _names(part: Any) -> set[str]:
    """The words of everything that a reading names."""
    if isinstance(part, BaseModel):
        return _names([getattr(part, name) for name in type(part).model_fields])
    if isinstance(part, list | tuple):
        return {word for each in part for word in _names(each)}
    return set(name_words(part)) if isinstance(part, str) else set()


def _is_bare(choice: Choice, question: Question) -> bool:
    """ "And the tips?" after a figure: whether all that is read is a table, though the message goes on with what was said."""
    best = choice.best
    if best is None or best.reading is None or not question.tokens[0].text.startswith("and"):
        return False
    return best.reading == Reading(table=best.reading.table)


def _still_open(asked: Asked, pending: Sequence[str], others: Sequence[Reading]) -> Asked:
    """A change of a reading that was only proposed is a proposal too: words before it are still not used."""
    if asked.reading is None or not (pending or others):
        return asked
    unused = [*(Unused(word=word, start=0, end=0) for word in pending), *asked.unused]
    nearest = [asked.reading, *others] if others else asked.nearest or [asked.reading]
    return asked.model_copy(update={"status": "proposal", "unused": unused, "nearest": nearest})


def _followed(question: Question, world: World, last: Reading, shown: Shown) -> Asked | None:
    """The message as a change of the last reading; None where it is a question of its own."""
    parsed, _, tagged = question.parsed(last.table)
    words = [token.text for token in question.tokens]
    parsed.marks |= {
        f"began {word}" for word in words if word in ("with", "split", "add", words[0])
    }
    if not follows(parsed, words):
        return None
    own = choose(question).best
    if own is not None and own.whole and own.reading is not None:
        elsewhere = own.reading.table != last.table and own.parsed.named_table
        if elsewhere:
            return None
    found = changed(last, parsed, world, shown)
    if found is None:
        return None
    reading, left = found
    unused = [
        each
        for each in left
        if each.kind not in GLUE and not (each.kind == "or" and each.first == 0)
    ]
    if own is not None and own.whole and unused:
        return None
    open_ = [each.about for each in parsed.open]
    reading, told, places = in_units(reading, world)
    assumed = [*parsed.assumed, *tagged.notes, *told]
    return _asked(world, reading, question.unused(unused), assumed, places, [], open_)


def _as_asked(question: Question, world: World, choice: Choice) -> Asked:
    best = choice.best
    if best is None or best.reading is None:
        unused = question.unused(best.unused) if best is not None else []
        return Asked(status="refused", unused=unused)
    reading, told, places = in_units(best.reading, world)
    assumed = list(dict.fromkeys([*best.parsed.assumed, *best.notes, *told]))
    nearest = [in_units(each, world)[0] for each in choice.nearest]
    unused = question.unused(best.unused)
    return _asked(world, reading, unused, assumed, places, nearest, choice.open)


def _asked(
    world: World,
    reading: Reading,
    unused: Sequence[Unused],
    assumed: Sequence[str],
    places: Sequence[str],
    nearest: Sequence[Reading],
    open_: Sequence[str],
) -> Asked:
    problems = objections(reading, world)
    assumed = [*assumed, *(each for each in cautions(reading, world) if each not in assumed)]
    try:
        compile_reading(reading, world)
    except Invalid as error:
        return Asked(status="refused", unused=list(unused), problems=[error.message])
    others = [each for each in nearest if _compiles(each, world)]
    fact = not unused and not others and not open_ and not problems
    choices = [] if fact else [reading, *others][:MOST_NEAREST]
    asked_open = [f"It is not clear which is meant: {each}." for each in open_]
    return Asked(
        status="fact" if fact else "proposal",
        reading=reading,
        unused=list(unused),
        assumed=[*assumed],
        assumed_at=[*places],
        nearest=choices,
        problems=[*problems, *dict.fromkeys(asked_open)],
    )


def _compiles(reading: Reading, world: World) -> bool:
    try:
        compile_reading(reading, world)
    except Invalid:
        return False
    return True
