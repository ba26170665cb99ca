"""The definitions of a project: what its columns, words and figures mean, as one document with a version.

Tables and columns are named as the datasets are. Nothing here is computed from rows when a question is asked: definitions are
proposed from schemas, profiles, keys and relations (`proposing.py`) and confirmed, changed or rejected by people.
"""

from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

FORMAT: Final = 1
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
Words = Annotated[list[Word], Field(max_length=50)]

Role = Literal["identifier", "dimension", "measure", "time", "text"]
"""`identifier`: names a row of this or another table; it is counted, never summed or averaged.
`dimension`: rows are grouped or filtered by it. `measure`: a quantity. `time`: when something happened; whole numbers are times,
too, where the unit is `year`. A dimension with the unit `month`, `weekday` or `hour` is that part of a date.
`text`: free words; rows are searched by it, not grouped."""
# In the order of readings: Python takes equal choices in another order for the same type.
Function = Literal["count", "count_distinct", "sum", "avg", "min", "max", "median"]
Additive = Literal["always", "not over time", "never"]
"""Whether adding values up means something: an amount; a stock such as a population or a balance; a price, a rate, an age."""
State = Literal["proposed", "confirmed", "rejected"]
"""`rejected`: a person does not want it; questions are not read by it, and it is not proposed again."""
Cardinality = Literal["many_to_one", "one_to_one"]


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class _Entry(_Part):
    """Something that a person can confirm, change or reject by itself."""

    state: State = "proposed"
    by: str | None = Field(
        None, max_length=200, description="The person who confirmed or wrote it."
    )
    why: str = Field(
        "",
        max_length=500,
        description="The evidence it was proposed on, or the reason a person gave.",
    )


class ColumnDefinition(_Entry):
    role: Role
    label: str = Field(
        "",
        max_length=100,
        description="The name that people read, where the column's own is no word.",
    )
    synonyms: Words = []
    total: Function | None = Field(
        None, description="How a measure is summarised where a question names no function."
    )
    additive: Additive = "always"
    unit: str = Field("", max_length=30, description="Such as EUR, km, %.")
    unit_column: Name | None = Field(
        None, description="The column that says the unit of each row, such as a currency."
    )
    zone: str | None = Field(None, max_length=60, description="IANA time zone of a time column.")
    values: Annotated[dict[Name, Words], Field(max_length=1_000)] = Field(
        {}, description="Other words for values of the column: {Germany: [DE, Deutschland]}."
    )

    @model_validator(mode="after")
    def _fits_its_role(self) -> Self:
        if self.total is not None and self.role != "measure":
            raise ValueError("only a measure has a `total`")
        if self.unit_column is not None and self.role != "measure":
            raise ValueError("only a measure has a `unit_column`")
        if self.zone is not None and self.role != "time":
            raise ValueError("only a time column has a `zone`")
        return self


class DefaultFilter(_Entry):
    """Rows that a question is about unless it says otherwise; every answer tells it."""

    where: Annotated[str, StringConstraints(min_length=1, max_length=500)] = Field(
        description="A condition over the table's columns, such as `cancelled = false`."
    )
    say: Annotated[str, StringConstraints(min_length=1, max_length=100)] = Field(
        description="How an answer names it, such as `without cancelled lines`."
    )


class Segment(_Entry):
    """A word for some of a table's rows: unpaid, active, large."""

    where: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    synonyms: Words = []


class TableDefinition(_Entry):
    row: str = Field(
        "",
        max_length=100,
        description="What one row is, in the singular: invoice, flight, penguin.",
    )
    synonyms: Words = []
    key: Annotated[list[Name], Field(max_length=10)] = []
    name_column: Name | None = Field(
        None, description="The column that people know a row by, such as a customer's name."
    )
    default_time: Name | None = None
    default_filters: Annotated[list[DefaultFilter], Field(max_length=20)] = []
    segments: Annotated[dict[Word, Segment], Field(max_length=100)] = {}
    columns: Annotated[dict[Name, ColumnDefinition], Field(max_length=2_000)] = {}


class Metric(_Entry):
    """A figure with a name, computed from aggregates: sum(unit_price * quantity), sum(late) / count(*)."""

    formula: Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
    over: Name = Field(description="The table whose rows it is computed over.")
    unit: str = Field("", max_length=30)
    synonyms: Words = []
    time: Name | None = Field(
        None, description="The time column it runs along, where it is not the table's default."
    )


class Relationship(_Entry):
    """Rows of one table point at rows of another; queries join along it."""

    from_table: Name
    from_columns: Annotated[list[Name], Field(min_length=1, max_length=10)]
    to_table: Name
    to_columns: Annotated[list[Name], Field(min_length=1, max_length=10)]
    cardinality: Cardinality = "many_to_one"
    role: str = Field(
        "",
        max_length=60,
        description="What the other row is to this one, where several exist: origin, destination.",
    )

    @model_validator(mode="after")
    def _pairs_up(self) -> Self:
        if len(self.from_columns) != len(self.to_columns):
            raise ValueError("both sides of a relationship have the same number of columns")
        return self


class ConfirmedQuestion(_Entry):
    """A question with the reading that a person confirmed; an example for rules and models."""

    ask: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    reading: dict[str, object] = Field(
        description="The reading (agents/asking/reading.py) as a document."
    )


class Definitions(_Part):
    """Everything that words mean in a project."""

    format: Literal[1] = FORMAT
    tables: Annotated[dict[Name, TableDefinition], Field(max_length=2_000)] = {}
    metrics: Annotated[dict[Word, Metric], Field(max_length=1_000)] = {}
    relationships: Annotated[list[Relationship], Field(max_length=2_000)] = []
    questions: Annotated[list[ConfirmedQuestion], Field(max_length=2_000)] = []
