"""A reading: what a question is taken to ask, in terms of definitions.

It is what chips show and people change, what the query builder writes, and what compiles to a query plan. Rules read a question as
a reading; the query plan of a model is read back as one. What cannot be said as a reading has none, and the answer says so.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

Function = Literal["count", "count_distinct", "sum", "avg", "min", "max", "median", "stddev"]
Unit = Literal["year", "quarter", "month", "week", "day", "hour"]
TimePart = Literal["weekday", "month of the year", "hour of the day"]
Shape = Literal["bar", "line", "area", "pie", "scatter", "histogram", "box", "heatmap"]
ChipKind = Literal[
    "measure",
    "group",
    "filter",
    "segment",
    "period",
    "rank",
    "having",
    "share",
    "chart",
    "columns",
    "table",
]
LONGEST_NAME: Final = 200
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class ColumnRef(_Part):
    """A column of the reading's table, or of one that relationships lead to."""

    column: Name
    table: Name | None = Field(None, description="Where it is not a column of the reading's table.")
    via: Annotated[list[Name], Field(max_length=5)] = Field(
        [], description="Columns of the relationships followed, where several lead there."
    )


class Filtered(_Part):
    """Only rows whose column compares so; several values mean one of them.

    With `is` and `is not` the value is a named part of the table, and the column is ignored.
    """

    column: ColumnRef
    test: Literal[
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "contains",
        "starts with",
        "ends with",
        "empty",
        "not empty",
        "between",
        "is",
        "is not",
    ]
    values: Annotated[list[Any], Field(max_length=1_000)] = []
    than: ColumnRef | None = Field(
        None, description="Compares with this column of the same row instead of a value."
    )


class Lacking(_Part):
    """Only rows that no row of another table leads to: customers without overdue invoices."""

    table: Name
    via: Name = Field(description="Its column that leads here.")
    filters: Annotated[list[Filtered], Field(max_length=50)] = []
    segments: Annotated[list[Name], Field(max_length=20)] = []
    periods: Annotated[list["Period"], Field(max_length=10)] = []


class Measured(_Part):
    """A figure: a function of a column, a count of rows, or a metric by its name."""

    function: Function | None = None
    column: ColumnRef | None = None
    metric: Name | None = None
    minus: ColumnRef | None = Field(
        None, description="The figure is of the column less this one, row by row."
    )
    over: ColumnRef | None = Field(
        None, description="The total of the column divided by the total of this one."
    )
    share: bool = Field(False, description="Each group's part of the whole.")
    where: Annotated[list[Filtered], Field(max_length=20)] = Field(
        [], description="With `share`: the part that the rows have that compare so."
    )
    per: ColumnRef | None = Field(
        None, description="On average for each value of this column, such as each customer."
    )
    along: Literal["running", "change"] | None = Field(
        None, description="Over time: the total so far, or the difference to the time before."
    )

    @property
    def counts_rows(self) -> bool:
        """Whether it is the plain number of rows."""
        return self.column is None and self.metric is None and not self.share and self.per is None


class Grouped(_Part):
    by: ColumnRef
    unit: Unit | None = Field(
        None, description="For a time column: the stretch that rows are put together by."
    )
    part: TimePart | None = Field(
        None, description="For a time column: the part that comes again, such as Mondays."
    )
    is_unit: bool = Field(
        False, description="Nobody asked for it: figures are in the units that this column says."
    )


class Period(_Part):
    """Only rows of a stretch of time; `end` is not part of it."""

    column: ColumnRef
    start: str | None = None
    end: str | None = None
    said: str = Field(
        "", max_length=100, description="As people say it: 2024, last month, March 2021."
    )


class Ordered(_Part):
    by: Literal["measure", "group", "column"]
    column: ColumnRef | None = None
    descending: bool = True


class Reading(_Part):
    """One question over one table and what relationships lead to."""

    table: Name
    measures: Annotated[list[Measured], Field(max_length=10)] = []
    groups: Annotated[list[Grouped], Field(max_length=5)] = []
    columns: Annotated[list[ColumnRef], Field(max_length=100)] = Field(
        [], description="For rows: which columns; none means all."
    )
    filters: Annotated[list[Filtered], Field(max_length=50)] = []
    segments: Annotated[list[Name], Field(max_length=20)] = Field(
        [], description="Named parts of the table, from its definition."
    )
    lacking: Annotated[list[Lacking], Field(max_length=5)] = []
    without_defaults: bool = Field(False, description="Leaves out the table's default filters.")
    periods: Annotated[list[Period], Field(max_length=10)] = []
    having: Annotated[list[Filtered], Field(max_length=10)] = Field(
        [], description="Only groups whose first measure compares so; the column is ignored."
    )
    order: Annotated[list[Ordered], Field(max_length=5)] = []
    limit: Annotated[int, Field(ge=1, le=10_000)] | None = None
    chart: Shape | None = None


class Chip(_Part):
    """One part of a reading as people see it."""

    kind: ChipKind
    text: str = Field(
        description="Such as `total of gross`, `by country`, `only Germany`, `largest 10`, `bar chart`."
    )
    pointer: str = Field(description="Where in the reading it is, as a JSON pointer: /groups/0.")
    source: Literal["asked", "definition", "assumed"] = "asked"
    entry: str | None = Field(
        None, description="The definition it is read by, as a pointer: /metrics/revenue."
    )


class OfferedMeaning(_Part):
    text: str = Field(description="What the word would mean, such as `status overdue`.")
    value: str = Field(description="The condition or formula that says so.")


class Offer(_Part):
    """What a word could be defined as, from the data; a person chooses, and the question is answered by it.

    Nothing is chosen beforehand where several meanings can be: "unpaid" need not be everything that is not paid.
    """

    word: str
    table: Name
    entry: str = Field(description="The definition that is made, as a pointer: /metrics/revenue.")
    value: dict[str, Any] = Field({}, description="Its other fields.")
    field: Literal["where", "formula", "row"] = Field(
        description="The field that the chosen meanings make."
    )
    several: bool = Field(
        description="Whether several meanings can be chosen together; they are joined by `or`."
    )
    meanings: list[OfferedMeaning]


class Unused(_Part):
    """A word of the question that the plan does not use."""

    word: str
    start: int
    end: int


Status = Literal["fact", "proposal", "refused"]
"""`fact`: every word that carries meaning is used and nothing was assumed in silence. `proposal`: there are readings to choose from,
and no answer as fact. `refused`: nothing that was asked can be read."""


class Asked(_Part):
    """What an answer shows above itself: the reading, what was not used, what was assumed, what else it could mean."""

    status: Status
    reading: Reading | None = None
    chips: list[Chip] = []
    unused: list[Unused] = []
    assumed: list[str] = Field(
        [], description="Sentences: what the plan contains and nobody asked for."
    )
    assumed_at: list[str] = Field(
        [], description="Parts of the reading that nobody asked for, as JSON pointers."
    )
    offers: list[Offer] = Field([], description="Words that can be defined from here.")
    nearest: list[Reading] = Field([], description="Readings to choose from instead.")
    nearest_lines: list[str] = Field([], description="The same in words, one line each.")
    problems: list[str] = Field(
        [],
        description="What the result itself shows to be wrong: an identifier summed, rows multiplied.",
    )
