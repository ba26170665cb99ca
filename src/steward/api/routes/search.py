"""Search over everything that a project has, for people who know a word of it."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Output
from steward.api.guards import AsViewerOrRunner
from steward.api.routing import Router
from steward.app import Kind, search_project

router = Router(prefix="/projects/{project_id}/search", tags=["projects"])


class HitOut(Output):
    kind: Kind
    id: str = Field(description="What its address ends with; of a column, the dataset.")
    title: str
    detail: str


class HitsOut(Output):
    items: list[HitOut]


@router.get("")
def search(
    request: Request, access: AsViewerOrRunner, q: Annotated[str, Query(max_length=200)]
) -> HitsOut:
    """A few of each kind that have all the words, among what the caller may see."""
    return HitsOut(
        items=[HitOut.model_validate(hit) for hit in search_project(steward_of(request), access, q)]
    )
