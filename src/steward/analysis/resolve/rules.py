"""The rules document of an entity resolution: what a person reads, edits and approves."""

import hashlib
import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from steward.core import Invalid, in_words, mistakes

MAX_FIELDS = 60
MAX_LEVELS = 8
# Columns that every golden table has.
RESERVED = frozenset({"entity_id", "records"})

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
Columns = str | Annotated[tuple[str, ...], Field(min_length=1)]
Share = Annotated[float, Field(gt=0.0, le=1.0, allow_inf_nan=False)]
Probability = Annotated[float, Field(gt=0.0, lt=1.0, allow_inf_nan=False)]

Role = Literal[
    "person_name",
    "given_name",
    "family_name",
    "company",
    "email",
    "email_domain",
    "phone",
    "tax_id",
    "bank_account",
    "identifier",
    "street",
    "street_number",
    "address_detail",
    "city",
    "postcode",
    "region",
    "country",
    "birth_date",
    "text",
    "number",
    "code",
    "date",
    "other",
]

Clean = Literal[
    "repair_encoding",
    "fold",
    "words",
    "drop_titles",
    "drop_legal_form",
    "short_street_words",
    "email",
    "domain",
    "drop_free_mail",
    "phone",
    "letters_and_digits",
    "digits",
    "date",
    "country",
    "squeeze",
    "sound",
    "drop_placeholders",
    "number",
]

Test = Literal[
    "same",
    "same_words",
    "words_within",
    "similar",
    "similar_words",
    "rare_words",
    "edits",
    "same_start",
    "same_end",
    "same_initial",
    "swapped_with",
    "days_apart",
    "number_apart",
    "share_apart",
    "contained",
    "missing",
    "otherwise",
]

Survivor = Literal[
    "most_frequent", "longest", "newest", "oldest", "source_order", "most_complete", "first"
]

# Which of the two bounds a test needs; the others take none.
BOUND_OF: dict[str, str] = {
    "similar": "at_least",
    "similar_words": "at_least",
    "rare_words": "at_least",
    "same_start": "at_least",
    "same_end": "at_least",
    "edits": "at_most",
    "days_apart": "at_most",
    "number_apart": "at_most",
    "share_apart": "at_most",
}


class Document(BaseModel):
    model_config = ConfigDict(
        defer_build=True, extra="forbid", frozen=True, str_strip_whitespace=True
    )


class Source(Document):
    """One table that takes part, and how its rows stand for parties."""

    table: Annotated[str, Field(min_length=1, description="Name of the table.")]
    row_key: Annotated[
        str | None, Field(description="Column that names a row; none: rows go by position.")
    ] = None
    party_key: Annotated[
        tuple[str, ...],
        Field(description="Columns whose equal values mark rows of one party (many rows each)."),
    ] = ()
    duplicates: Annotated[
        bool, Field(description="Whether one entity may appear as several parties in this table.")
    ] = True
    updated: Annotated[
        str | None, Field(description="Column with the time of the last change, for `newest`.")
    ] = None


class FieldRule(Document):
    """One attribute of an entity: the columns it comes from and how they are made comparable."""

    name: Name
    role: Role
    columns: Annotated[
        dict[str, tuple[Columns, ...]],
        Field(
            description="Per table, the columns to read: the first that is filled counts; columns "
            "listed together, as in [[first_name, last_name]], are joined with a space."
        ),
    ]
    clean: Annotated[
        tuple[Clean, ...], Field(description="Steps, in order, that make values comparable.")
    ] = ()
    ignore: Annotated[
        tuple[str, ...],
        Field(max_length=1000, description="Cleaned values that say nothing and count as missing."),
    ] = ()
    golden: Annotated[bool, Field(description="Whether the golden table has this column.")] = True

    @model_validator(mode="after")
    def _has_columns(self) -> Self:
        if self.golden and (self.name in RESERVED or self.name.startswith("rows_from_")):
            raise ValueError(f"the golden table has a column {self.name!r} of its own")
        if not self.columns or not all(self.columns.values()):
            raise ValueError("name at least one column for each table that is listed")
        return self

    def column_names(self, table: str) -> tuple[str, ...]:
        """The columns of a table that this field reads, in order."""
        return tuple(
            name
            for choice in self.columns.get(table, ())
            for name in ((choice,) if isinstance(choice, str) else choice)
        )


