"""How long a project keeps its records, and the legal holds that stop every deletion."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated

from fastapi import Path, Request, Response, status
from pydantic import ConfigDict, Field, StringConstraints

from steward.api.context import steward_of
from steward.api.documents import IfMatch, Input, Name, Output, revision_from, set_etag
from steward.api.guards import AsAdmin, AsOwner
from steward.api.routing import Router
from steward.app import people_names
from steward.identity import Periods, RetentionRule
from steward.store import Hold

router = Router(prefix="/projects/{project_id}", tags=["projects"])

Days = Annotated[int | None, Field(ge=1, le=36_500)]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=1000, strip_whitespace=True)]
HoldId = Annotated[str, Path(min_length=1, max_length=40)]


class PeriodsIn(Input):
    """Days for which records are kept; null: for good."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"runs": 365, "versions": 90, "events": 90, "audit": None}]}
    )

    runs: Days = None
    versions: Days = None
    events: Days = None
    audit: Days = None


class RetentionOut(Output):
    runs: int | None
    versions: int | None
    events: int | None
    audit: int | None
    revision: int
    starts_at: datetime | None
    """When the first deletion may happen: one day after the last change."""
    updated_at: datetime | None
    updated_by: str | None


class DueOut(Output):
    kind: str
    days: int | None
    count: int
    oldest: datetime | None


class DuesOut(Output):
    items: list[DueOut]


class HoldIn(Input):
    name: Name
    reason: Reason


class LiftIn(Input):
    reason: Reason


class HoldOut(Output):
    id: str
    name: str
    reason: str
    placed_by: str
    placed_at: datetime
    lift_reason: str | None
    lifted_by: str | None
    lifted_at: datetime | None


class HoldsOut(Output):
    items: list[HoldOut]


@router.get("/retention")
def read_retention(request: Request, response: Response, access: AsAdmin) -> RetentionOut:
    """How long records are kept. Without a period they are kept for good."""
    return _rule_out(request, response, steward_of(request).identity.retention.rule(access.scope))


@router.put("/retention")
def change_retention(
    request: Request,
    response: Response,
    access: AsOwner,
    body: PeriodsIn,
    if_match: IfMatch = None,
) -> RetentionOut:
    """Sets the periods. Nothing is deleted on the first day after a change."""
    retention = steward_of(request).identity.retention
    periods = Periods(**body.model_dump())
    rule = retention.change(access, periods, revision_from(if_match))
    return _rule_out(request, response, rule)


@router.post("/retention/preview")
def preview_retention(request: Request, access: AsAdmin, body: PeriodsIn) -> DuesOut:
    """What these periods would delete if they took effect now. Deletes nothing."""
    found = steward_of(request).removing.preview(access.scope, Periods(**body.model_dump()))
    return DuesOut(items=[DueOut(**asdict(each)) for each in found])


@router.get("/holds")
def list_holds(request: Request, access: AsAdmin) -> HoldsOut:
    """Legal holds, the newest first; lifted ones stay on record."""
    found = steward_of(request).identity.retention.holds(access.scope)
    return HoldsOut(items=[_hold_out(request, each) for each in found])


@router.post("/holds", status_code=status.HTTP_201_CREATED)
def place_hold(request: Request, access: AsOwner, body: HoldIn) -> HoldOut:
    """Stops every deletion in the project: by people, by retention, by erasure."""
    retention = steward_of(request).identity.retention
    return _hold_out(request, retention.place(access, body.name, body.reason))


@router.post("/holds/{hold_id}/lift")
def lift_hold(request: Request, access: AsOwner, hold_id: HoldId, body: LiftIn) -> HoldOut:
    """Ends a legal hold. Deletions are possible again once no hold is left."""
    retention = steward_of(request).identity.retention
    return _hold_out(request, retention.lift(access, hold_id, body.reason))


def _rule_out(request: Request, response: Response, rule: RetentionRule) -> RetentionOut:
    set_etag(response, rule.revision)
    name_of = people_names(steward_of(request).identity)
    return RetentionOut(
        **asdict(rule.periods),
        revision=rule.revision,
        starts_at=rule.starts_at,
        updated_at=rule.updated_at,
        updated_by=None if rule.updated_by is None else name_of(rule.updated_by),
    )


def _hold_out(request: Request, hold: Hold) -> HoldOut:
    name_of = people_names(steward_of(request).identity)
    lifted_by = None if hold.lifted_by is None else name_of(hold.lifted_by)
    return HoldOut(**{**asdict(hold), "placed_by": name_of(hold.placed_by), "lifted_by": lifted_by})
