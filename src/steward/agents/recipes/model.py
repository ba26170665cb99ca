"""The recipe document: parameters as JSON Schema, checks before the start, steps with places for the parameters."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from steward.broker import schema_problem
from steward.core import Invalid, Unreadable, in_words, mistakes, read_yaml

Stage = Literal["ingest", "profile", "correlate", "consolidate", "report", "whole"]
Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class SizeCheck(_Part):
    """Whether the data is of a size that the recipe is made for."""

    check: Literal["size"]
    datasets: list[Word] = Field(min_length=1, description="Parameters that name datasets.")
    warn_rows: int = Field(5_000_000, ge=1)
    stop_rows: int = Field(100_000_000, ge=1)


class SchemaCheck(_Part):
    """Whether datasets have columns in common, of types that go together."""

    check: Literal["schema"]
    datasets: Word
    warn_below: float = Field(0.9, ge=0, le=1)
    stop_below: float = Field(0.2, ge=0, le=1)


class ColumnCheck(_Part):
    """Whether a column is there."""

    check: Literal["column"]
    dataset: Word
    column: Word


class KeyCheck(_Part):
    """How many values of one column another one has."""

    check: Literal["key"]
    dataset: Word
    column: Word
    other: Word
    other_column: Word
    warn_below: float = Field(0.9, ge=0, le=1)
    stop_below: float = Field(0.05, ge=0, le=1)


Check = Annotated[SizeCheck | SchemaCheck | ColumnCheck | KeyCheck, Field(discriminator="check")]


class RecipeStep(_Part):
    """A step of the plan; `{{name}}` stands for a parameter, `{{item}}` for one of `each`."""

    id: Word
    title: str = Field(min_length=1, max_length=200)
    agent: str = Field(min_length=1, max_length=60)
    tools: list[str] = Field(default=[], max_length=8)
    arguments: dict[str, Any] = Field(default_factory=dict)
    needs: list[Word] = Field(default=[], max_length=12)
    each: Word | None = Field(None, description="A parameter with a list: one step for each item.")
    when: Word | None = Field(None, description="Only where this parameter is given and not false.")
    reason: str = Field("", max_length=1_000)


class Recipe(_Part):
    format: Literal[1] = 1
    id: str = Field(pattern=r"^[a-z][a-z0-9-]{0,59}$")
    title: str = Field(min_length=1, max_length=100)
    stage: Stage
    description: str = Field(min_length=1, max_length=500)
    message: str = Field(
        min_length=1, max_length=500, description="The same as a request in words."
    )
    parameters: dict[str, Any]
    preflight: list[Check] = Field(default=[], max_length=20)
    approvals: list[Word] = Field(
        default=[],
        max_length=12,
        description="Steps that nobody runs unseen: the plan is reviewed.",
    )
    steps: list[RecipeStep] = Field(min_length=1, max_length=12)
    notes: str = Field("", max_length=1_000)

    @model_validator(mode="after")
    def _hangs_together(self) -> "Recipe":
        wrong = schema_problem(self.parameters)
        if wrong is None and self.parameters.get("type") != "object":
            wrong = "parameters must be a schema of an object"
        if wrong is not None:
            raise ValueError(wrong)
        known, steps = set(self.parameters.get("properties", {})), {step.id for step in self.steps}
        unknown = [each for each in self.approvals if each not in steps]
        unknown += [
            name
            for step in self.steps
            for name in (step.each, step.when)
            if name and name not in known
        ]
        unknown += [each for step in self.steps for each in step.needs if each not in steps]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no parameter or step of the recipe")
        return self


def recipe_from_yaml(text: str, where: str) -> Recipe:
    try:
        return Recipe.model_validate(read_yaml(text))
    except Unreadable as error:
        raise Invalid(f"{where} is not YAML in line {error.line}: {error.reason}.") from None
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(f"{where} is not a recipe: {in_words(found)}.", problems=found) from None
