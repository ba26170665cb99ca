"""What is known about datasets: names, types and what a profile or the relations found before. Nothing is scanned for it."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

from steward.store import Scope
from steward.versions import MAIN
from steward.workbench import Workbench

Kind = Literal["number", "text", "boolean", "date", "moment", "other"]
_COVERED: Final = 0.5
"""Of a column's rows, the share that must find a partner before it is taken for a reference."""
_MOST_TOP: Final = 30
_LONGEST_VALUE: Final = 60
_MOST_SHAPES: Final = 5
_NUMBERS: Final = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER"),
    *("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "REAL", "DECIMAL"),
)


@dataclass(frozen=True)
class ColumnFacts:
    name: str
    type: str
    kind: Kind
    meanings: tuple[str, ...] = ()
    """Such as `country` or `email`, the most certain first."""
    distinct: int | None = None
    nulls: int | None = None
    unique: bool | None = None
    constant: bool = False
    values: tuple[str, ...] = ()
    """Frequent values, for finding out which column a word belongs to; rows of data, so not for every model."""
    first: str | None = None
    last: str | None = None
    """Ends of a date column."""
    padded: int = 0
    """Rows with spaces around the value."""
    spellings: int = 0
    """Values that are another one in different case or spacing."""
    personal: bool = False
    low: float | None = None
    high: float | None = None
    """Ends of a number column."""
    mean: float | None = None
    deviation: float | None = None
    zeros: int | None = None
    """Rows with the number 0."""
    whole: bool | None = None
    """Whether all numbers are whole."""
    shortest: int | None = None
    longest: int | None = None
    mean_length: float | None = None
    """Characters of a text column's values."""
    shapes: tuple[str, ...] = ()
    """Shapes of texts, such as `AA99`, the most frequent first."""

    @property
    def is_time(self) -> bool:
        return self.kind in ("date", "moment")

    @property
    def is_date_text(self) -> bool:
        return self.kind == "text" and "date_text" in self.meanings

    @property
    def is_number_text(self) -> bool:
        return self.kind == "text" and bool({"number_text", "money_text"} & set(self.meanings))

    @property
    def is_reference(self) -> bool:
        """Whether its numbers count nothing: ids, codes, years."""
        return bool({"id", "reference", "postcode", "year", "month"} & set(self.meanings))


