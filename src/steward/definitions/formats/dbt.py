"""dbt semantic models: reads `semantic_manifest.json` and semantic model YAML, writes YAML for a dbt project.

Keys become entities, measures and metrics their own, with Steward's entries under `config.meta.steward`.
"""

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
from steward.definitions.entries import from_entries, to_entries
from steward.definitions.formats.parts import (
    Exported,
    Imported,
    Losses,
    items,
    object_of,
    short,
    text_of,
)

_AGGREGATIONS: Final = {
    "sum": "sum",
    "avg": "average",
    "average": "average",
    "min": "min",
    "max": "max",
    "median": "median",
    "count": "count",
    "count_distinct": "count_distinct",
}
_FROM_DBT: Final = {
    **{name: name for name in _AGGREGATIONS},
    "average": "avg",
    "sum_boolean": "sum",
}
_GRAIN: Final = "day"


def export_dbt(definitions: Definitions) -> Exported:
    losses = Losses()
    models = [_model(name, each, definitions) for name, each in definitions.tables.items()]
    by_name = {model["name"]: model for model in models}
    metrics = []
    for name, metric in definitions.metrics.items():
        found = _metric(name, metric, by_name, losses)
        metrics += found
    if any(table.default_filters or table.segments for table in definitions.tables.values()):
        losses.add(
            "dbt cannot say default filters and named parts of a table; they travel under meta."
        )
    if definitions.questions:
        losses.add("dbt cannot say confirmed questions; they travel under meta.")
    losses.add("dbt cannot say units, synonyms and who confirmed what; they travel under meta.")
    if models:
        models[0]["config"] = {"meta": {"steward": {"entries": to_entries(definitions)}}}
    return Exported(dump_yaml({"semantic_models": models, "metrics": metrics}), losses.listed)


def _model(name: str, table: TableDefinition, definitions: Definitions) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "model": f"ref('{name}')"}
    if table.row:
        found["description"] = f"One row is one {table.row}."
    if table.default_time:
        found["defaults"] = {"agg_time_dimension": table.default_time}
    return found | {
        "entities": _entities(name, table, definitions),
        "dimensions": [
            _dimension(column, defined.role)
            for column, defined in table.columns.items()
            if defined.role in ("time", "dimension")
        ],
        "measures": [
            _measure(f"{name}_{column}", column, defined, table.default_time)
            for column, defined in table.columns.items()
            if defined.role == "measure"
        ],
    }


def _entities(name: str, table: TableDefinition, definitions: Definitions) -> list[dict[str, str]]:
    found = []
    if len(table.key) == 1:
        found.append({"name": name, "type": "primary", "expr": table.key[0]})
    for each in definitions.relationships:
        if each.from_table == name and len(each.from_columns) == 1:
            entity = f"{each.to_table}_{each.role}" if each.role else each.to_table
            entity = entity.replace(" ", "_")
            found.append({"name": entity, "type": "foreign", "expr": each.from_columns[0]})
    return found


def _dimension(column: str, role: str) -> dict[str, Any]:
    if role == "time":
        return {"name": column, "type": "time", "type_params": {"time_granularity": _GRAIN}}
    return {"name": column, "type": "categorical"}


def _measure(name: str, column: str, defined: ColumnDefinition, time: str | None) -> dict[str, Any]:
    aggregation = _AGGREGATIONS[defined.total or "sum"]
    found: dict[str, Any] = {"name": name, "agg": aggregation, "expr": column}
    if defined.additive == "not over time" and time:
        found["non_additive_dimension"] = {"name": time}
    return found


