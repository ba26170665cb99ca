"""Policy: texts with their revisions, explanations, simulations; approver groups; what tools are allowed."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response, status
from pydantic import Field, StringConstraints

from steward.api.context import steward_of
from steward.api.documents import IfMatch, Input, Output, Page, revision_from, set_etag
from steward.api.guards import AsAdmin, AsEditor, AsViewer
from steward.api.routing import Router
from steward.broker import PRESETS, faults

router = Router(prefix="/projects/{project_id}", tags=["policy"])

Level = Literal["organisation", "project", "playbook"]
Subject = Annotated[str | None, Query(max_length=200, description="The playbook, for its level.")]
# Kept to the last line break: a text that equals a preset is known as that preset.
Text = Annotated[str, StringConstraints(max_length=100_000, strip_whitespace=False)]
GroupName = Annotated[str, Path(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f/]+$")]


class PolicyOut(Output):
    level: Level
    subject: str
    revision: int
    text: str
    preset: str | None
    message: str
    author: str
    created_at: datetime | None


class PresetOut(Output):
    name: str
    text: str


class PolicyIn(Input):
    text: Text
    message: str = Field("", max_length=400)


class TextIn(Input):
    level: Level = "project"
    subject: str | None = Field(None, max_length=200)
    text: Text


class FaultOut(Output):
    line: int
    column: int
    message: str


class CheckIn(Input):
    tool: str = Field(max_length=100)
    user_id: str | None = Field(None, max_length=40, description="On whose behalf; unset: you.")
    destination: str | None = Field(None, max_length=400)
    playbook: str | None = Field(None, max_length=200)
    branch: str = Field("main", max_length=100)
    untrusted_arguments: bool = False
    read_untrusted: bool = False
    safe_mode: bool | None = None
    text: str | None = Field(
        None, max_length=100_000, description="A project policy to try instead of the one in force."
    )


class RuleOut(Output):
    level: str
    id: str
    effect: str
    reason: str | None


class DecisionOut(Output):
    outcome: str
    reason: str
    rules: list[RuleOut]
    approvers: list[str]
    four_eyes: bool
    errors: list[str]
    explanation: str


class ChangedDecision(Output):
    run_id: str
    key: str
    tool: str
    before: str
    after: str
    looser: bool


class SettingsOut(Output):
    safe_mode: bool
    tools: dict[str, Any]
    revision: int


class SettingsIn(Input):
    safe_mode: bool | None = None
    tools: dict[str, Any] | None = None


class GroupOut(Output):
    name: str
    members: list[str]


class GroupIn(Input):
    members: list[str] = Field(max_length=500)


@router.get("/policy/presets")
def list_presets(_request: Request, _access: AsViewer) -> Page[PresetOut]:
    items = [PresetOut(name=name, text=text) for name, text in PRESETS.items()]
    return Page(items=items, next_cursor=None)


@router.get("/policy/texts/{level}")
def read_policy(
    request: Request, access: AsViewer, level: Level, response: Response, subject: Subject = None
) -> PolicyOut:
    """The text in force at a level."""
    found = steward_of(request).governing.rulebook.current(access.scope, level, subject)
    set_etag(response, found.revision)
    return PolicyOut.model_validate(found)


@router.put("/policy/texts/{level}")
def save_policy(
    request: Request,
    access: AsAdmin,
    level: Level,
    body: PolicyIn,
    response: Response,
    subject: Subject = None,
    if_match: IfMatch = None,
) -> PolicyOut:
    """A new revision. A text that is wrong is refused with line and column."""
    saved = steward_of(request).governing.rulebook.save(
        access,
        level,
        body.text,
        revision_from(if_match),
        subject=subject,
        message=body.message,
    )
    set_etag(response, saved.revision)
    return PolicyOut.model_validate(saved)


@router.get("/policy/texts/{level}/history")
def list_policy_revisions(
    request: Request, access: AsViewer, level: Level, subject: Subject = None
) -> Page[PolicyOut]:
    history = steward_of(request).governing.rulebook.history(access.scope, level, subject)
    return Page(items=[PolicyOut.model_validate(item) for item in history], next_cursor=None)


@router.post("/policy/faults")
def list_faults(_request: Request, _access: AsViewer, body: TextIn) -> Page[FaultOut]:
    """What is wrong with a text, while it is being written."""
    found = [FaultOut.model_validate(fault) for fault in faults(body.text)]
    return Page(items=found, next_cursor=None)


@router.post("/policy/check")
def check_policy(request: Request, access: AsViewer, body: CheckIn) -> DecisionOut:
    """What would be decided about a call, and by which rule."""
    explained = steward_of(request).governing.judging.check(access, **body.model_dump())
    return DecisionOut(**explained)


@router.post("/policy/simulate")
def simulate_policy(request: Request, access: AsEditor, body: TextIn) -> Page[ChangedDecision]:
    """Past calls that a changed text would decide otherwise; nothing is saved."""
    found = steward_of(request).governing.judging.simulate(
        access, body.level, body.text, body.subject
    )
    return Page(items=[ChangedDecision(**item) for item in found], next_cursor=None)


@router.get("/policy/settings")
def read_policy_settings(request: Request, access: AsViewer, response: Response) -> SettingsOut:
    """Safe mode, and what each tool is allowed here."""
    found = steward_of(request).governing.rulebook.settings(access.scope)
    set_etag(response, found.revision)
    return SettingsOut.model_validate(found)


@router.patch("/policy/settings")
def change_policy_settings(
    request: Request,
    access: AsEditor,
    body: SettingsIn,
    response: Response,
    if_match: IfMatch = None,
) -> SettingsOut:
    """Editors switch safe mode; what tools are allowed is for admins."""
    changed = steward_of(request).governing.rulebook.change_settings(
        access, revision_from(if_match), safe_mode=body.safe_mode, tools=body.tools
    )
    set_etag(response, changed.revision)
    return SettingsOut.model_validate(changed)


@router.get("/approver-groups")
def list_groups(request: Request, access: AsViewer) -> Page[GroupOut]:
    groups = steward_of(request).governing.groups.listed(access.scope)
    return Page(items=[GroupOut.model_validate(item) for item in groups], next_cursor=None)


@router.put("/approver-groups/{name}")
def put_group(request: Request, access: AsAdmin, name: GroupName, body: GroupIn) -> GroupOut:
    group = steward_of(request).governing.groups.put(access, name, body.members)
    return GroupOut.model_validate(group)


@router.delete("/approver-groups/{name}", status_code=status.HTTP_204_NO_CONTENT)
def delete_group(request: Request, access: AsAdmin, name: GroupName) -> None:
    steward_of(request).governing.groups.delete(access, name)
