"""Tools and flows: what can be called, and whether a flow holds together; schedules that start flows."""

import sys
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import (
    Cursor,
    IfMatch,
    Input,
    Limit,
    Name,
    Output,
    Page,
    page,
    revision_from,
    set_etag,
)
from steward.api.guards import AsEditor, AsViewer
from steward.api.routing import Router
from steward.api.types import ScheduleId
from steward.api.visibility import Visibility, kept
from steward.broker import Grant, Risk, bound_to
from steward.core import Invalid, copied
from steward.flows import (
    Start,
    dump_flow,
    dump_yaml,
    expression_rules,
    flow_schema,
    load_flow,
    load_yaml,
    node_types,
    validate,
)
from steward.playbooks import TELLING, TRIGGERS
from steward.runs import Missed, Schedule, following_moments

router = Router(prefix="/projects/{project_id}", tags=["tools"])
_NEXT = 3


class ToolOut(Output):
    name: str
    title: str
    description: str
    risk: Risk
    effects: list[str]
    arguments: dict[str, Any]
    has_dry_run: bool
    undo: Literal["version or inverse", "compensation", "none"]


class FlowIn(Input):
    flow: dict[str, Any] | str = Field(description="The flow, as JSON or as YAML text.")


class FlowProblem(Output):
    pointer: str
    message: str


class StarterOut(Output):
    title: str
    fields: dict[str, Any]
    takes: str | None = Field(
        description="The field that gets the output of the step after which the node is added."
    )


class NodeTypeOut(Output):
    type: str
    description: str
    group: str
    starters: list[StarterOut]
    settings: dict[str, Any] = Field(
        validation_alias="schema",
        description="JSON Schema of its fields, without graphs inside it.",
    )
    exits: list[str] = Field(
        description="Ways out, when there are several: names, or pointers to fields that hold them."
    )
    graphs: list[str] = Field(description="Pointers to the graphs inside it.")
    flows: list[str] = Field(
        description="Pointers to whole flows inside it, with ids of their own."
    )
    expressions: list[str] = Field(
        description="Pointers to the fields whose whole text is an expression."
    )
    templates: list[str] = Field(
        description="Pointers to the fields whose texts hold expressions in `${…}`, at every depth."
    )


class TriggerTypeOut(Output):
    type: str
    title: str
    description: str
    starter: dict[str, Any]
    settings: dict[str, Any]


class ReadyAgentOut(Output):
    name: str
    title: str
    description: str


class ExpressionRulesOut(Output):
    roots: list[str] = Field(description="The names that expressions can start with.")
    signatures: dict[str, list[list[str]]] = Field(
        description="Operators and functions: the types of JSON value that each takes, and last the one it gives."
    )
    macros: list[str] = Field(description="Functions of a list that bind a name: `list.map(x, …)`.")
    no_methods: list[str] = Field(description="Functions that are not called with a dot.")
    words: dict[str, str] = Field(description="The types of JSON values, as people call them.")
    longest: int
    deepest: int


class FlowPalette(Output):
    nodes: list[NodeTypeOut]
    triggers: list[TriggerTypeOut]
    agents: list[ReadyAgentOut] = Field(description="What an agent node can name.")
    telling: dict[str, str] = Field(
        description="Fields that tell the type of a step that does not say it."
    )
    expressions: ExpressionRulesOut = Field(description="The rules of expressions.")


class CheckedFlow(Output):
    valid: bool
    problems: list[FlowProblem]
    flow: dict[str, Any] | None
    yaml: str | None


class ScheduleIn(Input):
    name: Name
    cron: str = Field(max_length=200, examples=["0 8 * * 1-5"])
    time_zone: str = Field("UTC", max_length=80, examples=["Europe/Berlin"])
    missed: Missed = Missed.once
    flow: dict[str, Any] | str
    inputs: dict[str, Any] = Field(default_factory=dict)
    branch: str = Field("main", min_length=1, max_length=100)
    budget: dict[str, Any] | None = None


class MomentsOut(Output):
    moments: list[datetime]


class MissedIn(Input):
    run: bool = Field(description="Whether to start a run for the last of them.")


class ScheduleChange(Input):
    name: Name | None = None
    cron: str | None = Field(None, max_length=200)
    time_zone: str | None = Field(None, max_length=80)
    missed: Missed | None = None
    enabled: bool | None = None


class ScheduleOut(Output):
    id: str
    name: str
    cron: str
    time_zone: str
    missed: Missed
    enabled: bool
    next_at: datetime | None
    next_moments: list[datetime]
    last_at: datetime | None
    asked: list[datetime] = Field(description="Moments that were missed; somebody decides.")
    created_by: str
    created_at: datetime
    revision: int
    flow: Any
    inputs: Any
    branch: str
    budget: dict[str, Any]


@router.get("/tools")
def list_tools(request: Request, access: AsViewer) -> Page[ToolOut]:
    """Every tool with its risk class and the JSON Schema of its arguments."""
    items = []
    for tool in steward_of(request).governing.broker.tools.listed(access.scope):
        effects = [effect for effect, there in vars(tool.effects).items() if there]
        undo: Literal["version or inverse", "compensation", "none"] = "none"
        if tool.undo is not None:
            undo = "compensation" if tool.undo_is_compensation else "version or inverse"
        elif tool.effects.writes:
            undo = "version or inverse"
        items.append(
            copied(
                ToolOut,
                tool,
                effects=effects,
                arguments=tool.schema(),
                has_dry_run=tool.dry_run is not None,
                undo=undo,
            )
        )
    return Page(items=items, next_cursor=None)


@router.get("/flows/schema")
def read_flow_schema(_request: Request, _access: AsViewer) -> dict[str, Any]:
    """The JSON Schema of flows."""
    return flow_schema()


