"""Proposes definitions from what is known of datasets: schemas, profiles, keys and relations. Pure; reads no rows.

The values decide where they can: what is unique, dense, of fixed length or pointed at by a relation is an identifier; what
repeats is a dimension; what a key holds together with a time is a stock per time. Names are weak evidence, through the declared
table of quantities. Where neither can tell, the cautious definition is proposed: a number that is never added up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from steward.definitions.document import (
    Additive,
    ColumnDefinition,
    Definitions,
    Metric,
    Relationship,
    TableDefinition,
)
from steward.definitions.facts import ColumnFacts, DatasetFacts, Relation
from steward.definitions.quantities import (
    calendar_part_of,
    products,
    quantity_of,
    unit_of,
    words,
)

_NEARLY_ALL: Final = 0.95
_MANY: Final = 0.5
_DENSE: Final = 0.5
_FEW_VALUES: Final = 12
"""Up to so many different whole numbers sort rows into groups."""
_REPEATED: Final = 8
"""Rows that each of few values has at least, before the values are taken for groups."""
_SENTENCE: Final = 60
"""Characters on average from which a text is read, not grouped by."""
_FIXED_DIGITS: Final = 4
_SPREAD: Final = 0.3
"""Part of all numbers with so many digits that given numbers lie over."""
_SPARSE: Final = 0.2
_LONGEST_NAME: Final = 200
_CODES: Final = frozenset(
    {
        *("uuid", "hash", "isin", "isbn", "ean", "bic", "iban", "postcode", "id", "reference"),
        *("email", "phone"),
    }
)
_READ: Final = frozenset({"free_text", "url", "json", "path", "address"})


def propose_definitions(
    datasets: Mapping[str, DatasetFacts], relations: Sequence[Relation]
) -> Definitions:
    """A definition of every table, column and relationship that the facts support, each with its evidence."""
    datasets = {
        name: _nameable(facts) for name, facts in datasets.items() if len(name) <= _LONGEST_NAME
    }
    pointing = {(each.dataset, each.column): each for each in relations if each.unique}
    nouns = frozenset(words(name)[-1:] for name in datasets if words(name))
    tables = {
        name: _propose_table(facts, pointing, nouns)
        for name, facts in datasets.items()
        if facts.columns
    }
    metrics: dict[str, Metric] = {}
    for name, facts in datasets.items():
        _add_products(metrics, name, facts, tables.get(name))
    return Definitions(
        tables=tables,
        metrics=metrics,
        relationships=[
            Relationship(
                from_table=each.dataset,
                from_columns=[each.column],
                to_table=each.other_dataset,
                to_columns=[each.other_column],
                cardinality="one_to_one" if each.one_to_one else "many_to_one",
                role=_relation_role(each),
                why=f"{each.coverage:.0%} of the rows find a partner, each at most one.",
            )
            for each in relations
            if each.unique and each.dataset in tables and each.other_dataset in tables
        ],
    )


def _nameable(facts: DatasetFacts) -> DatasetFacts:
    """Without columns that have no name, or one that is no name."""
    named = tuple(each for each in facts.columns if 0 < len(each.name) <= _LONGEST_NAME)
    return facts if len(named) == len(facts.columns) else replace(facts, columns=named)


def _relation_role(relation: Relation) -> str:
    """What the column's name adds to the other table's: `origin` of airports, `ship to` of addresses."""
    known = {*words(relation.other_dataset), *words(relation.other_column)}
    own = [word for word in words(relation.column) if word not in known]
    return " ".join(own)[:60]


@dataclass(frozen=True)
class _Table:
    """What a column is judged against."""

    facts: DatasetFacts
    pointing: Mapping[tuple[str, str], Relation]
    nouns: frozenset[tuple[str, ...]]
    key: tuple[str, ...]
    currency: str
    currency_column: str | None
    """Says the currency of each row, where there are several."""

    def filled(self, column: ColumnFacts) -> int:
        return self.facts.rows - (column.nulls or 0)

    def uniqueness(self, column: ColumnFacts) -> float | None:
        """Different values per row with a value; unset where too few rows say anything."""
        filled = self.filled(column)
        return column.distinct / filled if column.distinct is not None and filled > 1 else None


def _propose_table(
    facts: DatasetFacts,
    pointing: Mapping[tuple[str, str], Relation],
    nouns: frozenset[tuple[str, ...]],
) -> TableDefinition:
    table = _Table(facts, pointing, nouns, facts.key, *_currency(facts))
    columns = {each.name: _propose_column(each, table) for each in facts.columns}
    panel_time = _panel_time(facts, columns)
    if panel_time is not None:
        columns = {name: _per_time(each, panel_time) for name, each in columns.items()}
    return TableDefinition(
        row=" ".join(words(facts.name))[:100],
        key=list(facts.key)[:10],
        name_column=_name_column(table, columns),
        default_time=_default_time(facts, columns),
        columns=columns,
        why="From its profile." if facts.profiled else "From its schema; it has no profile yet.",
    )


def _currency(facts: DatasetFacts) -> tuple[str, str | None]:
    """The only currency of the table's amounts, or the column that says it for each row."""
    found = [
        each
        for each in facts.columns
        if "currency" in (*each.meanings, each.name.casefold()) and each.kind == "text"
    ]
    if len(found) != 1:
        return "", None
    if found[0].constant:
        return (found[0].values[0] if found[0].values else ""), None
    return "", found[0].name