class Level(Document):
    """One degree of agreement. The first level whose test holds is the one that counts."""

    test: Test
    at_least: float | None = None
    at_most: float | None = None
    field: Annotated[
        Name | None,
        Field(description="Another field to test; needed by `swapped_with` and `missing`."),
    ] = None
    m: Annotated[Share | None, Field(description="Share of true matches that look like this.")] = (
        None
    )
    u: Annotated[
        Share | None, Field(description="Share of different entities that look like this.")
    ] = None

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        needed = BOUND_OF.get(self.test)
        for bound in ("at_least", "at_most"):
            value = getattr(self, bound)
            if bound == needed and (value is None or value <= 0):
                raise ValueError(f"`{self.test}` needs `{bound}` above 0")
            if bound != needed and value is not None:
                raise ValueError(f"`{self.test}` takes no `{bound}`")
        if self.test in {"similar", "similar_words", "rare_words"} and (self.at_least or 0) > 1:
            raise ValueError(f"`{self.test}` goes from 0 to 1")
        if self.test in {"swapped_with", "missing"} and self.field is None:
            raise ValueError(f"`{self.test}` needs the other `field`")
        if (self.m is None) != (self.u is None):
            raise ValueError("give both `m` and `u`, or neither to have them estimated")
        return self


class Comparison(Document):
    """How one field of two parties is compared; a field missing on either side counts nothing."""

    field: Name
    rare_values_count_more: Annotated[
        bool, Field(description="Whether agreeing on a rare value is stronger evidence.")
    ] = False
    counts: Annotated[
        float,
        Field(ge=0.0, le=5.0, description="How much its evidence counts."),
    ] = 1.0
    levels: Annotated[tuple[Level, ...], Field(min_length=2, max_length=MAX_LEVELS)]

    @model_validator(mode="after")
    def _ends_otherwise(self) -> Self:
        tests = [level.test for level in self.levels]
        if tests[-1] != "otherwise" or "otherwise" in tests[:-1]:
            raise ValueError("the last level, and only it, is `otherwise`")
        if len({level.m is None for level in self.levels}) > 1:
            raise ValueError("give `m` and `u` for all levels, or for none to have them estimated")
        return self

    @property
    def weighted(self) -> bool:
        return all(level.m is not None for level in self.levels)


class BlockPart(Document):
    """A field two parties must share to be compared at all, whole or its beginning or end.

    With `nearest`, each party is compared with so many others that share its rarest words.
    """

    field: Name
    start: Annotated[int | None, Field(ge=1, le=40)] = None
    end: Annotated[int | None, Field(ge=1, le=40)] = None
    nearest: Annotated[int | None, Field(ge=1, le=50)] = None

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if sum(one is not None for one in (self.start, self.end, self.nearest)) > 1:
            raise ValueError("take `start`, `end` or `nearest`, not several")
        return self


class Block(Document):
    """Parties that agree on all parts are compared; `pairs` is how many that gave when proposed."""

    parts: Annotated[tuple[BlockPart, ...], Field(min_length=1, max_length=5)]
    pairs: Annotated[int | None, Field(ge=0)] = None

    @model_validator(mode="after")
    def _nearest_alone(self) -> Self:
        if len(self.parts) > 1 and any(part.nearest is not None for part in self.parts):
            raise ValueError("`nearest` is a block of its own")
        return self


class Thresholds(Document):
    """Pairs at `match` or above are merged; those from `review_from` to `review_to` are shown."""

    match: Annotated[float, Field(ge=0.05, lt=1.0)] = 0.9
    review_from: Annotated[float, Field(ge=0.01, lt=1.0)] = 0.1
    review_to: Annotated[float, Field(gt=0.0, le=1.0)] = 0.99

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.review_from <= self.match <= self.review_to:
            raise ValueError("order them as review_from ≤ match ≤ review_to")
        return self


class Grouping(Document):
    """When two groups of parties may join: not over one weak bridge."""

    support: Annotated[
        float,
        Field(
            ge=0.0,
            le=1.0,
            description="Share of the pairs between two groups that must not speak against it.",
        ),
    ] = 0.5
    largest: Annotated[
        int, Field(ge=2, le=100_000, description="No group grows beyond this many parties.")
    ] = 500


class Survivorship(Document):
    """Which value survives; fields listed together come from one row, as an address should."""

    fields: Annotated[tuple[Name, ...], Field(min_length=1)]
    rule: Survivor


class RowRef(Document):
    """One row of a source: its row key as text, or its position from 1 where there is no key."""

    table: str
    row: str