@dataclass(frozen=True)
class DatasetFacts:
    name: str
    rows: int
    columns: tuple[ColumnFacts, ...]
    version: str = ""
    profiled: bool = False
    key: tuple[str, ...] = ()
    """Columns that identify a row, where that is known."""
    duplicate_rows: int | None = None
    notes: tuple[str, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()
    """Every set of columns that was found to identify a row, the most likely first."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> ColumnFacts | None:
        wanted = name.casefold()
        return next((each for each in self.columns if each.name.casefold() == wanted), None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "DatasetFacts":
        columns = tuple(
            ColumnFacts(
                **{
                    **each,
                    "meanings": tuple(each["meanings"]),
                    "values": tuple(each["values"]),
                    "shapes": tuple(each.get("shapes", ())),
                }
            )
            for each in data["columns"]
        )
        tuples = {
            "key": tuple(data["key"]),
            "keys": tuple(tuple(each) for each in data.get("keys", ())),
            "notes": tuple(data["notes"]),
        }
        return cls(**{**data, **tuples, "columns": columns})


@dataclass(frozen=True)
class Relation:
    """A column of one dataset whose values another one has."""

    dataset: str
    column: str
    other_dataset: str
    other_column: str
    coverage: float = 1.0
    """Share of the first column's rows whose value the other one has."""
    unique: bool = True
    """Whether each value occurs once on the other side, so that a join multiplies no rows."""
    one_to_one: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def kind_of(type_name: str) -> Kind:
    """What a type of the database is to a person."""
    plain = type_name.upper().partition("(")[0].strip()
    if plain in _NUMBERS:
        return "number"
    if plain in {"VARCHAR", "TEXT", "ENUM", "UUID"}:
        return "text"
    if plain == "DATE":
        return "date"
    if plain.startswith("TIMESTAMP"):
        return "moment"
    return "boolean" if plain == "BOOLEAN" else "other"


def plain_facts(name: str, rows: int, columns: Iterable[tuple[str, str]]) -> DatasetFacts:
    """A dataset of which only the schema is known."""
    found = tuple(
        ColumnFacts(column, type_name, kind_of(type_name)) for column, type_name in columns
    )
    return DatasetFacts(name, rows, found)


def with_profile(dataset: DatasetFacts, profile: Mapping[str, Any]) -> DatasetFacts:
    """The dataset with what its profile, as a document, found."""
    by_name = {each["name"]: each for each in profile["columns"]}
    columns = tuple(
        _profiled(column, by_name[column.name]) if column.name in by_name else column
        for column in dataset.columns
    )
    keys = profile.get("keys") or ()
    return DatasetFacts(
        dataset.name,
        dataset.rows,
        columns,
        dataset.version,
        profiled=True,
        key=tuple(keys[0]["columns"]) if keys else (),
        keys=tuple(tuple(each["columns"]) for each in keys),
        duplicate_rows=profile.get("duplicate_rows"),
        notes=tuple(profile.get("notes") or ()),
    )


def _profiled(column: ColumnFacts, found: Mapping[str, Any]) -> ColumnFacts:
    text, dates = found.get("text") or {}, found.get("dates") or {}
    number = found.get("number") or {}
    # Values that a profile masks are not known to planning either.
    top = () if found.get("masked") else found.get("top") or ()
    values = (str(each["value"]) for each in top[:_MOST_TOP])
    return replace(
        column,
        meanings=tuple(each["kind"] for each in found.get("meanings") or ()),
        distinct=found.get("distinct"),
        nulls=found.get("nulls"),
        unique=found.get("unique"),
        constant=bool(found.get("constant")),
        values=tuple(value for value in values if 0 < len(value) <= _LONGEST_VALUE),
        first=dates.get("first"),
        last=dates.get("last"),
        padded=int(text.get("padded") or 0),
        spellings=int(text.get("spellings") or 0),
        personal=bool(found.get("pii")),
        low=_as_number(found.get("minimum")) if number.get("finite") else None,
        high=_as_number(found.get("maximum")) if number.get("finite") else None,
        mean=number.get("mean"),
        deviation=number.get("deviation"),
        zeros=number.get("zero"),
        whole=number.get("whole"),
        shortest=text.get("shortest"),
        longest=text.get("longest"),
        mean_length=text.get("mean_length"),
        shapes=tuple(each["shape"] for each in text.get("patterns") or ())[:_MOST_SHAPES],
    )


def _as_number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def facts_from(
    workbench: Workbench, scope: Scope, author: str, branch: str = MAIN
) -> dict[str, DatasetFacts]:
    """The datasets of a branch, with the profiles that happen to be computed; starts no computation. Blocking."""
    found: dict[str, DatasetFacts] = {}
    for dataset in workbench.datasets.workspace(scope, author).datasets(branch):
        facts = plain_facts(
            dataset.name, dataset.rows, [(each.name, each.type) for each in dataset.columns]
        )
        facts = DatasetFacts(facts.name, facts.rows, facts.columns, dataset.version)
        profile = workbench.insights.known(scope, "profile", dataset.version)
        found[dataset.name] = facts if profile is None else with_profile(facts, profile)
    return found


def relations_from(
    workbench: Workbench, scope: Scope, author: str, branch: str = MAIN
) -> tuple[Relation, ...]:
    """Keys between datasets, where they were computed for the branch as it is; starts no computation. Blocking."""
    found = workbench.insights.known_relations(scope, author, branch) or {}
    return tuple(
        Relation(
            each["table"],
            each["columns"][0],
            each["referenced_table"],
            each["referenced_columns"][0],
            float(each["coverage"]),
            each["kind"] == "foreign key",
            each["cardinality"] == "1:1",
        )
        for each in found.get("relationships", ())
        if len(each["columns"]) == 1
        and each["kind"] != "shared values"
        and each["coverage"] >= _COVERED
    )