@router.get("/flows/palette")
def read_flow_palette(request: Request, access: AsViewer) -> FlowPalette:
    """What flows are drawn from besides tools: the types of nodes and triggers, with their settings."""
    # Another process may have installed a plug-in.
    steward_of(request).plugins.refresh()
    nodes = [NodeTypeOut.model_validate(each) for each in node_types()]
    triggers = [
        TriggerTypeOut(
            type=name,
            title=kind.title or name,
            description=(sys.modules[kind.__module__].__doc__ or "").strip(),
            starter=dict(kind.starter),
            settings=kind.model_json_schema(),
        )
        for name, kind in TRIGGERS
    ]
    agents = [
        ReadyAgentOut.model_validate(each.agent)
        for each in steward_of(request).agents.listed(access.scope)
    ]
    rules = ExpressionRulesOut.model_validate(expression_rules())
    return FlowPalette(
        nodes=nodes, triggers=triggers, agents=agents, telling=TELLING, expressions=rules
    )


@router.post("/flows/check")
def check_flow(request: Request, access: AsViewer, body: FlowIn) -> CheckedFlow:
    """Everything wrong with a flow, each with its place; and the flow in its ordered form."""
    launcher = steward_of(request).governing.launcher
    try:
        flow = load_yaml(body.flow) if isinstance(body.flow, str) else load_flow(body.flow)
        problems = validate(flow, launcher.catalogue(access.scope, flow))
    except Invalid as problem:
        shown = [FlowProblem(pointer=p.pointer, message=p.message) for p in problem.problems]
        found = shown or [FlowProblem(pointer="", message=problem.message)]
        return CheckedFlow(valid=False, problems=found, flow=None, yaml=None)
    return CheckedFlow(
        valid=not problems,
        problems=[FlowProblem(pointer=p.pointer, message=p.message) for p in problems],
        flow=dump_flow(flow),
        yaml=dump_yaml(flow),
    )


@router.get("/schedules")
def list_schedules(
    request: Request, access: AsViewer, cursor: Cursor = None, limit: Limit = 50
) -> Page[ScheduleOut]:
    schedules = steward_of(request).runs.schedules

    def fetch(before: str | None, count: int) -> list[Schedule]:
        return schedules.listed(access.scope, before, count)

    shown = kept(fetch, Visibility(steward_of(request), access).schedule, lambda item: item.id)
    items, following = page(shown, lambda item: item.id, cursor, limit)
    now = steward_of(request).clock.now()
    return Page(items=[_schedule_out(item, now) for item in items], next_cursor=following)


@router.get("/schedule-moments")
def read_next_moments(
    request: Request,
    access: AsViewer,  # noqa: ARG001
    cron: Annotated[str, Query(max_length=200, examples=["0 8 * * 1-5"])],
    time_zone: Annotated[str, Query(max_length=80, examples=["Europe/Berlin"])] = "UTC",
) -> MomentsOut:
    """The next three moments of a cron expression, before anything is saved."""
    now = steward_of(request).clock.now()
    return MomentsOut(moments=following_moments(cron, time_zone, now, _NEXT))


@router.post("/schedules", status_code=status.HTTP_201_CREATED)
def create_schedule(
    request: Request, access: AsEditor, body: ScheduleIn, response: Response
) -> ScheduleOut:
    """Runs a flow at the moments of a cron expression, each moment once."""
    steward = steward_of(request)
    start = Start(
        document=body.flow,
        inputs=body.inputs,
        title=body.name,
        branch=body.branch,
        budget=body.budget,
    )
    made = steward.runs.schedules.create(
        access.scope,
        access.user_id,
        body.name,
        body.cron,
        body.time_zone,
        bound_to(access, steward.governing.launcher.request(start, access.scope), lasting=True),
        body.missed,
    )
    set_etag(response, made.revision)
    return _schedule_out(made, steward.clock.now())


@router.patch("/schedules/{schedule_id}")
def change_schedule(
    request: Request,
    access: AsEditor,
    schedule_id: ScheduleId,
    body: ScheduleChange,
    response: Response,
    if_match: IfMatch = None,
) -> ScheduleOut:
    changes = body.model_dump(exclude_none=True, mode="json")
    changed = steward_of(request).runs.schedules.change(
        access.scope, schedule_id, revision_from(if_match), changes, access.user_id
    )
    set_etag(response, changed.revision)
    return _schedule_out(changed, steward_of(request).clock.now())


@router.post("/schedules/{schedule_id}/missed")
def decide_about_missed_moments(
    request: Request, access: AsEditor, schedule_id: ScheduleId, body: MissedIn
) -> ScheduleOut:
    """One run for the last moment that was missed, or none; for schedules that ask."""
    steward = steward_of(request)
    found = steward.runs.schedules.answer(
        access.scope, schedule_id, run=body.run, by=access.user_id
    )
    return _schedule_out(found, steward.clock.now())


@router.delete("/schedules/{schedule_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_schedule(request: Request, access: AsEditor, schedule_id: ScheduleId) -> None:
    steward_of(request).runs.schedules.delete(access.scope, schedule_id, access.user_id)


def _schedule_out(schedule: Schedule, now: datetime) -> ScheduleOut:
    """With what it starts, so that a deleted one can be made again."""
    request = schedule.request
    names = ScheduleOut.model_fields.keys() - {"flow", "inputs", "branch", "budget"}
    moments = (
        following_moments(schedule.cron, schedule.time_zone, now, _NEXT) if schedule.enabled else []
    )
    return ScheduleOut(
        **{name: getattr(schedule, name) for name in names - {"next_moments"}},
        next_moments=moments,
        flow=request.document,
        inputs=request.inputs,
        branch=Grant.from_json(request.grant).branch,
        budget=request.budget,
    )
