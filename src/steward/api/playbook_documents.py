"""Playbooks as the routes about them answer: cards, texts to read in, and how a path names one."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Request, Response
from pydantic import Field, field_validator, model_validator

from steward.api.context import steward_of
from steward.api.documents import Input, Output, set_etag
from steward.identity import Access, Role
from steward.playbooks import LARGEST_LAYOUT, Card, Playbooks

PlaybookId = Annotated[
    str,
    Path(
        pattern=r"^(pbk_[0-9a-z]{26}|[a-z][a-z0-9-]{0,59})$",
        description="Id of the playbook, or the id that its document has.",
        examples=["monthly-costs"],
    ),
]
StateName = Literal["draft", "active", "archived"]


class SharingOut(Output):
    users: list[str]
    groups: list[str]
    everyone: bool


class TrialOut(Output):
    deployment: int
    revision: int
    percent: int = Field(100, description="The share of runs that it gets.")


class PlaybookOut(Output):
    id: str
    slug: str
    name: str
    folder: str
    tags: list[str]
    goal: str
    state: StateName
    head: int
    deployed: int | None
    previous: int | None = Field(description="The revision that rolling back would deploy.")
    deployment: int | None = Field(description="The number of the deployment in force.")
    canary: TrialOut | None = Field(description="A version that gets a share of the runs.")
    owner: str
    allowed: SharingOut
    created_by: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    version: int


def small_layout(layout: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(layout)) > LARGEST_LAYOUT:
        raise ValueError(f"a layout has at most {LARGEST_LAYOUT:,} characters as JSON")
    return layout


class SourceIn(Input):
    yaml: str | None = Field(None, max_length=1_000_000, description="The document as YAML.")
    document: dict[str, Any] | None = Field(None, description="The same as JSON.")
    message: str = Field("", max_length=400, description="What is new, for the list of versions.")

    layout: dict[str, Any] | None = Field(
        None,
        description="Where an editor draws the nodes; unset: as before. It never makes a revision.",
    )

    @field_validator("layout")
    @classmethod
    def _small(cls, layout: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if layout is None else small_layout(layout)

    @model_validator(mode="after")
    def _one_of_both(self) -> "SourceIn":
        if (self.yaml is None) == (self.document is None):
            raise ValueError("give either yaml or document")
        return self

    @property
    def source(self) -> str | Mapping[str, Any]:
        return self.yaml if self.yaml is not None else self.document or {}


class PlaybookProblem(Output):
    pointer: str
    message: str


def playbooks_of(request: Request) -> Playbooks:
    return steward_of(request).playbooks


def card_for(access: Access, card: Card) -> PlaybookOut:
    """A runner is not told with whom else it is shared."""
    shown = PlaybookOut.model_validate(card)
    if access.role is not Role.runner:
        return shown
    return shown.model_copy(update={"allowed": SharingOut(users=[], groups=[], everyone=False)})


def changed(response: Response, card: Card) -> PlaybookOut:
    set_etag(response, card.version)
    return PlaybookOut.model_validate(card)
