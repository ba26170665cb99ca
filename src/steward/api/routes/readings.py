"""Readings of questions: what can stand at each place of one, for chips that people change and for the query builder."""

from itertools import islice
from typing import Annotated, Final, TypeVar

from fastapi import Query, Request
from pydantic import Field, TypeAdapter, ValidationError

from steward.agents import Chip, ColumnRef, Option, Options, Reading, Words, Writing
from steward.api.context import steward_of
from steward.api.documents import Cursor, Limit, Output, encode_cursor, offset_of
from steward.api.guards import AsViewer
from steward.api.routing import Router
from steward.api.types import BranchName
from steward.app import Steward
from steward.core import Invalid, in_words, mistakes
from steward.definitions import facts_from
from steward.identity import Access

router = Router(prefix="/projects/{project_id}/readings", tags=["chat"])
_T = TypeVar("_T")
_READING: Final = TypeAdapter(Reading)
_COLUMN: Final = TypeAdapter(ColumnRef)
_MOST_VALUES: Final = 500


class OptionOut(Output):
    text: str
    group: str = Field(description="A heading that options share.")
    detail: str
    reading: Reading | None = Field(
        description="The reading once this is chosen; null: choose a value of `column` next."
    )
    line: str = Field(description="That reading in one line, as a message says it.")
    column: ColumnRef | None


class AdditionOut(Output):
    pointer: str
    text: str


class ReadingOptions(Output):
    chips: list[Chip] = Field(description="The reading as it is.")
    line: str = Field(description="The reading in one line.")
    additions: list[AdditionOut] = Field(description="Where something can be added.")
    items: list[OptionOut]
    next_cursor: str | None


@router.get("/options")
def list_reading_options(
    request: Request,
    access: AsViewer,
    reading: Annotated[
        str | None, Query(max_length=20_000, description="The reading as JSON; unset: a new one.")
    ] = None,
    pointer: Annotated[
        str | None,
        Query(max_length=100, description="Where, as a JSON pointer; `-` adds: `/groups/-`."),
    ] = None,
    column: Annotated[
        str | None, Query(max_length=2_000, description="Of a condition: its column, as JSON.")
    ] = None,
    search: Annotated[str, Query(max_length=200)] = "",
    branch: BranchName = "main",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> ReadingOptions:
    """What can stand at a place of a reading, each with the whole changed reading; values are searched in the data."""
    steward = steward_of(request)
    given = None if reading is None else _parsed(_READING, reading, "reading")
    of_column = None if column is None else _parsed(_COLUMN, column, "column")
    definitions = steward.definitions.effective(access.scope, access.user_id, branch)
    words = Words(definitions, Writing(_locale(steward, access)))
    options = _options(steward, access, words, branch)
    found: list[Option] = []
    begin = offset_of(cursor)
    if pointer is not None or given is None:
        offered = options.at(given, pointer or "", search.strip(), of_column)
        found = list(islice(offered, begin, begin + limit + 1))
    more = len(found) > limit
    return ReadingOptions(
        chips=list(words.chips(given)) if given is not None else [],
        line=words.line(given) if given is not None else "",
        additions=[
            AdditionOut(pointer=at, text=text)
            for at, text in (options.additions(given) if given is not None else ())
        ],
        items=[_option_out(each, words) for each in found[:limit]],
        next_cursor=encode_cursor(str(begin + limit)) if more else None,
    )


def _option_out(option: Option, words: Words) -> OptionOut:
    line = words.line(option.reading) if option.reading is not None else ""
    return OptionOut(**vars(option), line=line)


def _options(steward: Steward, access: Access, words: Words, branch: str) -> Options:
    workbench = steward.workbench
    datasets = facts_from(workbench, access.scope, access.user_id, branch)

    def values(table: str, column: str, text: str) -> list[tuple[str, int]]:
        known = datasets.get(table)
        if known is None or known.column(column) is None:
            return []
        return workbench.datasets.values(access.scope, known.version, column, text, _MOST_VALUES)

    return Options(words, datasets, values, steward.clock.now().date())


def _locale(steward: Steward, access: Access) -> str | None:
    return steward.identity.users.get(access.user_id).locale


def _parsed(adapter: TypeAdapter[_T], text: str, name: str) -> _T:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        found = mistakes(error, f"/query/{name}")
        raise Invalid(f"The {name} does not fit: {in_words(found)}.", problems=found) from None