class Decision(Document):
    """A person's word on two rows; it overrides every score."""

    left: RowRef
    right: RowRef
    same: bool
    note: str = ""


class Rules(Document):
    """Everything that decides which rows are one entity and what its golden record says."""

    schema_version: Literal[1] = 1
    entity: Annotated[
        Literal["person", "organisation", "thing"], Field(description="What the rows stand for.")
    ] = "thing"
    sources: Annotated[tuple[Source, ...], Field(min_length=1, max_length=20)]
    fields: Annotated[tuple[FieldRule, ...], Field(max_length=MAX_FIELDS)] = ()
    blocking: Annotated[tuple[Block, ...], Field(max_length=40)] = ()
    comparisons: Annotated[tuple[Comparison, ...], Field(max_length=MAX_FIELDS)] = ()
    telling: Annotated[
        tuple[Name, ...],
        Field(
            description="Two parties are compared only where both have a value in one of these fields; none: in any."
        ),
    ] = ()
    prior: Annotated[
        Probability, Field(description="Chance that two parties picked at random are one entity.")
    ] = 0.0001
    thresholds: Thresholds = Thresholds()
    grouping: Grouping = Grouping()
    survivorship: tuple[Survivorship, ...] = ()
    decisions: tuple[Decision, ...] = ()
    notes: Annotated[
        tuple[str, ...], Field(description="What the proposal wants the reader to know.")
    ] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        tables = [source.table for source in self.sources]
        names = [field.name for field in self.fields]
        _no_repeats(tables, "table")
        _no_repeats(names, "field")
        _no_repeats([comparison.field for comparison in self.comparisons], "comparison")
        _no_repeats([name for rule in self.survivorship for name in rule.fields], "survivor")
        for field in self.fields:
            _known(field.columns, tables, f"field {field.name}", "table")
        for used, where in self._field_uses():
            _known([used], names, where, "field")
        compared = [comparison.field for comparison in self.comparisons]
        _known(self.telling, compared, "`telling`", "comparison")
        for decision in self.decisions:
            _known([decision.left.table, decision.right.table], tables, "a decision", "table")
        return self

    def _field_uses(self) -> Iterable[tuple[str, str]]:
        for comparison in self.comparisons:
            yield comparison.field, "a comparison"
            for level in comparison.levels:
                if level.field is not None:
                    yield level.field, f"the comparison of {comparison.field}"
        for block in self.blocking:
            for part in block.parts:
                yield part.field, "a blocking rule"
        for rule in self.survivorship:
            for name in rule.fields:
                yield name, "survivorship"

    def revised(self, **sections: Any) -> "Rules":
        """The rules with some sections replaced, checked as a whole."""
        return parse_rules({**self.model_dump(mode="json"), **sections})

    def decided(self, decision: Decision) -> "Rules":
        """The rules with a person's word added; an earlier word on the same two rows gives way."""
        pair = {(one.table, one.row) for one in (decision.left, decision.right)}
        kept = [
            one.model_dump(mode="json")
            for one in self.decisions
            if {(ref.table, ref.row) for ref in (one.left, one.right)} != pair
        ]
        return self.revised(decisions=[*kept, decision.model_dump(mode="json")])

    def field(self, name: str) -> FieldRule:
        return next(field for field in self.fields if field.name == name)

    @property
    def weighted(self) -> bool:
        """Whether every comparison carries its weights, so that nothing needs estimating."""
        return all(comparison.weighted for comparison in self.comparisons)

    def scoring_hash(self) -> str:
        """Changes when scores would; thresholds, grouping, survivorship and decisions do not."""
        kept = {"sources", "fields", "blocking", "comparisons", "telling", "prior"}
        document = self.model_dump(mode="json", include=kept)
        for block in document["blocking"]:
            del block["pairs"]
        for source in document["sources"]:
            del source["updated"]
        return _digest(document)

    def hash(self) -> str:
        return _digest(self.model_dump(mode="json"))


def parse_rules(document: object) -> Rules:
    """Rules from plain data (of JSON or YAML); every mistake is listed with its place."""
    try:
        return Rules.model_validate(document)
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(
            f"The resolution rules are not valid: {in_words(found)}.",
            code="invalid-rules",
            problems=found,
        ) from None


def _digest(document: object) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _no_repeats(names: list[str], kind: str) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{kind} {repeated[0]!r} is listed more than once")


def _known(names: Iterable[str], known: list[str], where: str, kind: str) -> None:
    for name in names:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(f"{where} uses the {kind} {name!r}, which is not among: {listed}")