def _propose_column(column: ColumnFacts, table: _Table) -> ColumnDefinition:
    if column.is_time:
        zone = "UTC" if "TIME ZONE" in column.type.upper() else None
        return ColumnDefinition(role="time", zone=zone, why="It has dates.")
    if column.is_date_text:
        return ColumnDefinition(role="time", why="Its texts are dates.")
    if column.kind == "boolean":
        return ColumnDefinition(role="dimension", why="It is yes or no.")
    if column.kind == "number":
        return _propose_number(column, table)
    if column.kind == "text":
        return _propose_text(column, table)
    return ColumnDefinition(role="text", why=f"Its type is {column.type}.")


def _propose_text(column: ColumnFacts, table: _Table) -> ColumnDefinition:
    relation = table.pointing.get((table.facts.name, column.name))
    if relation is not None:
        return _identifier(f'Its values name rows of "{relation.other_dataset}".')
    if "country" in column.meanings or "currency" in column.meanings:
        return ColumnDefinition(role="dimension", why=f"Its values are a {column.meanings[0]}.")
    if _CODES.intersection(column.meanings):
        return _identifier("Its values are codes.")
    if _READ.intersection(column.meanings) or (column.mean_length or 0) > _SENTENCE:
        return ColumnDefinition(role="text", why="Its values are longer texts.")
    quantity = quantity_of(column.name)
    named = quantity.kind if quantity else ""
    uniqueness = table.uniqueness(column)
    if uniqueness is None:
        if named == "identifier":
            return _identifier("By its name; its values are not known.")
        return ColumnDefinition(role="dimension", why="It has texts.")
    if uniqueness >= _MANY and _is_code(column):
        return _identifier("Nearly every row has a code of its own.")
    if named == "identifier" and _is_code(column) and uniqueness >= 1 / _REPEATED:
        return _identifier("Its values are codes, and its name says so.")
    return ColumnDefinition(
        role="dimension", why=f"It has {column.distinct} different values, which are names."
    )


def _is_code(column: ColumnFacts) -> bool:
    """Whether texts are made to identify: one word each, with digits or of one length in capitals."""
    shapes = column.shapes
    if not shapes or any(" " in shape for shape in shapes[:3]):
        return False
    fixed = column.shortest == column.longest and (column.longest or 0) >= 2
    capitals = all("a" not in shape and "x" not in shape for shape in shapes[:3])
    return all("9" in shape for shape in shapes[:3]) or (fixed and capitals)


def _identifier(why: str) -> ColumnDefinition:
    return ColumnDefinition(role="identifier", additive="never", why=why)


def _propose_number(column: ColumnFacts, table: _Table) -> ColumnDefinition:
    whole = column.whole if column.whole is not None else ("INT" in column.type.upper())
    if whole:
        found = _propose_whole(column, table)
        if found is not None:
            return found
    return _measure(column, table, whole)


