"""Queries of the console that the caller keeps under names."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Path, Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Output, Page
from steward.api.guards import AsOperator
from steward.api.routing import Router
from steward.workbench import SavedQuery

router = Router(prefix="/projects/{project_id}/saved-queries", tags=["chat"])
QueryId = Annotated[str, Path(pattern=r"^qry_[0-9a-z]{26}$", max_length=40)]
Kind = Literal["sql", "plan", "python"]


class SavedQueryIn(Input):
    name: str = Field(min_length=1, max_length=80, examples=["Unpaid by month"])
    kind: Kind
    query: str = Field(min_length=1, max_length=50_000)


class SavedQueryOut(Output):
    id: str
    name: str
    kind: Kind
    query: str
    updated_at: datetime


def _query_out(saved: SavedQuery) -> SavedQueryOut:
    return SavedQueryOut.model_validate(saved, from_attributes=True)


@router.get("")
def list_saved_queries(request: Request, access: AsOperator) -> Page[SavedQueryOut]:
    """Your own in this project, by name; other people do not see them."""
    found = steward_of(request).workbench.saved_queries.listed(access)
    return Page(items=[_query_out(each) for each in found], next_cursor=None)


@router.put("")
def save_query(request: Request, access: AsOperator, body: SavedQueryIn) -> SavedQueryOut:
    """Saves a query for you; one of the same name is replaced."""
    saved = steward_of(request).workbench.saved_queries
    return _query_out(saved.save(access, body.name, body.kind, body.query))


@router.delete("/{query_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_saved_query(request: Request, access: AsOperator, query_id: QueryId) -> None:
    steward_of(request).workbench.saved_queries.delete(access, query_id)
