"""Questions about tables: read, compiled and planned as a query, with a chart where one is asked for or helps."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from steward.agents.asking.asking import Before, ask, given
from steward.agents.asking.compiling import compile_reading
from steward.agents.asking.follow_ups import Shown
from steward.agents.asking.reading import Asked, Reading
from steward.agents.asking.wording import Words
from steward.agents.asking.world import FoundValue
from steward.agents.planning.task import Task
from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.drawing import add_chart, add_plain_chart
from steward.agents.rules.last_query import last_reading
from steward.agents.rules.request import Ask

_FEWEST: Final = 3
_MOST_BARS: Final = 40
PLAIN_CHARTS: Final = frozenset({"histogram", "scatter", "box", "heatmap"})


def read(request: Ask) -> Asked:
    """What a request asks of tables."""
    task, world = request.task, request.catalogue.world
    if task.reading is not None:
        return given(task.reading, world)
    known_reading = _confirmed_reading(task)
    if known_reading is not None:
        found = given(known_reading, world)
        if found.status == "fact":
            return found
    if task.proposed is not None and _agrees(request):
        return given(task.proposed, world)
    last = task.last
    shown = Shown(last.columns, last.rows) if last is not None else Shown()
    reading = last_reading(task, world)
    known = request.catalogue
    if reading is not None and shown.rows:
        known = replace(known, found=(*known.found, *_seen(reading, shown)))
    before = Before(reading, shown)
    if task.proposed is not None:
        before = Before(task.proposed, Shown(), task.offered, task.pending)
    return ask(task.message, known.world, known.lexicon, task.today, before, task.mentions)


def _agrees(request: Ask) -> bool:
    """ "Yes" and the like, and nothing else, after Steward asked back."""
    agreed = {
        *("yes", "yep", "yeah", "sure", "right", "correct", "exactly", "ok", "okay"),
        "please",
    }
    agreed |= {"the", "first", "one", "that", "this", "1", "ja"}
    said = {token.text for token in request.tokens}
    return bool(said) and said <= agreed and bool(said - {"the", "this", "please"})


def _confirmed_reading(task: Task) -> Reading | None:
    """The reading that somebody confirmed for these very words; the newest one counts."""
    said = _plain(task.message)
    for ask_, document in reversed(task.confirmed):
        if _plain(ask_) == said:
            return Reading.model_validate(document)
    return None


def _plain(message: str) -> str:
    return " ".join(message.casefold().replace("?", " ").replace(".", " ").split())


def _seen(reading: Reading, shown: Shown) -> Iterator[FoundValue]:
    """Values that the person has just been shown: "only EUR" means one of them."""
    for place, name in enumerate(shown.columns):
        ref = next((each.by for each in reading.groups if each.by.column == name), None)
        table = (ref.table if ref is not None else None) or reading.table
        for row in shown.rows:
            if place < len(row) and isinstance(row[place], str):
                yield FoundValue(table, name, row[place])


def plan_reading(request: Ask, reading: Reading) -> Draft | None:
    """The query of a reading, and its chart."""
    words = Words(request.catalogue.world.definitions)
    line = words.line(reading)
    draft = Draft(goal_of(request))
    if reading.chart in PLAIN_CHARTS:
        return draft if add_plain_chart(request, draft, reading, line) else None
    document = compile_reading(reading, request.catalogue.world)
    title = f"{line[:1].upper()}{line[1:]}"
    if not draft.add(
        request, "query", title, "execute_query_plan", {"plan": document}, reason=f"Reads: {line}"
    ):
        return None
    shape = reading.chart or _helpful(request, reading)
    # Amounts in several units have a chart of one of them, drawn from the rows of the answer.
    if shape is not None and not any(each.is_unit for each in reading.groups):
        add_chart(request, draft, document, shape)
    return draft


def _helpful(request: Ask, reading: Reading) -> str | None:
    """Figures over time are read faster as a line, and those of a handful of groups as bars."""
    if len(reading.measures) != 1 or not 1 <= len(reading.groups) <= 2 or reading.limit == 1:
        return None
    if any(each.unit is not None for each in reading.groups):
        return "line"
    facts: Any = request.catalogue.world.of(reading.table, reading.groups[0].by)
    distinct = facts[1].distinct if facts is not None else None
    few = distinct is not None and _FEWEST <= distinct <= _MOST_BARS
    asked_for = [each for each in reading.groups if not each.is_unit]
    return "bar" if few and len(asked_for) == 1 and not reading.filters else None