def _propose_whole(column: ColumnFacts, table: _Table) -> ColumnDefinition | None:
    """What whole numbers are where they count nothing: a reference, part of a date, a code, a few groups."""
    relation = table.pointing.get((table.facts.name, column.name))
    quantity = quantity_of(column.name)
    named = quantity.kind if quantity else ""
    if relation is not None and named in ("", "identifier", "name"):
        return _identifier(f'Its values name rows of "{relation.other_dataset}".')
    part = _calendar(column, table)
    if part is not None:
        return part
    if named == "identifier" or "id" in column.meanings:
        return _identifier("By its name and its whole numbers.")
    if words(column.name)[-1:] in table.nouns and not named and not _is_plural(column.name):
        return _identifier("It is named like a table, so it names a row.")
    code = _is_number_code(column, table) if named in ("", "name") else ""
    if code:
        return _identifier(code)
    if named in ("", "score", "name") and _is_grouping(column, table):
        return ColumnDefinition(
            role="dimension",
            additive="never",
            why=f"It has {column.distinct} whole numbers, each many times.",
        )
    return None


def _is_plural(name: str) -> bool:
    """Whether a name is of several: "marriages" counts them, "flight" names one."""
    return not name.casefold().endswith(words(name)[-1])


def _calendar(column: ColumnFacts, table: _Table) -> ColumnDefinition | None:
    part = calendar_part_of(column.name)
    if part is None and column.name in table.key and len(table.key) > 1 and _like_years(column):
        part = calendar_part_of("year")
    if part is not None and _within(column, part.low, part.high):
        why = f"Its whole numbers are the {part.unit} of a date."
        role = "time" if part.unit == "year" else "dimension"
        return ColumnDefinition(role=role, additive="never", unit=part.unit, why=why)
    if _is_clock(column):
        return ColumnDefinition(
            role="dimension", additive="never", why="Its numbers are hours and minutes of a clock."
        )
    return None


def _like_years(column: ColumnFacts) -> bool:
    return column.low is not None and column.low >= 1_800 and (column.high or 0) <= 2_100


def _within(column: ColumnFacts, low: float, high: float) -> bool:
    if column.low is None or column.high is None:
        return column.distinct is None
    return low <= column.low and column.high <= high


def _is_clock(column: ColumnFacts) -> bool:
    """Numbers such as 1745 that never end above 59 and never begin above 24."""
    if column.low is None or column.high is None or not 1_000 <= column.high <= 2_400:
        return False
    values = [int(float(each)) for each in column.values if each.lstrip("-").isdigit()]
    named = words(column.name)[-1:] == ("time",)
    return named and column.low >= 0 and bool(values) and all(each % 100 < 60 for each in values)


def _is_number_code(column: ColumnFacts, table: _Table) -> str:
    """Why whole numbers are made to identify, by how they lie; empty where they do not."""
    uniqueness = table.uniqueness(column)
    if uniqueness is None or column.low is None or column.high is None or column.low < 0:
        return ""
    density = (column.distinct or 0) / (column.high - column.low + 1)
    if uniqueness >= _NEARLY_ALL and density >= _DENSE:
        return "Nearly every whole number of its range occurs once."
    if table.key == (column.name,) and table.facts.columns[0].name == column.name:
        return "It is the first column, and no two rows have the same number."
    digits = len(str(int(column.low))), len(str(int(column.high)))
    spread = (column.high - column.low) / 10 ** digits[1]
    # Figures of one size lie close together with gaps between; numbers that are given out fill their range or are dense.
    given_out = spread >= _SPREAD or density >= _SPARSE
    if uniqueness >= _MANY and digits[0] == digits[1] >= _FIXED_DIGITS and given_out:
        return f"Nearly every row has a number of {digits[0]} digits of its own."
    if column.name in table.key and len(table.key) > 1 and density >= _DENSE:
        return "It is part of what identifies a row."
    return ""


def _is_grouping(column: ColumnFacts, table: _Table) -> bool:
    if column.distinct is None or column.high is None or column.low is None:
        return False
    few = column.distinct <= _FEW_VALUES and table.filled(column) >= _REPEATED * column.distinct
    return few and column.high - column.low < 2 * _FEW_VALUES


