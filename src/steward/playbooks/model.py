"""Playbooks as documents: typed, versioned, with a JSON Schema; unknown fields are refused."""

import re
from decimal import Decimal
from functools import reduce
from operator import or_
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    field_serializer,
    field_validator,
    model_validator,
)

from steward.playbooks.trigger import TRIGGERS, Trigger

FORMAT: Final = 1
_MOST: Final = 10**15


def _slug(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", text) or len(text) > 60:
        raise ValueError(
            "an id has at most 60 small letters, digits and single hyphens, and starts with a letter"
        )
    return text


def _tag(text: str) -> str:
    if not text or "\n" in text or text != text.strip():
        raise ValueError("a tag is one line without spaces around it")
    return text


def _once_each(tags: list[str]) -> list[str]:
    if len({tag.casefold() for tag in tags}) < len(tags):
        raise ValueError("a tag stands twice")
    return tags


def _folder(text: str) -> str:
    for part in text.split("/") if text else []:
        if not part.strip() or part != part.strip() or part in {".", ".."} or len(part) > 60:
            raise ValueError("a folder is names with / between them, as in Finance/Monthly")
        if any(character in part for character in '\\:*?"<>|') or not part.isprintable():
            raise ValueError("a folder has a character that file systems do not take")
    return text


def _path(text: str) -> str:
    parts = text.split("/")
    if any(part in {"", ".", ".."} or part != part.strip() for part in parts):
        raise ValueError("a path is relative, with / between its parts and without . or ..")
    if any(character in text for character in '\\:"<>|') or not text.isprintable():
        raise ValueError("a path has a character that file systems do not take")
    if text.startswith("~") or len(parts) > 20:
        raise ValueError("a path is relative to the run's files")
    return text


def _plain(text: str) -> str:
    if any(not c.isprintable() and c != "\n" for c in text):
        raise ValueError("text must not contain control characters")
    return text


Slug = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(_slug)]
Title = Annotated[str, Field(max_length=100), AfterValidator(_plain)]
Prose = Annotated[str, Field(max_length=10_000), AfterValidator(_plain)]
Label = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_plain)]
Tag = Annotated[str, Field(max_length=40), AfterValidator(_plain), AfterValidator(_tag)]


class Document(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class PlaybookBudget(Document):
    """What one run may use at most; at least one of dollars, tokens and seconds is said."""

    usd: Decimal | None = Field(None, ge=0, le=10**9, description="Dollars at most.")
    tokens: int | None = Field(None, ge=0, le=_MOST, description="Model tokens at most.")
    seconds: float | None = Field(
        None, ge=0, le=10**9, description="Time in calls at most; waiting for people is free."
    )
    rows: int | None = Field(None, ge=0, le=_MOST)
    bytes: int | None = Field(None, ge=0, le=_MOST)
    on_breach: Literal["ask", "abort"] = Field(
        "ask", description="Whether the run asks a person for more or ends."
    )

    @model_validator(mode="after")
    def _says_something(self) -> "PlaybookBudget":
        if self.usd is None and self.tokens is None and self.seconds is None:
            raise ValueError("a budget says at least one of usd, tokens and seconds")
        return self

    @field_serializer("usd", when_used="json-unless-none")
    def _plain_number(self, usd: Decimal) -> int | float | str:
        if usd == usd.to_integral_value():
            return int(usd)
        return float(usd) if Decimal(str(float(usd))) == usd else str(usd)

    @field_serializer("seconds", when_used="json-unless-none")
    def _whole_seconds(self, seconds: float) -> int | float:
        return int(seconds) if seconds.is_integer() else seconds


class ApprovalPolicy(Document):
    """What must be approved, beside what the project asks for: it can only be stricter."""

    preset: Literal["read-only", "draft-only", "supervised", "trusted"] | None = None
    cedar: str | None = Field(None, max_length=50_000, description="A policy in Cedar.")

    @model_validator(mode="after")
    def _one_of_both(self) -> "ApprovalPolicy":
        if (self.preset is None) == (self.cedar is None):
            raise ValueError("name a preset, or write a policy under cedar")
        return self


class ArtifactSpec(Document):
    """A file that a run leaves behind."""

    path: Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_path)] = Field(
        description="Path among the run's files; * stands for any part of a name."
    )
    required: bool = True
    max_bytes: int | None = Field(None, ge=1, le=_MOST)
    description: Prose = ""


class Allowed(Document):
    """Who besides its owner may see it: run it as an operator, change it as an editor."""

    users: list[Annotated[str, Field(max_length=200)]] = Field(
        [], max_length=500, description="E-mail addresses of members of the project."
    )
    groups: list[Label] = Field([], max_length=100, description="Groups of the project.")
    everyone: bool = Field(False, description="Everybody in the project.")

    @field_validator("users", "groups")
    @classmethod
    def _in_order(cls, names: list[str]) -> list[str]:
        return sorted(set(names))


ColumnKind = Literal["any", "number", "date"]


