"""A query as data: source, joins, derive, filters, group, aggregate, compute, having, window, pivot, order, limit.

The steps always apply in that order, whatever the order of the keys. A plan is given as JSON or YAML,
checked against the schema of the datasets with errors that say what to write instead, compiled to
the same bytes of SQL every time, and written back as readable text that reads as the same plan.
"""

import contextlib
import datetime as dt
import json
import math
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from steward.core import Invalid, Unreadable, dump_yaml, in_words, mistakes, parse_yaml, read_json

Text = Annotated[str, StringConstraints(min_length=1, max_length=200)]

Aggregation = Literal[
    "count", "count_distinct", "sum", "avg", "min", "max", "median", "stddev", "variance"
]
WindowFunction = Literal[
    "row_number",
    "rank",
    "dense_rank",
    "lag",
    "lead",
    "sum",
    "avg",
    "min",
    "max",
    "count",
    "share",
    "difference",
]
"""`share` is the part of the partition's sum, 1 for all of it; `difference` is to an earlier row."""
Comparison = Literal["=", "!=", "<", "<=", ">", ">="]
TextTest = Literal["contains", "starts with", "ends with"]
Operator = Literal["+", "-", "*", "/", "%", "||"]
Function = Literal[
    "abs",
    "round",
    "floor",
    "ceil",
    "lower",
    "upper",
    "trim",
    "length",
    "substring",
    "replace",
    "coalesce",
    "year",
    "quarter",
    "month",
    "day",
    "hour",
    "date_trunc",
    "date_diff",
]
Type = Literal["text", "integer", "number", "decimal", "boolean", "date", "timestamp"]
_LARGEST = 1 << 63
_LARGEST_TEXT = 200_000


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, populate_by_name=True)


class DateValue(_Part):
    date: dt.date


class MomentValue(_Part):
    timestamp: dt.datetime


# Strict: a country called NO is a text, not a truth value.
Scalar = StrictBool | StrictInt | StrictFloat | StrictStr | None | DateValue | MomentValue


class ColumnOf(_Part):
    column: Text