def _measure(column: ColumnFacts, table: _Table, whole: bool) -> ColumnDefinition:
    quantity = quantity_of(column.name)
    unit = unit_of(column.name) or (quantity.unit if quantity else "")
    currency_column = None
    if quantity is not None and quantity.kind in ("amount", "price") and not unit:
        unit, currency_column = table.currency, table.currency_column
    additive: Additive = "never"
    why = "A number; whether adding it up means something cannot be told from the data."
    if quantity is not None and quantity.additive is not None:
        additive = quantity.additive
        article = "an" if quantity.kind[0] in "aei" else "a"
        why = f"A number; its name says that it is {article} {quantity.kind}."
    elif whole and _is_count(column):
        additive = "always"
        why = "Whole numbers from 0 on with a long tail, as counts have."
    return ColumnDefinition(
        role="measure",
        total="avg" if additive == "never" else "sum",
        additive=additive,
        unit=unit,
        unit_column=currency_column,
        why=why,
    )


def _is_count(column: ColumnFacts) -> bool:
    """Whether whole numbers lie as counts of something do: from nothing up, most small, a few large."""
    if column.low != 0 or not column.zeros or column.mean is None or column.deviation is None:
        return False
    return column.deviation > column.mean and (column.distinct or 0) > _FEW_VALUES


def _panel_time(facts: DatasetFacts, columns: Mapping[str, ColumnDefinition]) -> str | None:
    """The time that, together with other columns, identifies a row: the same things are there once per time."""
    for key in (facts.key, *facts.keys):
        times = [each for each in key if each in columns and columns[each].role == "time"]
        if len(key) > 1 and times:
            return times[0]
    return None


def _per_time(column: ColumnDefinition, time: str) -> ColumnDefinition:
    """In a table of the same things per time, only what is surely an amount adds up over time."""
    if column.role != "measure" or column.additive != "always":
        return column
    if column.why.startswith("Whole numbers"):
        why = f'A number per "{time}"; whether it adds up over time cannot be told from the data.'
        return column.model_copy(update={"additive": "not over time", "why": why})
    return column


def _name_column(table: _Table, columns: Mapping[str, ColumnDefinition]) -> str | None:
    """The text that tells rows apart for people: names rather than codes, nearly one per row."""
    best: tuple[float, str] | None = None
    for place, column in enumerate(table.facts.columns):
        if column.kind != "text" or (
            columns[column.name].role not in ("dimension", "text") and _is_code(column)
        ):
            continue
        uniqueness = table.uniqueness(column)
        quantity = quantity_of(column.name)
        named = quantity is not None and quantity.kind == "name"
        if uniqueness is None or (column.longest or 0) > 200:
            if not (uniqueness is None and named):
                continue
            uniqueness = 0.0
        if uniqueness < (_MANY if named else 0.8) and column.distinct is not None:
            continue
        score = uniqueness + (0.5 if named else 0) + (0.2 if column.name in table.key else 0)
        score -= 0.01 * place
        if best is None or score > best[0]:
            best = (score, column.name)
    return best[1] if best else None


def _default_time(facts: DatasetFacts, columns: Mapping[str, ColumnDefinition]) -> str | None:
    """The time that most rows have; of several, the one that begins earliest, as what is issued comes before what is due."""
    times = [each for each in facts.columns if columns[each.name].role == "time"]
    times = [each for each in times if not each.constant] or times
    if not times:
        return None
    return min(
        times,
        key=lambda each: (
            not each.is_time,
            (each.nulls or 0) > 0.05 * facts.rows,
            each.first or "",
        ),
    ).name


def _add_products(
    metrics: dict[str, Metric], name: str, facts: DatasetFacts, table: TableDefinition | None
) -> None:
    """Figures made of two columns of a table, such as revenue, where each kind of column exists once."""
    if table is None:
        return
    kinds: dict[str, list[str]] = {}
    for column in facts.columns:
        quantity = quantity_of(column.name)
        if quantity is not None and column.kind == "number":
            kinds.setdefault(quantity.kind, []).append(column.name)
    for product in products():
        parts = [kinds.get(kind, []) for kind in product.of]
        if product.name in metrics or not all(len(part) == 1 for part in parts):
            continue
        first, second = (part[0] for part in parts)
        metrics[product.name] = Metric(
            formula=f"sum({quoted(first)} * {quoted(second)})",
            over=name,
            unit=table.columns[first].unit,
            synonyms=list(product.synonyms),
            why=f"By the names of its columns: {product.say}.",
        )


def quoted(name: str) -> str:
    """A column's name as formulas and conditions write it."""
    plain = name.isidentifier() and name.isascii()
    return name if plain else '"' + name.replace('"', '""') + '"'
