"""Compiles a query plan to DuckDB SQL: the same bytes for the same plan, everything quoted.

Each step that changes the columns becomes one stage over the one before, so that the SQL reads like
the plan and a column means one thing at a time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from steward.core import Invalid, Problem
from steward.sandbox import query_plan as q

Schema = Mapping[str, Sequence[str]]

_TYPES: Final = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "decimal": "DECIMAL(38,10)",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_AGGREGATES: Final = {"stddev": "stddev_samp", "variance": "var_samp"}
_UNITS: Final = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
# Function to how many arguments it takes, at least and at most.
_ARGUMENTS: Final = {
    "round": (1, 2),
    "substring": (2, 3),
    "replace": (3, 3),
    "coalesce": (1, 20),
    "date_trunc": (2, 2),
    "date_diff": (3, 3),
}


def compile_plan(plan: q.QueryPlan, schema: Schema) -> str:
    """One SELECT. `schema` names the caller's datasets and their columns."""
    return _Compiler(schema).compile(plan)


class _Columns:
    """The columns of a stage, by name; upper and lower case do not tell two apart."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names: list[str] = []
        self._known: dict[str, str] = {}
        for name in names:
            self.add(name, "")

    def add(self, name: str, pointer: str) -> None:
        if name.casefold() in self._known:
            raise _wrong(pointer, f"there is a column {name!r} already; choose another name")
        self._known[name.casefold()] = name
        self.names.append(name)

    def __contains__(self, name: str) -> bool:
        return name.casefold() in self._known

    def find(self, name: str, pointer: str, hint: str = "") -> str:
        known = self._known.get(name.casefold())
        if known is None:
            there = ", ".join(self.names[:30])
            raise _wrong(pointer, f"there is no column {name!r} here{hint}; there are: {there}")
        return known


class _Compiler:
    def __init__(self, schema: Schema) -> None:
        self._schema = {name.casefold(): (name, list(columns)) for name, columns in schema.items()}
        self._columns = _Columns([])
        self._sql = ""
        self._stage = 0
        self._hint = ""

    def compile(self, plan: q.QueryPlan) -> str:
        self._source(plan)
        self._derive(plan.derive, "/derive")
        self._where(plan.filters, "/filters")
        if plan.aggregate:
            self._aggregate(plan)
            self._derive(plan.compute, "/compute")
            self._where(plan.having, "/having")
        for number, window in enumerate(plan.window):
            self._window(window, f"/window/{number}")
        if plan.pivot:
            self._pivot(plan.pivot)
        order = self._order(plan.order, "/order")
        if plan.select:
            names = _Columns([])
            for number, name in enumerate(plan.select):
                pointer = f"/select/{number}"
                names.add(self._columns.find(name, pointer, self._hint), pointer)
            # Rows are ordered by columns that need not be selected, so both happen in one stage.
            self._columns = names
            self._wrap(_list(_quote(name) for name in names.names))
        if order:
            self._sql += f" ORDER BY {order}"
        if plan.limit is not None:
            self._sql += f" LIMIT {plan.limit}" + (f" OFFSET {plan.offset}" if plan.offset else "")
        return self._sql

    def _wrap(self, selected: str, tail: str = "") -> None:
        """The next stage over what there is so far."""
        self._sql = f"SELECT {selected} FROM ({self._sql}) AS s{self._stage}{tail}"
        self._stage += 1

    def _dataset(self, name: str, pointer: str) -> tuple[str, list[str]]:
        found = self._schema.get(name.casefold())
        if found is None:
            there = ", ".join(sorted(known for known, _ in self._schema.values())[:30]) or "none"
            raise _wrong(pointer, f"there is no dataset {name!r}; there are: {there}")
        return found

    def _source(self, plan: q.QueryPlan) -> None:
        name, columns = self._dataset(plan.source, "/source")
        self._columns = _Columns(columns)
        self._sql = f"SELECT {_list(_quote(c) for c in columns)} FROM {_quote(name)}"
        taken = {plan.source.casefold()}
        for number, join in enumerate(plan.joins):
            pointer = f"/joins/{number}"
            if join.name.casefold() in taken:
                raise _wrong(pointer, f"{join.name!r} is joined twice; give it an alias")
            taken.add(join.name.casefold())
            self._join(join, pointer)

    def _join(self, join: q.Join, pointer: str) -> None:
        name, columns = self._dataset(join.dataset, f"{pointer}/dataset")
        theirs = _Columns(columns)
        pairs = []
        for number, on in enumerate(join.on):
            where = f"{pointer}/on/{number}"
            left = self._columns.find(on.left, f"{where}/left")
            right = theirs.find(on.right, f"{where}/right")
            pairs.append(f"l.{_quote(left)} = r.{_quote(right)}")
        there = _quote(name)
        if join.where is not None:
            mine, self._columns = self._columns, theirs
            condition = self._condition(join.where, f"{pointer}/where")
            self._columns = mine
            there = f"(SELECT * FROM {there} WHERE {condition})"
        selected = [f"l.{_quote(each)}" for each in self._columns.names]
        if join.kind not in {"semi", "anti"}:
            for column in columns:
                shown = f"{join.name}.{column}" if column in self._columns else column
                self._columns.add(shown, pointer)
                selected.append(f"r.{_quote(column)} AS {_quote(shown)}")
        self._sql = (
            f"SELECT {_list(selected)} FROM ({self._sql}) AS l {join.kind.upper()} JOIN "
            f"{there} AS r ON {' AND '.join(pairs)}"
        )

    def _derive(self, columns: Sequence[q.Derive], place: str) -> None:
        for number, derived in enumerate(columns):
            pointer = f"{place}/{number}"
            expression = self._expression(derived.expression, f"{pointer}/expression")
            self._columns.add(derived.name, f"{pointer}/name")
            self._wrap(f"*, {expression} AS {_quote(derived.name)}")

    def _where(self, conditions: Sequence[q.Condition], pointer: str) -> None:
        if conditions:
            parts = [self._condition(c, f"{pointer}/{n}") for n, c in enumerate(conditions)]
            self._wrap("*", f" WHERE {' AND '.join(parts)}")

    def _aggregate(self, plan: q.QueryPlan) -> None:
        group = [self._columns.find(c, f"/group/{n}") for n, c in enumerate(plan.group)]
        after = _Columns([])
        for number, name in enumerate(group):
            after.add(name, f"/group/{number}")
        selected = [_quote(name) for name in group]
        for number, one in enumerate(plan.aggregate):
            pointer = f"/aggregate/{number}"
            call = self._aggregation(one.function, one.column, f"{pointer}/column")
            if one.where is not None:
                call += f" FILTER (WHERE {self._condition(one.where, f'{pointer}/where')})"
            after.add(one.name, f"{pointer}/name")
            selected.append(f"{call} AS {_quote(one.name)}")
        keys = f" GROUP BY {_list(_quote(name) for name in group)}" if group else ""
        self._wrap(_list(selected), keys)
        self._columns = after
        self._hint = " (after aggregating only grouped and aggregated columns remain)"

    def _aggregation(self, function: str, column: str | None, pointer: str) -> str:
        if column is None:
            return "count(*)"
        quoted = _quote(self._columns.find(column, pointer, self._hint))
        if function == "count_distinct":
            return f"count(DISTINCT {quoted})"
        return f"{_AGGREGATES.get(function, function)}({quoted})"

    def _window(self, window: q.Window, pointer: str) -> None:
        argument = "*" if window.function == "count" else ""
        if window.column is not None:
            found = self._columns.find(window.column, f"{pointer}/column", self._hint)
            argument = _quote(found)
        if window.function in {"lag", "lead"}:
            argument += f", {window.offset}"
        over = []
        if window.partition:
            names = [
                self._columns.find(name, f"{pointer}/partition/{n}", self._hint)
                for n, name in enumerate(window.partition)
            ]
            over.append(f"PARTITION BY {_list(_quote(name) for name in names)}")
        if window.order:
            over.append(f"ORDER BY {self._order(window.order, f'{pointer}/order')}")
        if window.frame is not None:
            over.append(_frame(window.frame))
        call = _windowed(window, argument, " ".join(over))
        self._columns.add(window.name, f"{pointer}/name")
        self._wrap(f"*, {call} AS {_quote(window.name)}")

    def _pivot(self, pivot: q.Pivot) -> None:
        on = _quote(self._columns.find(pivot.column, "/pivot/column", self._hint))
        group = [
            self._columns.find(name, f"/pivot/group/{n}", self._hint)
            for n, name in enumerate(pivot.group)
        ]
        after = _Columns(group)
        selected = [_quote(name) for name in group]
        call = self._aggregation(pivot.function, pivot.value, "/pivot/value")
        for number, value in enumerate(pivot.values):
            name = _shown(value.value)
            after.add(name, f"/pivot/values/{number}")
            matched = f"{on} IS NOT DISTINCT FROM {_literal(value.value)}"
            selected.append(f"{call} FILTER (WHERE {matched}) AS {_quote(name)}")
        keys = f" GROUP BY {_list(_quote(name) for name in group)}" if group else ""
        self._wrap(_list(selected), keys)
        self._columns = after
        self._hint = " (after a pivot only its group and its values remain)"

    def _order(self, order: Sequence[q.Order], pointer: str) -> str:
        parts = []
        for number, one in enumerate(order):
            name = self._columns.find(one.column, f"{pointer}/{number}/column", self._hint)
            direction = "DESC" if one.direction == "descending" else "ASC"
            parts.append(f"{_quote(name)} {direction} NULLS {one.nulls.upper()}")
        return ", ".join(parts)

    # Expressions and conditions

    def _expression(self, given: q.Expression, pointer: str) -> str:
        if isinstance(given, q.ColumnOf):
            return _quote(self._columns.find(given.column, f"{pointer}/column", self._hint))
        if isinstance(given, q.Value):
            return _literal(given.value)
        if isinstance(given, q.Operation):
            parts = [self._expression(a, f"{pointer}/args/{n}") for n, a in enumerate(given.args)]
            return f"({f' {given.op} '.join(parts)})"
        if isinstance(given, q.Call):
            return self._call(given, pointer)
        if isinstance(given, q.Cast):
            return f"CAST({self._expression(given.cast, f'{pointer}/cast')} AS {_TYPES[given.to]})"
        branches = []
        for number, branch in enumerate(given.case):
            where = f"{pointer}/case/{number}"
            when = self._condition(branch.when, f"{where}/when")
            branches.append(f"WHEN {when} THEN {self._expression(branch.then, f'{where}/then')}")
        last = given.otherwise
        otherwise = "NULL" if last is None else self._expression(last, f"{pointer}/otherwise")
        return f"CASE {' '.join(branches)} ELSE {otherwise} END"

    def _call(self, given: q.Call, pointer: str) -> str:
        least, most = _ARGUMENTS.get(given.function, (1, 1))
        if not least <= len(given.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise _wrong(pointer, f"{given.function} takes {wanted} arguments")
        if given.function in {"date_trunc", "date_diff"}:
            unit = given.args[0].value if isinstance(given.args[0], q.Value) else None
            if unit not in _UNITS:
                raise _wrong(f"{pointer}/args/0", f"the unit is one of {', '.join(_UNITS)}")
        parts = [self._expression(a, f"{pointer}/args/{n}") for n, a in enumerate(given.args)]
        return f"{given.function}({', '.join(parts)})"

    def _condition(self, given: q.Condition, pointer: str) -> str:
        compile_one: dict[type, Callable[..., str]] = {
            q.Compare: self._compare,
            q.Among: self._among,
            q.Between: self._between,
            q.IsNull: self._is_null,
            q.Matches: self._matches,
        }
        if isinstance(given, q.All):
            return self._joined(given.all, " AND ", f"{pointer}/all")
        if isinstance(given, q.AnyOf):
            return self._joined(given.any, " OR ", f"{pointer}/any")
        if isinstance(given, q.Not):
            return f"(NOT {self._condition(given.negated, f'{pointer}/not')})"
        return compile_one[type(given)](given, pointer)

    def _joined(self, given: Sequence[q.Condition], word: str, pointer: str) -> str:
        parts = [self._condition(one, f"{pointer}/{n}") for n, one in enumerate(given)]
        return f"({word.join(parts)})"

    def _compare(self, given: q.Compare, pointer: str) -> str:
        for side in (given.left, given.right):
            if isinstance(side, q.Value) and side.value is None:
                raise _wrong(pointer, "nothing compares with null; use is_null")
        left = self._expression(given.left, f"{pointer}/left")
        right = self._expression(given.right, f"{pointer}/right")
        sign = "<>" if given.compare == "!=" else given.compare
        return f"({left} {sign} {right})"

    def _among(self, given: q.Among, pointer: str) -> str:
        if any(one.value is None for one in given.among):
            raise _wrong(f"{pointer}/among", "a list cannot hold null; use is_null beside it")
        values = ", ".join(_literal(one.value) for one in given.among)
        sign = "NOT IN" if given.negate else "IN"
        return f"({self._expression(given.of, f'{pointer}/of')} {sign} ({values}))"

    def _between(self, given: q.Between, pointer: str) -> str:
        value = self._expression(given.between, f"{pointer}/between")
        low = self._expression(given.low, f"{pointer}/low")
        high = self._expression(given.high, f"{pointer}/high")
        return f"({value} BETWEEN {low} AND {high})"

    def _is_null(self, given: q.IsNull, pointer: str) -> str:
        sign = "IS NOT NULL" if given.negate else "IS NULL"
        return f"({self._expression(given.is_null, f'{pointer}/is_null')} {sign})"

    def _matches(self, given: q.Matches, pointer: str) -> str:
        functions = {
            "contains": "contains",
            "starts with": "starts_with",
            "ends with": "ends_with",
        }
        value = self._expression(given.of, f"{pointer}/of")
        return f"{functions[given.matches]}(CAST({value} AS VARCHAR), {_literal(given.text)})"


def _windowed(window: q.Window, argument: str, over: str) -> str:
    if window.function == "share":
        # Nothing of nothing is no share, not an error.
        return f"CAST({argument} AS DOUBLE) / nullif(sum({argument}) OVER ({over}), 0)"
    if window.function == "difference":
        return f"{argument} - lag({argument}, {window.offset}) OVER ({over})"
    return f"{window.function}({argument}) OVER ({over})"


def _frame(frame: q.Frame) -> str:
    before = "UNBOUNDED PRECEDING" if frame.before is None else f"{frame.before} PRECEDING"
    after = "UNBOUNDED FOLLOWING" if frame.after is None else f"{frame.after} FOLLOWING"
    return f"ROWS BETWEEN {before} AND {'CURRENT ROW' if frame.after == 0 else after}"


def _wrong(pointer: str, message: str) -> Invalid:
    return Invalid(
        f"The plan does not fit the data: {pointer or '/'}: {message}.",
        code="plan-inconsistent",
        problems=[Problem(pointer, message)],
    )


def _quote(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _list(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _literal(value: q.Scalar) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return f"({value})" if value < 0 else str(value)
    if isinstance(value, float):
        return f"CAST('{value!r}' AS DOUBLE)"
    if isinstance(value, q.DateValue):
        return f"DATE '{value.date.isoformat()}'"
    if isinstance(value, q.MomentValue):
        kind = "TIMESTAMPTZ" if value.timestamp.tzinfo else "TIMESTAMP"
        return f"{kind} '{value.timestamp.isoformat(sep=' ')}'"
    return "'" + value.replace("'", "''") + "'"


def _shown(value: q.Scalar) -> str:
    """A value as the name of a column."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, q.DateValue):
        return value.date.isoformat()
    if isinstance(value, q.MomentValue):
        return value.timestamp.isoformat(sep=" ")
    return str(value)
