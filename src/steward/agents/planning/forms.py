"""A question about tables as a flat form: what a small model fills in, and the query plan that it stands for."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from steward.agents.planning.plan_checks import Catalogue
from steward.core import Problem
from steward.definitions import DatasetFacts

FORM: Final = """Fill in a form for the question, as one JSON object:
table; show: "figures" or "rows"; conditions: [{column, is, value}] for everything the question restricts;
figures: [{function, column}], column "*" counts rows; per: [{column, by}], by "value" or a stretch of time;
order: "largest", "smallest" or "none" (by the first figure; for rows by sort); sort: a column or "none"; limit: 0 for all.
Use only columns of the tables, "other.column" for another table. Dates are YYYY-MM-DD; a year is two conditions."""
_FUNCTIONS: Final = ("count", "count_distinct", "sum", "avg", "min", "max", "median")
_UNITS: Final = ("value", "year", "quarter", "month", "week", "day")
_TESTS: Final = ("=", "!=", "<", "<=", ">", ">=", "contains", "empty", "not empty")
_MOST: Final = 6
_LARGEST_LIMIT: Final = 10_000
_LONGEST_VALUE: Final = 60
_MOST_FIGURES: Final = 4
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_ROWS: Final = "*"


class FormRefused(Exception):
    """A form that stands for no plan, with every reason."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(each.message for each in problems))
        self.problems = problems


def form_schema(catalogue: Catalogue) -> dict[str, Any]:
    """The form with closed lists, every field required; one alternative for each table, so that a form can name only
    columns that its table has or that a relation leads to.
    """
    forms = [_table_schema(table, catalogue) for table in catalogue.datasets.values()]
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


FIELDS: Final = ("table", "show", "conditions", "figures", "per", "order", "sort", "limit")


def _table_schema(table: DatasetFacts, catalogue: Catalogue) -> dict[str, Any]:
    columns = {"enum": columns_of(table, catalogue)}
    counted = {"enum": [_ROWS, *columns["enum"]]}
    # Bounded: a small model that repeats itself would otherwise never come to the end of a text.
    text = {"type": "string", "maxLength": _LONGEST_VALUE}
    scalar = {"anyOf": [text, {"type": "number"}, {"type": "boolean"}]}
    return _object(
        table={"enum": [table.name]},
        show={"enum": ["figures", "rows"]},
        conditions=_list(_object(column=columns, **{"is": {"enum": list(_TESTS)}}, value=scalar)),
        figures=_list(
            _object(function={"enum": list(_FUNCTIONS)}, column=counted), most=_MOST_FIGURES
        ),
        per=_list(_object(column=columns, by={"enum": list(_UNITS)}), most=_MOST_FIGURES),
        order={"enum": ["largest", "smallest", "none"]},
        sort={"enum": ["none", *columns["enum"]]},
        limit={"type": "integer", "minimum": 0, "maximum": _LARGEST_LIMIT},
    )


def columns_of(table: DatasetFacts, catalogue: Catalogue) -> list[str]:
    """Columns as a form over this table names them: its own bare, those of related tables with their table."""
    related = {
        other
        for each in catalogue.relations
        for one, other in ((each.dataset, each.other_dataset), (each.other_dataset, each.dataset))
        if one == table.name
    }
    others = [catalogue.datasets[name] for name in catalogue.datasets if name in related]
    return [*table.names, *(f"{other.name}.{name}" for other in others for name in other.names)]


def query_plan(form: Any, catalogue: Catalogue) -> dict[str, Any]:
    """The query plan that a form stands for; FormRefused with what is wrong with it."""
    if not isinstance(form, Mapping):
        raise FormRefused([Problem("", "the answer is a JSON object with the fields of the form")])
    table = catalogue.datasets.get(str(form.get("table")))
    if table is None:
        known = ", ".join(catalogue.datasets)
        raise FormRefused([Problem("/table", f"there is no table {form.get('table')!r}: {known}")])
    making = _Making(table, catalogue)
    plan = making.plan(form)
    if making.problems:
        raise FormRefused(making.problems)
    return plan