class DataNeed(Document):
    """A dataset that the steps read, as their SQL calls it, and the columns they name."""

    dataset: Label
    columns: dict[Label, ColumnKind] = Field(
        {}, max_length=200, description="Names of columns, each with what its values are."
    )
    may_be_empty: bool = Field(False, description="Whether it runs without a row of it.")
    source: Label | None = Field(
        None, description="The dataset to read instead; unset: the one of this name."
    )
    renamed: dict[Label, Label] = Field(
        {}, max_length=200, description="What columns are called in that dataset, where it differs."
    )

    @model_validator(mode="after")
    def _known(self) -> "DataNeed":
        unknown = sorted(self.renamed.keys() - self.columns.keys())
        if unknown:
            raise ValueError(f"{unknown[0]!r} is renamed and not among the columns")
        if self.is_other and not self.columns:
            raise ValueError("name the columns, so that another dataset can stand for this one")
        return self

    @property
    def read_from(self) -> str:
        return self.source or self.dataset

    @property
    def is_other(self) -> bool:
        return self.read_from != self.dataset or any(
            name != other for name, other in self.renamed.items()
        )

    def column(self, name: str) -> str:
        return self.renamed.get(name, name)


TRIGGERS.load_package("steward.playbooks.triggers")
TRIGGERS.load_entry_points()
if TYPE_CHECKING:
    AnyTrigger: TypeAlias = Trigger
else:
    AnyTrigger = Annotated[reduce(or_, (kind for _, kind in TRIGGERS)), Field(discriminator="type")]
BUILDING: Final = RLock()
"""Held while playbooks are read or written, as a plug-in may bring or take a type of trigger meanwhile."""


class Playbook(Document):
    """A piece of governed work: what it does, with what, when, within which limits, and for whom."""

    format: Literal[1] = Field(description="Version of this schema.")
    id: Slug
    name: Title = ""
    folder: Annotated[str, Field(max_length=200), AfterValidator(_folder)] = ""
    tags: Annotated[list[Tag], AfterValidator(_once_each)] = Field(
        [], max_length=10, description="Words by which costs are added up, such as a team."
    )
    goal: Prose = Field("", description="What it is for, in a sentence or two.")
    inputs: dict[str, Any] = Field(
        {"type": "object", "properties": {}},
        description="JSON Schema of what it is given; becomes the form.",
    )
    data: list[DataNeed] = Field(
        [], max_length=50, description="Datasets it reads, looked at before it runs."
    )
    steps: list[dict[str, Any]] | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Nodes of a flow, one after the other; `needs` and `type` may be left out.",
    )
    output: Any = Field(
        None, description="What the steps give back; unset: what the last one does."
    )
    graph: dict[str, Any] | None = Field(
        None, description="Instead of steps: `nodes`, and if wanted `outputs` and `layout`."
    )
    agents: list[Label] = Field([], max_length=50)
    tools: list[Label] | None = Field(
        None, max_length=200, description="Tools it may call; unset: those its steps name."
    )
    skills: list[Label] = Field([], max_length=50)
    connections: list[Label] = Field([], max_length=50, description="Connections, by name.")
    triggers: list[AnyTrigger] = Field([], max_length=20)
    budget: PlaybookBudget
    approval: ApprovalPolicy | None = None
    artifacts: list[ArtifactSpec] = Field([], max_length=100)
    owner: str | None = Field(None, max_length=200, description="E-mail address.")
    allowed: Allowed | None = None

    @field_validator("format", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("is a number")  # noqa: TRY004 - pydantic collects value errors
        return value

    @model_validator(mode="after")
    def _whole(self) -> "Playbook":
        if (self.steps is None) == (self.graph is None):
            raise ValueError("a playbook has either steps or a graph")
        if self.graph is not None and self.output is not None:
            raise ValueError("a graph has output nodes; output is for steps")
        names = [trigger.name for trigger in self.triggers]
        if len(set(names)) < len(names):
            raise ValueError("two triggers have the same name")
        if len({need.dataset for need in self.data}) < len(self.data):
            raise ValueError("a dataset stands twice under data")
        return self

    @property
    def title(self) -> str:
        return self.name or self.id


def build_playbook_type() -> None:
    """Makes playbooks of all types of triggers that TRIGGERS has now."""
    kinds: Any = Annotated[reduce(or_, (kind for _, kind in TRIGGERS)), Field(discriminator="type")]
    with BUILDING:
        Playbook.__pydantic_fields__["triggers"].annotation = list[kinds]
        Playbook.model_rebuild(force=True)


ORDER: Final = (
    *(
        "format",
        "id",
        "name",
        "folder",
        "tags",
        "goal",
        "owner",
        "allowed",
        "inputs",
        "data",
        "triggers",
    ),
    *("agents", "tools", "skills", "connections", "budget", "approval", "artifacts"),
    *("steps", "output", "graph"),
)
"""In which order a document is written."""


def playbook_schema() -> dict[str, Any]:
    """The JSON Schema of playbooks, for editors."""
    with BUILDING:
        schema = Playbook.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema
