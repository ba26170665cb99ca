"""Apache Ossie (incubating): reads 0.1.x and both shapes of 0.2.0.dev0, writes 0.1.1.

What Ossie cannot say yet (roles, units, additivity, default filters, states) travels under `custom_extensions` of the vendor
COMMON, as one JSON text each; programs that do not know Steward lose exactly that, and the export lists it.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from steward.core import dump_yaml
from steward.definitions.document import (
    ColumnDefinition,
    Definitions,
    Metric,
    Relationship,
    TableDefinition,
)
from steward.definitions.entries import from_entries, relationship_name, to_entries
from steward.definitions.formats.parts import (
    Exported,
    Imported,
    Losses,
    items,
    object_of,
    own_keys,
    short,
    text_of,
    texts,
)
from steward.definitions.formulas import columns_in

VERSION: Final = "0.1.1"
_DIALECTS: Final = ("ANSI_SQL", "SNOWFLAKE", "DATABRICKS")
_UNSAID: Final = (
    "Apache Ossie {version} cannot say {what}; it travels as an extension that only Steward reads."
)


def export_ossie(definitions: Definitions, name: str) -> Exported:
    losses = Losses()
    model: dict[str, Any] = {
        "name": name,
        "datasets": [_dataset(key, table, losses) for key, table in definitions.tables.items()],
    }
    if definitions.relationships:
        model["relationships"] = [_relationship(each) for each in definitions.relationships]
    if definitions.metrics:
        model["metrics"] = [_metric(key, each, losses) for key, each in definitions.metrics.items()]
    if definitions.questions:
        losses.add(_unsaid("confirmed questions"))
    # The whole document once more, so that Steward reads back exactly what it wrote.
    model["custom_extensions"] = [_extension({"entries": to_entries(definitions)})]
    return Exported(dump_yaml({"version": VERSION, "semantic_model": [model]}), losses.listed)


def _unsaid(what: str) -> str:
    return _UNSAID.format(version=VERSION, what=what)


def _extension(own: Mapping[str, Any]) -> dict[str, str]:
    return {"vendor_name": "COMMON", "data": json.dumps({"steward": own}, ensure_ascii=False)}


def _context(synonyms: list[str], instructions: str = "") -> dict[str, Any]:
    said: dict[str, Any] = {"synonyms": synonyms} if synonyms else {}
    if instructions:
        said["instructions"] = instructions
    return {"ai_context": said} if said else {}


def _expression(sql: str) -> dict[str, Any]:
    return {"dialects": [{"dialect": "ANSI_SQL", "expression": sql}]}


def _dataset(name: str, table: TableDefinition, losses: Losses) -> dict[str, Any]:
    if table.default_filters:
        losses.add(_unsaid("default filters"))
    if table.segments:
        losses.add(_unsaid("named parts of a table"))
    rows = f"One row is one {table.row}." if table.row else ""
    found: dict[str, Any] = {"name": name, "source": name}
    if table.key:
        found["primary_key"] = list(table.key)
    found |= _context(list(table.synonyms), rows)
    if table.columns:
        found["fields"] = [_field(key, each, losses) for key, each in table.columns.items()]
    return found


def _field(name: str, column: ColumnDefinition, losses: Losses) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "expression": _expression(_quoted(name))}
    if column.role in ("dimension", "identifier", "time"):
        found["dimension"] = {"is_time": column.role == "time"}
    if column.label:
        found["label"] = column.label
    losses.add(_unsaid("the role of a column, such as identifier"))
    for value, what in (
        (column.unit or column.unit_column, "units"),
        (column.total, "how a measure is summarised and whether it adds up"),
        (column.zone, "time zones"),
        (column.values, "other words for values"),
    ):
        if value:
            losses.add(_unsaid(what))
    return found | _context(list(column.synonyms))


def _quoted(name: str) -> str:
    plain = name.isidentifier() and name.isascii() and name.islower()
    return name if plain else '"' + name.replace('"', '""') + '"'


def _relationship(each: Relationship) -> dict[str, Any]:
    return {
        "name": relationship_name(each),
        "from": each.from_table,
        "to": each.to_table,
        "from_columns": list(each.from_columns),
        "to_columns": list(each.to_columns),
    } | _context([each.role] if each.role else [])


def _metric(name: str, metric: Metric, losses: Losses) -> dict[str, Any]:
    if metric.unit:
        losses.add(_unsaid("units"))
    losses.add(_unsaid("the table that a metric is computed over"))
    return {"name": name, "expression": _expression(metric.formula)} | _context(
        list(metric.synonyms)
    )


def import_ossie(document: Mapping[str, Any]) -> Imported:
    losses = Losses()
    models = items(document.get("semantic_model")) or [document]
    parts: dict[str, Any] = {}
    for model in models:
        own = own_keys(model)
        if isinstance(own.get("entries"), dict):
            parts |= own["entries"]
        else:
            parts |= to_entries(_foreign(model, losses))
    return Imported(from_entries(parts), losses.listed, "ossie")


def _foreign(model: Mapping[str, Any], losses: Losses) -> Definitions:
    tables = {
        text_of(each.get("name")): _table(each, losses)
        for each in items(model.get("datasets"))
        if text_of(each.get("name"))
    }
    relationships = [
        Relationship(
            from_table=text_of(each.get("from")),
            from_columns=texts(each.get("from_columns")),
            to_table=text_of(each.get("to")),
            to_columns=texts(each.get("to_columns")),
        )
        for each in items(model.get("relationships"))
        if each.get("from") and each.get("to") and texts(each.get("from_columns"))
    ]
    metrics: dict[str, Metric] = {}
    for each in items(model.get("metrics")):
        name, formula = text_of(each.get("name")), _sql(each, losses)
        over = _over(formula, tables)
        if not name or not formula or over is None:
            losses.add(
                f'The metric "{name}" is left out: its formula names no table that Steward can tell.'
            )
            continue
        metrics[name] = Metric(
            formula=_unqualified(formula), over=over, synonyms=_synonyms(each), why=_said(each)
        )
    return Definitions(tables=tables, relationships=relationships, metrics=metrics)


def _table(dataset: Mapping[str, Any], losses: Losses) -> TableDefinition:
    columns: dict[str, ColumnDefinition] = {}
    keys = set(texts(dataset.get("primary_key")))
    for each in items(dataset.get("fields")):
        name, expression = text_of(each.get("name")), _sql(each, losses)
        if expression and expression.strip('"').casefold() != name.casefold():
            losses.add(
                f'The field "{name}" is computed ({expression}); Steward defines columns that exist.'
            )
            continue
        dimension = object_of(each.get("dimension"))
        role = "time" if dimension.get("is_time") else "dimension" if dimension else "measure"
        columns[name] = ColumnDefinition(
            role="identifier" if name in keys else role,
            additive="never",
            label=text_of(each.get("label"))[:100],
            synonyms=_synonyms(each),
            why=_said(each),
        )
    return TableDefinition(
        key=texts(dataset.get("primary_key")),
        synonyms=_synonyms(dataset),
        columns=columns,
        why=_said(dataset),
    )


def _said(each: Mapping[str, Any]) -> str:
    return text_of(each.get("description"))[:500]


def _synonyms(each: Mapping[str, Any]) -> list[str]:
    return short(texts(object_of(each.get("ai_context")).get("synonyms")))


def _sql(each: Mapping[str, Any], losses: Losses) -> str:
    """The expression in a dialect that Steward reads."""
    expression = each.get("expression")
    if isinstance(expression, str):
        return expression
    found = {
        text_of(one.get("dialect")): text_of(one.get("expression"))
        for one in items(object_of(expression).get("dialects"))
    }
    for dialect in _DIALECTS:
        if found.get(dialect):
            return found[dialect]
    if found:
        losses.add(
            f'"{text_of(each.get("name"))}" is written in {", ".join(found)}, which Steward cannot read.'
        )
    return ""


def _over(formula: str, tables: Mapping[str, TableDefinition]) -> str | None:
    """The one table that a formula is about, by the names before its columns or the columns themselves."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        found = sqlglot.parse_one(formula, read="duckdb")
    except SqlglotError:
        return None
    named = {each.table for each in found.find_all(exp.Column) if each.table}
    if named:
        return next(iter(named)) if len(named) == 1 and named <= tables.keys() else None
    columns = columns_in(formula)
    fitting = [
        name for name, table in tables.items() if columns and columns <= table.columns.keys()
    ]
    return fitting[0] if len(fitting) == 1 else None


def _unqualified(formula: str) -> str:
    import sqlglot
    from sqlglot import exp

    found = sqlglot.parse_one(formula, read="duckdb")
    for each in found.find_all(exp.Column):
        each.set("table", None)
    return found.sql(dialect="duckdb")