class _Making:
    """One form on its way to a plan."""

    def __init__(self, table: DatasetFacts, catalogue: Catalogue) -> None:
        self._table = table
        self._catalogue = catalogue
        self.problems: list[Problem] = []
        self._joins: dict[str, dict[str, Any]] = {}
        self._derived: dict[str, dict[str, Any]] = {}

    def plan(self, form: Mapping[str, Any]) -> dict[str, Any]:
        filters = [
            condition
            for number, each in enumerate(_entries(form, "conditions"))
            for condition in self._condition(each, f"/conditions/{number}")
        ]
        groups = [
            self._group(each, f"/per/{number}") for number, each in enumerate(_entries(form, "per"))
        ]
        wants_rows = form.get("show") == "rows" and not groups
        figures = [] if wants_rows else self._figures(form)
        found: dict[str, Any] = {"source": self._table.name}
        order = self._order(form, figures, groups)
        if self._joins:
            found["joins"] = list(self._joins.values())
        if self._derived:
            found["derive"] = list(self._derived.values())
        if filters:
            found["filters"] = filters
        if groups:
            found["group"] = list(dict.fromkeys(groups))
        if figures:
            found["aggregate"] = figures
        if order:
            found["order"] = order
        limit = form.get("limit")
        if isinstance(limit, int) and 0 < limit <= _LARGEST_LIMIT and (wants_rows or groups):
            found["limit"] = limit
        return found

    def _named(self, given: Any, where: str) -> tuple[str, DatasetFacts] | None:
        """A column of the form's table, or of another one that a relation leads to."""
        name = str(given)
        if self._table.column(name) is not None:
            return name, self._table
        table, _, column = name.rpartition(".")
        if table == self._table.name and self._table.column(column) is not None:
            return column, self._table
        for other in self._catalogue.datasets.values():
            inside = column if other.name == table else name
            if other.name != self._table.name and other.column(inside) is not None:
                if self._join(other):
                    taken = self._table.column(inside) is not None
                    return (f"{other.name}.{inside}" if taken else inside), other
                told = f"{self._table.name} has no relation to {other.name}"
                self.problems.append(Problem(where, told))
                return None
        known = ", ".join(self._table.names)
        self.problems.append(
            Problem(where, f"{self._table.name} has no column {name!r}; it has: {known}")
        )
        return None

    def _join(self, other: DatasetFacts) -> bool:
        if other.name in self._joins:
            return True
        for each in self._catalogue.relations:
            if (each.dataset, each.other_dataset) == (self._table.name, other.name):
                on = {"left": each.column, "right": each.other_column}
            elif (each.other_dataset, each.dataset) == (self._table.name, other.name):
                on = {"left": each.other_column, "right": each.column}
            else:
                continue
            self._joins[other.name] = {"dataset": other.name, "kind": "left", "on": [on]}
            return True
        return False

    def _condition(self, given: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
        named = self._named(given.get("column"), where)
        if named is None:
            return
        name, table = named
        test, value = given.get("is", "="), given.get("value")
        column = {"column": name}
        facts = table.column(name.rpartition(".")[2] if table is not self._table else name)
        if test in {"empty", "not empty"}:
            yield {"is_null": column, "negate": test == "not empty"}
        elif test == "contains":
            yield {"matches": "contains", "of": column, "text": str(value)}
        elif test not in _TESTS:
            self.problems.append(
                Problem(f"{where}/is", f"{test!r} is no test: {', '.join(_TESTS)}")
            )
        else:
            yield {"left": column, "compare": test, "right": {"value": _typed(value, facts)}}

    def _figures(self, form: Mapping[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for number, each in enumerate(_entries(form, "figures")):
            function, column = each.get("function", "count"), each.get("column", _ROWS)
            if function not in _FUNCTIONS:
                self.problems.append(Problem(f"/figures/{number}", f"{function!r} is no function"))
                continue
            if column == _ROWS:
                found.append({"name": "count", "function": "count"})
                continue
            named = self._named(column, f"/figures/{number}/column")
            if named is None:
                continue
            bare = re.sub(r"\W+", "_", named[0])
            name = f"{function}_{bare}"
            if function == "count" and not found and _is_key(named):
                # Rows are what is counted when every row has its own value.
                found.append({"name": "count", "function": "count"})
            else:
                found.append({"name": name, "function": function, "column": named[0]})
        unique = {each["name"]: each for each in found}
        return list(unique.values()) or [{"name": "count", "function": "count"}]

    def _group(self, given: Mapping[str, Any], where: str) -> str:
        named = self._named(given.get("column"), where)
        if named is None:
            return ""
        name, table = named
        unit = given.get("by", "value")
        facts = table.column(name.rpartition(".")[2] if table is not self._table else name)
        if unit == "value" or unit not in _UNITS or facts is None or not facts.is_time:
            return name
        self._derived[unit] = {
            "name": unit,
            "expression": {"function": "date_trunc", "args": [{"value": unit}, {"column": name}]},
        }
        return str(unit)

    def _order(
        self, form: Mapping[str, Any], figures: list[dict[str, Any]], groups: list[str]
    ) -> list[dict[str, Any]]:
        wanted = form.get("order")
        direction = "ascending" if wanted == "smallest" else "descending"
        if groups and figures and wanted in {"largest", "smallest"}:
            return [{"column": figures[0]["name"], "direction": direction}]
        if groups:
            return [{"column": group} for group in dict.fromkeys(groups) if group]
        sort = form.get("sort")
        if figures or sort in {None, "none", ""}:
            return []
        named = self._named(sort, "/sort")
        return [] if named is None else [{"column": named[0], "direction": direction}]


def form_of(plan: Mapping[str, Any]) -> dict[str, Any] | None:
    """A query plan as a form; None where it says more than a form can."""
    if set(plan) - {
        "version",
        "source",
        "derive",
        "filters",
        "group",
        "aggregate",
        "order",
        "limit",
    }:
        return None
    units = _units(plan.get("derive") or [])
    conditions = [_condition_of(each) for each in plan.get("filters") or []]
    if units is None or any(each is None for each in conditions):
        return None
    figures = [
        {"function": each.get("function"), "column": each.get("column") or _ROWS}
        for each in plan.get("aggregate") or []
    ]
    order = (plan.get("order") or [{}])[0]
    names = {each.get("name") for each in plan.get("aggregate") or []}
    by_figure = order.get("column") in names
    falling = order.get("direction") == "descending"
    return {
        "table": plan.get("source"),
        "show": "figures" if figures else "rows",
        "conditions": conditions,
        "figures": figures,
        "per": [
            units.get(name, {"column": name, "by": "value"}) for name in plan.get("group") or []
        ],
        "order": ("largest" if falling else "smallest")
        if order and (by_figure or not figures)
        else "none",
        "sort": order.get("column", "none") if order and not figures else "none",
        "limit": plan.get("limit") or 0,
    }


def form_of_reading(reading: Mapping[str, Any]) -> dict[str, Any] | None:
    """A reading as a form; None where it says more than a form can."""
    measures = reading.get("measures") or []
    more = any(reading.get(each) for each in ("segments", "having", "chart"))
    odd = any(
        each.get("metric") or each.get("share") or each.get("along") or each.get("where")
        for each in measures
    )
    if more or odd:
        return None
    conditions: list[dict[str, Any]] = []
    for each in reading.get("filters") or []:
        values = each.get("values") or [""]
        if each.get("test") not in _TESTS or len(values) != 1:
            return None
        conditions.append({"column": _column_of(each), "is": each["test"], "value": values[0]})
    for each in reading.get("periods") or []:
        ends = ((">=", each.get("start")), ("<", each.get("end")))
        conditions += [
            {"column": _column_of(each), "is": test, "value": end} for test, end in ends if end
        ]
    order = (reading.get("order") or [{}])[0]
    towards = "largest" if order.get("descending", True) else "smallest"
    return {
        "table": reading.get("table"),
        "show": "figures" if measures else "rows",
        "conditions": conditions,
        "figures": [
            {
                "function": each.get("function") or "count",
                "column": _column_of(each) if each.get("column") else _ROWS,
            }
            for each in measures
        ],
        "per": [
            {"column": _column_of({"column": each.get("by")}), "by": each.get("unit") or "value"}
            for each in reading.get("groups") or []
        ],
        "order": towards if order.get("by") in {"measure", "column"} else "none",
        "sort": _column_of(order) if order.get("by") == "column" else "none",
        "limit": reading.get("limit") or 0,
    }


def _column_of(part: Mapping[str, Any]) -> str:
    column = part.get("column") or {}
    table = column.get("table")
    return f"{table}.{column.get('column')}" if table else str(column.get("column"))


def _units(derived: list[Any]) -> dict[str, dict[str, Any]] | None:
    found: dict[str, dict[str, Any]] = {}
    for each in derived:
        inner = each.get("expression") if isinstance(each, Mapping) else None
        args = inner.get("args") if isinstance(inner, Mapping) else None
        if not isinstance(inner, Mapping) or inner.get("function") != "date_trunc" or not args:
            return None
        found[str(each["name"])] = {"column": args[1].get("column"), "by": args[0].get("value")}
    return found


def _condition_of(given: Any) -> dict[str, Any] | None:
    if not isinstance(given, Mapping):
        return None
    left, right = given.get("left"), given.get("right")
    if not isinstance(left, Mapping) or not isinstance(right, Mapping) or "column" not in left:
        return None
    value = right.get("value")
    if isinstance(value, Mapping):
        value = value.get("date") or value.get("timestamp")
    return {"column": left["column"], "is": given.get("compare"), "value": value}


def _typed(value: Any, facts: Any) -> Any:
    """A value of the column's own kind: models write numbers as text and days as words."""
    kind = getattr(facts, "kind", "text")
    if kind in {"date", "moment"} and isinstance(value, str) and _DAY.match(value):
        return {"date": value[:10]}
    if kind == "number" and isinstance(value, str):
        try:
            number = float(value.replace(",", ""))
        except ValueError:
            return value
        return int(number) if number.is_integer() else number
    if kind == "text" and not isinstance(value, str):
        known = {each.casefold(): each for each in getattr(facts, "values", ())}
        return known.get(str(value).casefold(), str(value))
    if kind == "text" and isinstance(value, str):
        known = {each.casefold(): each for each in getattr(facts, "values", ())}
        return known.get(value.casefold(), value)
    return value


def _is_key(named: tuple[str, DatasetFacts]) -> bool:
    name, table = named
    facts = table.column(name)
    return table.key == (name,) or bool(facts is not None and facts.unique)


def _entries(form: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    given = form.get(name)
    return (
        [each for each in given if isinstance(each, Mapping)][:_MOST]
        if isinstance(given, list)
        else []
    )


def _object(**fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any], most: int = _MOST) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}