class Value(_Part):
    value: Annotated[Scalar, Field(union_mode="left_to_right")]

    @field_validator("value", mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        return _as_document(given)

    @field_validator("value")
    @classmethod
    def _writable(cls, given: Scalar) -> Scalar:
        if isinstance(given, float) and not math.isfinite(given):
            raise ValueError("a number must be finite")
        if type(given) is int and not -_LARGEST <= given < _LARGEST:
            raise ValueError("a whole number must fit in 64 bits")
        if isinstance(given, str) and "\0" in given:
            raise ValueError("text must not hold a null character")
        return given


class Operation(_Part):
    op: Operator
    args: Annotated[list["Expression"], Field(min_length=2, max_length=20)]


class Call(_Part):
    function: Function
    args: Annotated[list["Expression"], Field(min_length=1, max_length=20)]


class Cast(_Part):
    cast: "Expression"
    to: Type


class Branch(_Part):
    when: "Condition"
    then: "Expression"


class Case(_Part):
    case: Annotated[list[Branch], Field(min_length=1, max_length=100)]
    otherwise: "Expression | None" = None


def _which_expression(given: Any) -> str | None:
    keys = given if isinstance(given, dict) else getattr(type(given), "model_fields", {})
    return next(
        (k for k in ("column", "value", "op", "function", "cast", "case") if k in keys), None
    )


Expression = Annotated[
    Annotated[ColumnOf, Tag("column")]
    | Annotated[Value, Tag("value")]
    | Annotated[Operation, Tag("op")]
    | Annotated[Call, Tag("function")]
    | Annotated[Cast, Tag("cast")]
    | Annotated[Case, Tag("case")],
    Discriminator(
        _which_expression,
        custom_error_type="expression",
        custom_error_message="an expression is one of column, value, op, function, cast, case",
    ),
]


class Compare(_Part):
    left: Expression
    compare: Comparison
    right: Expression


class Among(_Part):
    """The value is one of a list; with `negate`, none of them."""

    among: Annotated[list[Value], Field(min_length=1, max_length=1000)]
    of: Expression
    negate: bool = False


class Between(_Part):
    between: Expression
    low: Expression
    high: Expression


class IsNull(_Part):
    is_null: Expression
    negate: bool = False


class Matches(_Part):
    matches: TextTest
    of: Expression
    text: str


class All(_Part):
    all: Annotated[list["Condition"], Field(min_length=1, max_length=100)]


class AnyOf(_Part):
    any: Annotated[list["Condition"], Field(min_length=1, max_length=100)]


class Not(_Part):
    negated: "Condition" = Field(alias="not")


def _which_condition(given: Any) -> str | None:
    keys = given if isinstance(given, dict) else getattr(type(given), "model_fields", {})
    if "not" in keys or "negated" in keys:
        return "not"
    known = ("compare", "among", "between", "is_null", "matches", "all", "any")
    return next((k for k in known if k in keys), None)


Condition = Annotated[
    Annotated[Compare, Tag("compare")]
    | Annotated[Among, Tag("among")]
    | Annotated[Between, Tag("between")]
    | Annotated[IsNull, Tag("is_null")]
    | Annotated[Matches, Tag("matches")]
    | Annotated[All, Tag("all")]
    | Annotated[AnyOf, Tag("any")]
    | Annotated[Not, Tag("not")],
    Discriminator(
        _which_condition,
        custom_error_type="condition",
        custom_error_message=(
            "a condition is one of compare, among, between, is_null, matches, all, any, not"
        ),
    ),
]


class On(_Part):
    left: Text
    right: Text


class Join(_Part):
    """The right side's columns keep their names; one that is taken is called `alias.column`."""

    dataset: Text
    alias: Text | None = None
    kind: Literal["inner", "left", "right", "full", "semi", "anti"] = "inner"
    on: Annotated[list[On], Field(min_length=1, max_length=20)]
    where: Condition | None = Field(
        None, description="Only rows of the joined dataset for which this holds."
    )

    @property
    def name(self) -> str:
        return self.alias or self.dataset


class Derive(_Part):
    name: Text
    expression: Expression


class Aggregate(_Part):
    name: Text
    function: Aggregation
    column: Text | None = None
    where: Condition | None = None

    @model_validator(mode="after")
    def _has_column(self) -> Self:
        if self.column is None and self.function != "count":
            raise ValueError(f"{self.function} needs a column; only count goes without one")
        return self


class Order(_Part):
    column: Text
    direction: Literal["ascending", "descending"] = "ascending"
    nulls: Literal["first", "last"] = "last"


class Frame(_Part):
    """Rows before and after the current one; none means up to the edge of the partition."""

    before: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    after: Annotated[int, Field(ge=0, le=1_000_000)] | None = 0


class Window(_Part):
    name: Text
    function: WindowFunction
    column: Text | None = None
    offset: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    partition: list[Text] = []
    order: list[Order] = []
    frame: Frame | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        ranked = self.function in {"row_number", "rank", "dense_rank"}
        if ranked and self.column is not None:
            raise ValueError(f"{self.function} takes no column")
        if self.function == "share" and self.order:
            raise ValueError("share is of the whole partition and takes no order")
        if not ranked and self.column is None and self.function != "count":
            raise ValueError(f"{self.function} needs a column")
        if self.function not in {"sum", "avg", "min", "max", "count"} and self.frame is not None:
            raise ValueError(f"{self.function} takes no frame")
        along = ranked or self.function in {"lag", "lead", "difference"}
        if (along or self.frame) and not self.order:
            raise ValueError(f"{self.function} needs an order to count along")
        return self


class Pivot(_Part):
    """One column per value; the rows are grouped by `group`."""

    column: Text
    values: Annotated[list[Value], Field(min_length=1, max_length=200)]
    function: Aggregation = "sum"
    value: Text | None = None
    group: list[Text] = []

    @model_validator(mode="after")
    def _has_value(self) -> Self:
        if self.value is None and self.function != "count":
            raise ValueError(f"{self.function} needs a value column; only count goes without one")
        return self


class QueryPlan(_Part):
    version: Literal[1] = 1
    source: Text
    joins: Annotated[list[Join], Field(max_length=20)] = []
    derive: Annotated[list[Derive], Field(max_length=100)] = []
    filters: Annotated[list[Condition], Field(max_length=100)] = []
    group: Annotated[list[Text], Field(max_length=50)] = []
    aggregate: Annotated[list[Aggregate], Field(max_length=100)] = []
    compute: Annotated[list[Derive], Field(max_length=100)] = Field(
        [], description="Columns computed from aggregates, such as a quotient of two."
    )
    having: Annotated[list[Condition], Field(max_length=50)] = []
    window: Annotated[list[Window], Field(max_length=50)] = []
    pivot: Pivot | None = None
    select: Annotated[list[Text], Field(max_length=500)] = []
    order: Annotated[list[Order], Field(max_length=50)] = []
    limit: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.group and not self.aggregate:
            raise ValueError("group needs an aggregate; for distinct rows aggregate with count")
        if self.having and not self.aggregate:
            raise ValueError("having looks at aggregates, and there is none; use filters")
        if self.compute and not self.aggregate:
            raise ValueError("compute works on aggregates, and there is none; use derive")
        if self.offset and self.limit is None:
            raise ValueError("offset needs a limit")
        if self.limit is not None and self.offset and not self.order:
            raise ValueError("offset without an order skips rows at random; add an order")
        return self

    @classmethod
    def parse(cls, text: str) -> "QueryPlan":
        """A plan from JSON or YAML."""
        document = _load(text)
        if not isinstance(document, dict):
            raise Invalid("A plan is an object with at least a `source`.", code="plan-invalid")
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            found = mistakes(error)
            raise Invalid(
                f"The plan is not valid: {in_words(found)}.", code="plan-invalid", problems=found
            ) from None

    def text(self) -> str:
        """The plan as people read it; `parse` makes the same plan of it."""
        document = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return dump_yaml(json.loads(json.dumps(document)), flow=None)


def _load(text: str) -> Any:
    """JSON or YAML; in YAML, days and moments may be written without quotes."""
    if text.lstrip().startswith("{"):
        # The escapes of JSON are not all known to YAML; what is no JSON may still be YAML.
        with contextlib.suppress(Unreadable):
            return read_json(text, largest=_LARGEST_TEXT)
    try:
        found = parse_yaml(text, largest=_LARGEST_TEXT)
    except Unreadable as problem:
        raise Invalid(
            f"The plan is neither JSON nor YAML: {problem.problems[0].message}.",
            code="plan-invalid",
            problems=problem.problems,
        ) from None
    return None if found is None else found.data(dates=True)


def _as_document(value: Any) -> Any:
    """YAML reads dates by itself."""
    if isinstance(value, dt.datetime):
        return {"timestamp": value}
    if isinstance(value, dt.date):
        return {"date": value}
    return value


_MODELS: tuple[type[_Part], ...] = (
    *(Operation, Call, Cast, Branch, Case, Compare, Among, Between, IsNull, Matches),
    *(All, AnyOf, Not, Derive, Aggregate, QueryPlan),
)
for _model in _MODELS:
    _model.model_rebuild()
