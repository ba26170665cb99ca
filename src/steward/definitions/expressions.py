"""Reads expressions and conditions, written as people write SQL, into the pieces of a query plan.

Only what a query plan can say is read; everything else is refused with the words it was written in.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, get_args

from steward.core import Invalid
from steward.sandbox import query_plan as q

if TYPE_CHECKING:
    from sqlglot import exp

_LONGEST: Final = 1_000
_DEEPEST: Final = 30
_NAMED: Final = 30
_FUNCTIONS: Final = frozenset(get_args(q.Function))
_TYPES: Final = {
    **dict.fromkeys(("VARCHAR", "TEXT", "CHAR"), "text"),
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT"), "integer"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "number"),
    "DECIMAL": "decimal",
    "BOOLEAN": "boolean",
    "DATE": "date",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPNTZ"), "timestamp"),
}


class ExpressionReader:
    """Reads parsed SQL into expressions and conditions of a query plan."""

    def __init__(self, text: str, columns: Iterable[str], what: str) -> None:
        self.text = text
        self._what = what
        self._columns = {each.casefold(): each for each in columns}

    def wrong(self, reason: str) -> Invalid:
        return Invalid(
            f'The {self._what} "{self.text[:200]}" cannot be used: {reason}.',
            code=f"{self._what}-invalid",
        )

    def parsed(self) -> "exp.Expr":
        import sqlglot
        from sqlglot import exp
        from sqlglot.errors import ParseError, SqlglotError

        if len(self.text) > _LONGEST:
            raise self.wrong(f"it has more than {_LONGEST:,} characters")
        if _depth(self.text) > _DEEPEST:
            raise self.wrong("it is nested too deeply")
        try:
            found = sqlglot.parse(f"SELECT {self.text}", read="duckdb")
        except (SqlglotError, RecursionError) as error:
            place = ""
            if isinstance(error, ParseError) and error.errors:
                column = int(error.errors[0].get("col") or 0) - len("SELECT ")
                place = f" near character {column}" if column > 0 else ""
            raise self.wrong(f"it is not written as SQL{place}") from None
        query = found[0] if len(found) == 1 else None
        if not isinstance(query, exp.Select) or len(query.expressions) != 1:
            raise self.wrong(f"it must be one {self._what}")
        if {key for key, value in query.args.items() if value} - {"expressions", "kind"}:
            raise self.wrong(f"a {self._what} has no FROM, WHERE or other clauses of a query")
        only: exp.Expr = query.expressions[0]
        if isinstance(only, exp.Alias):
            raise self.wrong("leave out AS")
        return only

    # Expressions

    def column(self, node: "exp.Expr") -> str:
        if node.args.get("table"):
            raise self.wrong(f"write the column's name alone instead of {node.sql()}")
        found = self._columns.get(node.name.casefold())
        if found is None:
            there = ", ".join(list(self._columns.values())[:_NAMED]) or "none"
            raise self.wrong(f"there is no column {node.name!r}; there are: {there}")
        return found

    def expression(self, node: "exp.Expr") -> q.Expression:
        from sqlglot import exp

        if isinstance(node, exp.Paren):
            return self.expression(node.this)
        if isinstance(node, exp.Column):
            return q.ColumnOf(column=self.column(node))
        operator = _operator(node)
        if operator == "/":
            return self._quotient(self.expression(node.this), self.expression(node.expression))
        if operator is not None:
            sides = [self.expression(node.this), self.expression(node.expression)]
            return q.Operation(op=operator, args=sides)
        literal = self._literal(node)
        if literal is not None:
            return literal
        if isinstance(node, exp.Cast):
            return self._cast(node)
        if isinstance(node, exp.Case):
            return self._case(node)
        if isinstance(node, exp.Nullif):
            same = q.Compare(
                left=self.expression(node.this),
                compare="!=",
                right=self.expression(node.expression),
            )
            return q.Case(case=[q.Branch(when=same, then=self.expression(node.this))])
        return self._call(node)

    def _quotient(self, left: q.Expression, right: q.Expression) -> q.Expression:
        quotient = q.Operation(op="/", args=[left, right])
        if isinstance(right, q.Value):
            return quotient
        # Nothing can be divided by nothing: the figure is empty then, not infinite.
        zero = q.Compare(left=right, compare="!=", right=q.Value(value=0))
        return q.Case(case=[q.Branch(when=zero, then=quotient)])

    def _literal(self, node: "exp.Expr") -> q.Value | None:
        from sqlglot import exp

        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
            number = self._literal(node.this)
            if number is not None and isinstance(number.value, int | float):
                return q.Value(value=-number.value)
        if isinstance(node, exp.Literal):
            if node.is_string:
                return q.Value(value=node.this)
            text = str(node.this)
            return q.Value(value=int(text) if text.isdigit() else float(text))
        if isinstance(node, exp.Boolean):
            return q.Value(value=bool(node.this))
        if isinstance(node, exp.Null):
            return q.Value(value=None)
        return None

    def _cast(self, node: "exp.Cast") -> q.Expression:
        kind = _TYPES.get(node.to.this.value)
        if kind is None:
            raise self.wrong(f"the type {node.to.sql()} is not known")
        literal = self._literal(node.this)
        if literal is not None and isinstance(literal.value, str) and kind in ("date", "timestamp"):
            try:
                if kind == "date":
                    return q.Value(value=q.DateValue(date=date.fromisoformat(literal.value)))
                moment = datetime.fromisoformat(literal.value)
                return q.Value(value=q.MomentValue(timestamp=moment))
            except ValueError:
                raise self.wrong(f"{literal.value!r} is not a {kind}") from None
        return q.Cast.model_validate({"cast": self.expression(node.this), "to": kind})

    def _case(self, node: "exp.Case") -> q.Expression:
        if node.this is not None:
            raise self.wrong("write CASE WHEN with a condition")
        branches = [
            q.Branch(when=self.condition(each.this), then=self.expression(each.args["true"]))
            for each in node.args["ifs"]
        ]
        default = node.args.get("default")
        return q.Case(case=branches, otherwise=self.expression(default) if default else None)

    def _call(self, node: "exp.Expr") -> q.Expression:
        from sqlglot import exp

        name = _function_name(node)
        if name not in _FUNCTIONS:
            raise self.wrong(f"{node.sql(dialect='duckdb')} is not known here")
        if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
            given: list[Any] = [_unit(node), self.expression(node.this)]
        elif isinstance(node, exp.DateDiff):
            given = [_unit(node), self.expression(node.expression), self.expression(node.this)]
        else:
            given = [self.expression(each) for each in _arguments(node)]
        return q.Call.model_validate({"function": name, "args": given})

    # Conditions

    def condition(self, node: "exp.Expr") -> q.Condition:
        from sqlglot import exp

        if isinstance(node, exp.Paren):
            return self.condition(node.this)
        if isinstance(node, exp.And):
            return q.All(all=[self.condition(each) for each in node.flatten()])
        if isinstance(node, exp.Or):
            return q.AnyOf(any=[self.condition(each) for each in node.flatten()])
        if isinstance(node, exp.Not):
            return self._negated(node.this)
        if isinstance(node, exp.Column):
            return q.Compare(left=self.expression(node), compare="=", right=q.Value(value=True))
        if isinstance(node, exp.Between):
            low, high = self.expression(node.args["low"]), self.expression(node.args["high"])
            return q.Between(between=self.expression(node.this), low=low, high=high)
        if isinstance(node, exp.In):
            return self._among(node, negate=False)
        if isinstance(node, exp.Is):
            return self._is(node)
        if isinstance(node, exp.Like | exp.ILike):
            return self._like(node)
        return self._compare(node)

    def _compare(self, node: "exp.Expr") -> q.Condition:
        sign = _comparison(node)
        if sign is None:
            raise self.wrong(f"{node.sql(dialect='duckdb')} is not a condition")
        left, right = self.expression(node.this), self.expression(node.expression)
        for side in (left, right):
            if isinstance(side, q.Value) and side.value is None:
                raise self.wrong("nothing compares with null; write IS NULL")
        return q.Compare.model_validate({"left": left, "compare": sign, "right": right})

    def _negated(self, node: "exp.Expr") -> q.Condition:
        from sqlglot import exp

        if isinstance(node, exp.In):
            return self._among(node, negate=True)
        inner = self.condition(node)
        if isinstance(inner, q.IsNull):
            return q.IsNull(is_null=inner.is_null, negate=not inner.negate)
        return q.Not.model_validate({"not": inner})

    def _among(self, node: "exp.In", *, negate: bool) -> q.Condition:
        values = [self.expression(each) for each in node.expressions]
        if not values or not all(isinstance(each, q.Value) for each in values):
            raise self.wrong("IN takes a list of values")
        return q.Among.model_validate(
            {"among": values, "of": self.expression(node.this), "negate": negate}
        )

    def _is(self, node: "exp.Is") -> q.Condition:
        from sqlglot import exp

        if isinstance(node.expression, exp.Null):
            return q.IsNull(is_null=self.expression(node.this))
        if isinstance(node.expression, exp.Boolean):
            right = q.Value(value=bool(node.expression.this))
            return q.Compare(left=self.expression(node.this), compare="=", right=right)
        raise self.wrong("IS takes NULL, TRUE or FALSE")

    def _like(self, node: "exp.Expr") -> q.Condition:
        pattern = self.expression(node.expression)
        text = pattern.value if isinstance(pattern, q.Value) else None
        if not isinstance(text, str) or "%" in text.strip("%") or "_" in text:
            raise self.wrong("LIKE takes a text with % only at its ends")
        test = {(False, True): "starts with", (True, False): "ends with", (True, True): "contains"}
        found = test.get((text.startswith("%"), text.endswith("%")))
        if found is None or not text.strip("%"):
            raise self.wrong("LIKE takes a text with % at its beginning or end")
        return q.Matches.model_validate(
            {"matches": found, "of": self.expression(node.this), "text": text.strip("%")}
        )


def _operator(node: "exp.Expr") -> q.Operator | None:
    from sqlglot import exp

    signs: dict[type, q.Operator] = {
        exp.Add: "+",
        exp.Sub: "-",
        exp.Mul: "*",
        exp.Div: "/",
        exp.Mod: "%",
        exp.DPipe: "||",
    }
    return signs.get(type(node))


def _comparison(node: "exp.Expr") -> str | None:
    from sqlglot import exp

    signs: dict[type, str] = {
        exp.EQ: "=",
        exp.NEQ: "!=",
        exp.LT: "<",
        exp.LTE: "<=",
        exp.GT: ">",
        exp.GTE: ">=",
    }
    return signs.get(type(node))


def _function_name(node: "exp.Expr") -> str:
    from sqlglot import exp

    named: dict[type, str] = {
        exp.TimestampTrunc: "date_trunc",
        exp.DateTrunc: "date_trunc",
        exp.DateDiff: "date_diff",
        exp.Ceil: "ceil",
        exp.Substring: "substring",
    }
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    return named.get(type(node), node.key.lower())


def _arguments(node: "exp.Expr") -> Sequence["exp.Expr"]:
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return node.expressions
    found: list[Any] = []
    for key in node.arg_types:
        given = node.args.get(key)
        found += given if isinstance(given, list) else [given] if given is not None else []
    return [each for each in found if isinstance(each, exp.Expr)]


def _unit(node: "exp.Expr") -> q.Value:
    unit = node.args.get("unit")
    return q.Value(value=unit.name.lower() if unit is not None else "")


def _depth(text: str) -> int:
    deepest = depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    return deepest