def _metric(
    name: str, metric: Metric, models: Mapping[str, Any], losses: Losses
) -> list[dict[str, Any]]:
    """A metric and the simple ones it is computed from."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        formula = sqlglot.parse_one(metric.formula, read="duckdb")
    except SqlglotError:
        formula = None
    model = models.get(metric.over)
    found = [] if formula is None else list(formula.find_all(exp.AggFunc))
    if formula is None or model is None or not found:
        losses.add(f'The metric "{name}" is left out: dbt cannot say its formula.')
        return []
    parts: list[dict[str, Any]] = []
    for number, each in enumerate(found, 1):
        measure = f"{name}_{number}" if len(found) > 1 or each is not formula else name
        agg, expression = _aggregate(each)
        if agg is None:
            losses.add(f'The metric "{name}" is left out: dbt has no {each.key}.')
            return []
        model["measures"].append({"name": measure, "agg": agg, "expr": expression})
        parts.append({"name": measure, "type": "simple", "type_params": {"measure": measure}})
        target = each.parent if isinstance(each.parent, exp.Filter) else each
        if target is formula:
            formula = exp.column(measure)
        else:
            target.replace(exp.column(measure))
    if len(parts) == 1 and parts[0]["name"] == name:
        return parts
    derived = {
        "name": name,
        "type": "derived",
        "type_params": {
            "expr": formula.sql(dialect="duckdb"),
            "metrics": [{"name": each["name"]} for each in parts],
        },
    }
    return [*parts, derived]


def _aggregate(node: Any) -> tuple[str | None, str]:
    """The aggregation and its expression over rows; a filter becomes a condition inside."""
    from sqlglot import exp

    argument, key = node.this, node.key
    if isinstance(argument, exp.Distinct):
        key, argument = "count_distinct", argument.expressions[0]
    expression = (
        "1" if argument is None or isinstance(argument, exp.Star) else argument.sql("duckdb")
    )
    if key == "count" and expression == "1":
        key = "sum"
    if isinstance(node.parent, exp.Filter):
        condition = node.parent.expression.this.sql("duckdb")
        expression = f"CASE WHEN {condition} THEN {expression} END"
    return _AGGREGATIONS.get(key), expression


def import_dbt(document: Mapping[str, Any]) -> Imported:
    losses = Losses()
    models = items(document.get("semantic_models"))
    for model in models:
        meta = object_of(object_of(object_of(model.get("config")).get("meta")).get("steward"))
        if isinstance(meta.get("entries"), dict):
            return Imported(from_entries(meta["entries"]), [], "dbt")
    tables = {_name(model): _table(model, losses) for model in models if _name(model)}
    relationships = _relationships(models)
    measures = {
        text_of(each.get("name")): (_name(model), each)
        for model in models
        for each in items(model.get("measures"))
    }
    metrics: dict[str, Metric] = {}
    formulas: dict[str, tuple[str, str]] = {}
    for each in items(document.get("metrics")):
        _read_metric(each, measures, formulas, metrics, losses)
    return Imported(
        Definitions(tables=tables, relationships=relationships, metrics=metrics),
        losses.listed,
        "dbt",
    )


def _name(model: Mapping[str, Any]) -> str:
    """The table behind a semantic model."""
    relation = object_of(model.get("node_relation"))
    written = text_of(model.get("model"))
    inside = written.partition("ref('")[2].partition("'")[0] if "ref('" in written else ""
    return text_of(relation.get("alias")) or inside or text_of(model.get("name"))


def _column(each: Mapping[str, Any]) -> str:
    return text_of(each.get("expr")) or text_of(each.get("name"))


def _is_column(expression: str) -> bool:
    return expression.strip('"').isidentifier()


def _table(model: Mapping[str, Any], losses: Losses) -> TableDefinition:
    columns: dict[str, ColumnDefinition] = {}
    key: list[str] = []
    for each in items(model.get("entities")):
        column = _column(each)
        if not _is_column(column):
            losses.add(
                f'The entity "{text_of(each.get("name"))}" is computed ({column}) and left out.'
            )
            continue
        columns[column] = ColumnDefinition(role="identifier", additive="never")
        if each.get("type") == "primary":
            key = [column]
    for each in items(model.get("dimensions")):
        column = _column(each)
        if not _is_column(column):
            losses.add(
                f'The dimension "{text_of(each.get("name"))}" is computed ({column}) and left out.'
            )
            continue
        role = "time" if each.get("type") == "time" else "dimension"
        columns.setdefault(
            column,
            ColumnDefinition(
                role=role,
                additive="never",
                label=text_of(each.get("label"))[:100],
                synonyms=_other_name(each, column),
            ),
        )
    for each in items(model.get("measures")):
        column, total = _column(each), _FROM_DBT.get(text_of(each.get("agg")))
        if _is_column(column) and total is not None:
            additive = "not over time" if each.get("non_additive_dimension") else "always"
            columns.setdefault(
                column,
                ColumnDefinition(
                    role="measure",
                    total=total,
                    additive=additive if total in ("sum", "count") else "never",
                    synonyms=_other_name(each, column),
                ),
            )
    default = text_of(object_of(model.get("defaults")).get("agg_time_dimension"))
    times = {text_of(each.get("name")): _column(each) for each in items(model.get("dimensions"))}
    return TableDefinition(
        key=key, default_time=times.get(default, default) or None, columns=columns
    )


def _other_name(each: Mapping[str, Any], column: str) -> list[str]:
    name = text_of(each.get("name"))
    return short([name.replace("_", " ")] if name and name != column else [])


def _relationships(models: list[Mapping[str, Any]]) -> list[Relationship]:
    """Foreign entities point at the model whose primary entity has the same name."""
    primary = {
        text_of(each.get("name")): (_name(model), _column(each))
        for model in models
        for each in items(model.get("entities"))
        if each.get("type") in ("primary", "unique")
    }
    found = []
    for model in models:
        for each in items(model.get("entities")):
            target = primary.get(text_of(each.get("name")))
            if each.get("type") == "foreign" and target is not None and _is_column(_column(each)):
                found.append(
                    Relationship(
                        from_table=_name(model),
                        from_columns=[_column(each)],
                        to_table=target[0],
                        to_columns=[target[1]],
                    )
                )
    return found


def _read_metric(
    each: Mapping[str, Any],
    measures: Mapping[str, tuple[str, Mapping[str, Any]]],
    formulas: dict[str, tuple[str, str]],
    metrics: dict[str, Metric],
    losses: Losses,
) -> None:
    name, kind = text_of(each.get("name")), text_of(each.get("type"))
    formula = _formula(kind, object_of(each.get("type_params")), measures, formulas)
    if formula is None or each.get("filter"):
        losses.add(f'The metric "{name}" ({kind}) is left out: Steward cannot say it yet.')
        return
    over, text = formula
    formulas[name] = formula
    label = text_of(each.get("label"))
    metrics[name] = Metric(
        formula=text,
        over=over,
        synonyms=short([label] if label and label != name else []),
        why=text_of(each.get("description"))[:500],
    )


def _formula(
    kind: str,
    params: Mapping[str, Any],
    measures: Mapping[str, tuple[str, Mapping[str, Any]]],
    formulas: Mapping[str, tuple[str, str]],
) -> tuple[str, str] | None:
    """The table and the SQL of a metric; unset where it is more than a formula over one table."""
    if kind == "simple":
        named = params.get("measure")
        known = measures.get(text_of(object_of(named).get("name")) or text_of(named))
        return _simple(*known) if known else None
    if kind == "ratio":
        sides = [
            formulas.get(text_of(object_of(params.get(side)).get("name")))
            for side in ("numerator", "denominator")
        ]
        top, bottom = sides
        if top is None or bottom is None or top[0] != bottom[0]:
            return None
        return top[0], f"({top[1]}) / ({bottom[1]})"
    if kind == "derived":
        return _derived(params, formulas)
    return None


def _simple(over: str, measure: Mapping[str, Any]) -> tuple[str, str] | None:
    total, expression = _FROM_DBT.get(text_of(measure.get("agg"))), _column(measure)
    if total is None:
        return None
    if expression == "1" and total == "sum":
        return over, "count(*)"
    if total == "count_distinct":
        return over, f"count(DISTINCT {expression})"
    return over, f"{total}({expression})"


def _derived(
    params: Mapping[str, Any], formulas: Mapping[str, tuple[str, str]]
) -> tuple[str, str] | None:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    used = {
        text_of(each.get("alias")) or text_of(each.get("name")): text_of(each.get("name"))
        for each in items(params.get("metrics"))
        if not each.get("offset_window") and not each.get("filter")
    }
    try:
        found = sqlglot.parse_one(text_of(params.get("expr")), read="duckdb")
    except SqlglotError:
        return None
    over: set[str] = set()
    for column in list(found.find_all(exp.Column)):
        known = formulas.get(used.get(column.name, ""))
        if known is None:
            return None
        over.add(known[0])
        inner = exp.paren(sqlglot.parse_one(known[1], read="duckdb"))
        if column is found:
            found = inner
        else:
            column.replace(inner)
    return (over.pop(), found.sql(dialect="duckdb")) if len(over) == 1 else None
