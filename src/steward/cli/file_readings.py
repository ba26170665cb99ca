"""How files are read, in the terminal: `--read KEY=VALUE` for every option there is, and what else was possible."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from steward.core import Invalid
from steward.ingest import Inspection
from steward.tables import type_word
from steward.tools import FileOptions

_COLUMNS = "columns."
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " "}


def parse_reading(settings: Iterable[str]) -> FileOptions:
    """Options from `KEY=VALUE`; of a column: `columns.NAME.KEY=VALUE`."""
    document: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise Invalid(f"Write --read KEY=VALUE, as in --read header_row=3; not {setting!r}.")
        if key.startswith(_COLUMNS):
            name, _, part = key.removeprefix(_COLUMNS).rpartition(".")
            if not name:
                raise Invalid(f"Write --read columns.NAME.KEY=VALUE; not {setting!r}.")
            document.setdefault("columns", {}).setdefault(name, {})[part] = _value(part, value)
        else:
            document[key] = _value(key, value)
    try:
        return FileOptions.model_validate(document)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        known = ", ".join(FileOptions.model_fields)
        raise Invalid(
            f"--read {where}: {first['msg']}. These can be set: {known}, and columns.NAME.KEY."
        ) from problem


def _value(key: str, value: str) -> Any:
    if key == "null_markers":
        return [word for word in value.split(",") if word]
    if key == "delimiter":
        return _SIGNS.get(value, value)
    return None if value == "null" else value


def reading_arguments(options: Mapping[str, Any]) -> str:
    """The `--read` options that choose a reading, ready to be pasted into a shell."""
    return " ".join(f"--read {_quoted(f'{key}={value}')}" for key, value in _settings(options))


def _settings(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in options.items():
        if key == "columns":
            for name, wish in value.items():
                for part, inner in wish.items():
                    yield f"{_COLUMNS}{name}.{part}", _written(inner)
        else:
            yield key, _written(value)


def _written(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(value)
    if value is None:
        return "null"
    return (
        {"\t": "tab", " ": "space"}.get(value, value)
        if isinstance(value, str)
        else json.dumps(value)
    )


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


def other_readings(alternatives: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for every other reading, with the options that choose it."""
    return [
        f"Otherwise: {other['says']} ({other['why']}) {reading_arguments(other['options'])}"
        for other in alternatives
    ]


def inspection_lines(found: Inspection) -> list[str]:
    """What a file holds and how it would be read, a line each."""
    seen = "all" if found.complete else "the first"
    lines = [
        f"{found.format}, {len(found.columns)} columns; {seen} {found.records_seen:,} records looked at."
    ]
    if found.encoding is not None:
        lines.append(f"Encoding {found.encoding.name}: {found.encoding.reason}")
    if found.dialect is not None:
        lines.append(f"Delimiter {found.dialect.delimiter!r}: {found.dialect.reason}")
    if found.header is not None:
        row = found.header.row
        where = "No row has names" if row is None else f"Names in line {row}"
        more = f" and {found.header.rows - 1} more" if found.header.rows > 1 else ""
        lines.append(f"{where}{more}: {found.header.reason}")
    lines += [f"  {c.name}: {type_word(c.type)}. {c.reason}" for c in found.columns]
    if found.would_reject:
        lines.append(f"{found.would_reject:,} of these records do not fit and would be left out.")
    lines += [f"Note: {note.message}" for note in found.warnings]
    return lines
