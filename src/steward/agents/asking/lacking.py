"""Rows that no others lead to: "customers without overdue invoices" are customers, less those that such invoices have."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from steward.agents.asking.choosing import Candidate, Question
from steward.agents.asking.reading import Lacking, Reading

_WITHOUT: Final = re.compile(
    r"\s+(?:(?:that|who|which)\s+)?(?:(?:have|has|had|with|got)\s+(?:no|not\s+any|never\s+had(?:\s+any)?)"
    r"|(?:do|does|did)\s*(?:not|n['’]t)\s+have(?:\s+an?y?)?|without(?:\s+any)?)\s+",
    re.IGNORECASE,
)
Read = Callable[[str], Question]


def read_lacking(message: str, read: Read) -> tuple[Reading, Candidate] | None:
    """The reading of rows without others, and what is said of them; None where the message asks for nothing like it."""
    parts = _WITHOUT.split(message)
    if len(parts) != 2 or not all(part.strip(" ?.!") for part in parts):
        return None
    found = [
        (candidate.reading.model_copy(update={"lacking": [lacking]}), candidate)
        for candidate in _whole(read(parts[0]))
        if candidate.reading is not None
        for lacking in _lacked(read(parts[1]), candidate.reading.table)
    ]
    return found[0] if len(found) == 1 else None


def _whole(question: Question) -> Iterator[Candidate]:
    """Readings of all words, each of rows that the words name."""
    for each in question.candidates():
        is_sure = each.whole and not each.parsed.open and not each.others
        if is_sure and each.parsed.named_table:
            yield each


def _lacked(question: Question, owner: str) -> Iterator[Lacking]:
    for found in _whole(question):
        reading = found.reading
        if reading is None:
            continue
        conditions = {name: getattr(reading, name) for name in ("filters", "segments", "periods")}
        columns = [each.column for each in reading.filters]
        columns += [each.column for each in reading.periods]
        own = all(column.table is None for column in columns)
        if not own or reading != Reading(table=reading.table, **conditions):
            continue
        ways = [way for way in question.world.leading_to(owner) if way.from_table == reading.table]
        if len(ways) == 1 and len(ways[0].from_columns) == 1:
            yield Lacking(table=reading.table, via=ways[0].from_columns[0], **conditions)
