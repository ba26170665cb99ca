"""What uses a definition: playbooks, confirmed questions, and other definitions that name its table, column or metric."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from steward.definitions.document import Definitions, TableDefinition
from steward.definitions.entries import parts_of
from steward.definitions.formulas import columns_in

_DEEPEST: Final = 60
_LONGEST: Final = 20_000


@dataclass(frozen=True)
class Use:
    kind: Literal["playbook", "question", "metric", "segment", "default filter", "relationship"]
    name: str
    """How it is found: a playbook's id, the words of a question, the name of a metric."""
    title: str


@dataclass(frozen=True)
class Work:
    """Something with steps, such as a playbook: each step names the data it works on."""

    name: str
    title: str
    steps: tuple[Any, ...]


def find_uses(entry: str, definitions: Definitions, work: Iterable[Work]) -> list[Use]:
    """Everything that names what the entry defines, each once."""
    wanted = _names_of(entry, definitions)
    if not wanted:
        return []
    found = [
        Use("playbook", each.name, each.title)
        for each in work
        if any(wanted <= names_in(step) for step in each.steps)
    ]
    found += [
        Use("question", each.ask, each.ask)
        for each in definitions.questions
        if wanted <= names_in(each.reading)
    ]
    found += _among_definitions(entry, definitions)
    return list(dict.fromkeys(found))


def _names_of(entry: str, definitions: Definitions) -> frozenset[str]:
    """The names that a step must have together to be about the entry."""
    match parts_of(entry):
        case ("tables", table) | ("tables", table, "default_filters" | "segments", _):
            names = [table]
        case ("tables", table, "columns", column):
            names = [table, column]
        case ("metrics", metric):
            over = definitions.metrics.get(metric)
            names = [metric, over.over] if over else [metric]
        case _:
            names = []
    return frozenset(each.casefold() for each in names)


def names_in(step: Any) -> frozenset[str]:
    """Every text of a document and every name in its SQL, in lower case."""
    return frozenset(_names(step, 0))


def _names(value: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield value.casefold()
        if " " in value and "select" in value.casefold() and len(value) <= _LONGEST:
            yield from _names_in_sql(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            # Names of columns are keys where a document says something about each of them.
            yield str(key).casefold()
            yield from _names(each, depth + 1)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _names(each, depth + 1)


def _names_in_sql(text: str) -> Iterator[str]:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        for statement in sqlglot.parse(text, read="duckdb"):
            if statement is not None:
                for each in statement.find_all(exp.Identifier):
                    yield each.name.casefold()
    except (SqlglotError, RecursionError):
        return


def _among_definitions(entry: str, definitions: Definitions) -> Iterator[Use]:
    """Metrics, relationships, segments and filters built on a table or a column."""
    parts = parts_of(entry)
    if (
        parts[0] != "tables"
        or len(parts) not in (2, 4)
        or (len(parts) == 4 and parts[2] != "columns")
    ):
        return
    table, column = parts[1], parts[3] if len(parts) == 4 else None

    def names(columns: Iterable[str]) -> bool:
        return column is None or column in columns

    for name, metric in definitions.metrics.items():
        if metric.over == table and names(columns_in(metric.formula)):
            yield Use("metric", name, name)
    for each in definitions.relationships:
        ends = (each.from_table, each.from_columns), (each.to_table, each.to_columns)
        if any(end == table and names(columns) for end, columns in ends):
            title = f"{each.from_table} to {each.to_table}"
            yield Use("relationship", title, title)
    defined = definitions.tables.get(table)
    if column is not None and defined is not None:
        yield from _inside_table(column, defined)


def _inside_table(column: str, table: TableDefinition) -> Iterator[Use]:
    for name, segment in table.segments.items():
        if column in columns_in(segment.where):
            yield Use("segment", name, name)
    for default in table.default_filters:
        if column in columns_in(default.where):
            yield Use("default filter", default.where, default.say)
