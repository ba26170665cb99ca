"""Agents: those of the project in versions, those to start from, a try with a test input, and what they did and cost."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response, status
from pydantic import Field

from steward.agents import GUARDRAILS, Agent, agent_to_yaml, load_guardrails
from steward.agents.composed import FieldChange, Listed, changes_between
from steward.api.context import context_of, steward_of
from steward.api.documents import IfMatch, Input, Output, Page, revision_from, set_etag
from steward.api.guards import AsEditor, AsOperator, AsViewer
from steward.api.routing import Router
from steward.app import Steward
from steward.broker import Risk
from steward.core import Invalid, NotFound, copied, read_yaml
from steward.flows import DirectCall, agent_trial
from steward.identity import Access
from steward.models import Role
from steward.observe import NANO
from steward.runs import Status

router = Router(prefix="/projects/{project_id}", tags=["agents"])
AgentName = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,59}$", max_length=60)]
VersionNumber = Annotated[int, Query(ge=0, le=2**31 - 1)]
ModelRole = Literal["planner", "operator", "explainer"]


class AgentCardOut(Output):
    name: str
    title: str
    description: str
    origin: Literal["project", "library", "chat", "plugin"] = Field(
        description="`library`: to start from and for flows; `chat`: for steps of plans, without tools of its own in a flow; "
        "`plugin`: code of a plug-in."
    )
    version: int = Field(description="0 for agents that come with Steward.")
    updated_at: datetime | None
    updated_by: str | None
    tools: list[str]
    highest_risk: Risk
    hands_over_to: list[str]


class AgentOut(AgentCardOut):
    document: dict[str, Any]
    yaml: str
    models: list[str] = Field(
        description="The models that it would ask, in order; none: none is set up."
    )
    archived: bool


class AgentVersionOut(Output):
    version: int
    message: str
    author: str
    author_name: str | None
    created_at: datetime
    archived: bool
    changed: list[str] = Field(description="Fields that differ from the version before.")


class AgentFieldChange(Output):
    field: str
    before: Any
    after: Any
    lines: list[str] = Field(description="As `diff -u` has them.")


class AgentIn(Input):
    document: dict[str, Any] | str = Field(
        description="The whole agent, as JSON or as YAML text.",
    )
    message: str = Field("", max_length=400, description="Why it changes.")


class AgentCheckIn(Input):
    document: dict[str, Any] | str


class AgentProblem(Output):
    pointer: str
    message: str


class AgentChecked(Output):
    valid: bool
    problems: list[AgentProblem]
    yaml: str | None


class AgentChanged(Output):
    name: str
    version: int
    archived: bool
    run_id: str = Field(description="The run that changed it; undoing it takes the change back.")


class AgentRestoreIn(Input):
    version: int = Field(ge=1, le=2**31 - 1)


class AgentTryIn(Input):
    task: str = Field(min_length=1, max_length=50_000, description="What it should do.")
    context: Any = Field(None, description="Data that it works on.")
    version: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the newest.")


class AgentTried(Output):
    run_id: str


class GuardrailOut(Output):
    name: str
    description: str
    stage: Literal["input", "output"]
    settings: dict[str, Any] = Field(description="JSON Schema of its settings.")


class AgentPartsOut(Output):
    guardrails: list[GuardrailOut]
    models: list[str]
    roles: dict[ModelRole, list[str]] = Field(description="The models of each role, in order.")
    risks: list[Risk] = Field(description="From harmless to grave.")
    document: dict[str, Any] = Field(description="JSON Schema of an agent.")


class AgentDayOut(Output):
    day: date
    works: int
    usd: float
    tokens: int
    seconds: float = Field(description="How long the finished pieces of work took, added up.")
    judged: int
    adhered: int


class AgentFailureOut(Output):
    where: str = Field(description="The tool or model that failed; empty for the agent's own work.")
    code: str
    times: int


class AgentToolOut(Output):
    name: str
    calls: int
    errors: int


class AgentRunOut(Output):
    id: str
    title: str
    status: Status
    ended_at: datetime


class AgentFiguresOut(Output):
    works: int = Field(description="Pieces of work that it finished.")
    runs: int
    failed_runs: int
    requests: int = Field(description="Requests to models.")
    tokens: int
    usd: float
    seconds: float = Field(description="How long the pieces of work took, added up.")
    days: list[AgentDayOut]
    tools: list[AgentToolOut]
    failures: list[AgentFailureOut] = Field(description="The most frequent ways to fail.")
    changes: int = Field(description="Changes in its latest 500 runs that can be undone.")
    undone: int = Field(description="Those of the changes that are undone now.")
    judged: int = Field(description="Steps of plans that named a tool for it.")
    adhered: int = Field(
        description="Those of the steps in which such a tool did the work, and no fallback."
    )
    last_runs: list[AgentRunOut] = Field(description="The latest ten, newest first.")
    is_complete: bool = Field(description="False while many runs are still being counted.")


@router.get("/agents")
def list_agents(
    request: Request,
    access: AsViewer,
    archived: Annotated[bool, Query(description="Those that were archived instead.")] = False,
) -> Page[AgentCardOut]:
    """Everyone whom a flow can name: the project's own agents, those to start from, those of the chat."""
    agents = steward_of(request).agents
    found = agents.archived(access.scope) if archived else agents.listed(access.scope)
    return Page(items=[AgentCardOut(**_card(each)) for each in found], next_cursor=None)


@router.get("/agent-parts")
def list_agent_parts(request: Request, access: AsViewer) -> AgentPartsOut:
    """What agents are composed of besides tools and skills: guardrails, models and their roles."""
    load_guardrails()
    desk = steward_of(request).staff.desk
    return AgentPartsOut(
        guardrails=[
            GuardrailOut(
                name=name,
                description=(kind.__doc__ or "").strip(),
                stage=kind.stage,
                settings=kind.model_json_schema(),
            )
            for name, kind in GUARDRAILS
        ],
        models=list(desk.all_names(access.scope)),
        roles={role.value: list(desk.names(access.scope, role)) for role in Role},
        risks=list(Risk),
        document=Agent.model_json_schema(),
    )


@router.post("/agents/check")
def check_agent(request: Request, access: AsViewer, body: AgentCheckIn) -> AgentChecked:
    """Everything wrong with an agent, each with its place. Nothing is written."""
    try:
        found = steward_of(request).agents.checked(access.scope, _document(body.document))
    except Invalid as problem:
        shown = [AgentProblem(pointer=p.pointer, message=p.message) for p in problem.problems]
        first = AgentProblem(pointer="", message=problem.message)
        return AgentChecked(valid=False, problems=shown or [first], yaml=None)
    return AgentChecked(valid=True, problems=[], yaml=agent_to_yaml(found))


@router.get("/agents/{name}")
def read_agent(
    request: Request,
    response: Response,
    access: AsViewer,
    name: AgentName,
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> AgentOut:
    """An agent with its whole document, in its newest version or another."""
    steward = steward_of(request)
    own = steward.agents.current(access.scope, name)
    set_etag(response, own.version if own is not None else 0)
    if version is not None:
        shown = steward.agents.version(access.scope, name, version)
        if shown.agent is None:
            raise NotFound(f"Version {version} of {name!r} archived the agent; it has no document.")
        listed = Listed(shown.agent, "project", version, shown.created_at, shown.author)
    else:
        listed = _listed(steward, access, name)
    agent = listed.agent
    return AgentOut(
        **_card(listed),
        document=agent.model_dump(mode="json", exclude_defaults=True),
        yaml=agent_to_yaml(agent),
        models=_models(steward, access, agent),
        archived=own is not None and own.agent is None,
    )


@router.put("/agents/{name}")
async def save_agent(
    request: Request, access: AsEditor, name: AgentName, body: AgentIn, if_match: IfMatch = None
) -> AgentChanged:
    """A new version of the agent, or the first: `If-Match` names the version it was made from, 0 for none."""
    document = _document(body.document)
    if not isinstance(document, dict):
        raise Invalid("An agent is an object with a name, a title, a description and instructions.")
    return await _change(request, access, name, document, body.message, revision_from(if_match))


@router.delete("/agents/{name}")
async def archive_agent(
    request: Request, access: AsEditor, name: AgentName, if_match: IfMatch = None
) -> AgentChanged:
    """Archives the agent: flows can no longer name it. Its versions stay, and it can be restored."""
    return await _change(request, access, name, None, "Archived", revision_from(if_match))


@router.post("/agents/{name}/restore")
async def restore_agent(
    request: Request,
    access: AsEditor,
    name: AgentName,
    body: AgentRestoreIn,
    if_match: IfMatch = None,
) -> AgentChanged:
    """Makes an earlier version current again, as a new one."""
    steward, expected = steward_of(request), revision_from(if_match)
    wanted = await context_of(request).in_turn(
        access, steward.agents.version, access.scope, name, body.version
    )
    if wanted.agent is None:
        raise NotFound(f"Version {body.version} of {name!r} archived the agent.")
    document = wanted.agent.model_dump(mode="json", exclude_defaults=True)
    message = f"Version {body.version} again"
    return await _change(request, access, name, document, message, expected)


@router.get("/agents/{name}/versions")
def list_agent_versions(
    request: Request, access: AsViewer, name: AgentName
) -> Page[AgentVersionOut]:
    """Newest first; none of an agent that Steward brings along."""
    steward = steward_of(request)
    found = steward.agents.versions(access.scope, name)
    names = {each.user_id: each.name for each in steward.identity.members.page(access)}
    before = [*(each.agent for each in found), None][1:]
    items = [
        copied(
            AgentVersionOut,
            each,
            author_name=names.get(each.author),
            archived=each.agent is None,
            changed=[change.field for change in changes_between(earlier, each.agent)],
        )
        for each, earlier in zip(found, before, strict=True)
    ]
    return Page(items=items, next_cursor=None)


@router.get("/agents/{name}/diff")
def diff_agent_versions(
    request: Request, access: AsViewer, name: AgentName, left: VersionNumber, right: VersionNumber
) -> list[AgentFieldChange]:
    """What differs between two versions, field by field; version 0 is nothing."""
    agents = steward_of(request).agents

    def at(version: int) -> Agent | None:
        return agents.version(access.scope, name, version).agent if version else None

    found: list[FieldChange] = changes_between(at(left), at(right))
    return [AgentFieldChange.model_validate(each) for each in found]


@router.post("/agents/{name}/try", status_code=status.HTTP_201_CREATED)
def try_agent(
    request: Request, access: AsOperator, name: AgentName, body: AgentTryIn
) -> AgentTried:
    """A run of the agent alone with a test input; recorded, paid and governed like any other."""
    steward = steward_of(request)
    named = name if body.version is None else f"{name}@{body.version}"
    agent = steward.agents.find(access.scope, named)
    start = agent_trial(agent, named, body.task, body.context)
    return AgentTried(run_id=steward.governing.launcher.start(access, start).id)


@router.get("/agents/{name}/figures")
def agent_figures(
    request: Request,
    access: AsViewer,
    name: AgentName,
    days: Annotated[int, Query(ge=1, le=366)] = 30,
) -> AgentFiguresOut:
    """What the agent did and cost in the last days, from the journals of ended runs."""
    steward = steward_of(request)
    sight = steward.playbooks.people.sight(access)
    found = steward.observations.agents.figures(
        access.scope, steward.clock.now(), days, name, sight.among
    )
    return copied(
        AgentFiguresOut,
        found,
        usd=found.nano_usd / NANO,
        seconds=found.milliseconds / 1000,
        days=[
            copied(
                AgentDayOut,
                each,
                day=datetime.fromtimestamp(each.first_hour * 3600, UTC).date(),
                usd=each.nano_usd / NANO,
                seconds=each.milliseconds / 1000,
            )
            for each in found.days
        ],
    )


def _card(each: Listed) -> dict[str, Any]:
    agent = each.agent
    return {
        "name": agent.name,
        "title": agent.title,
        "description": agent.description,
        "origin": each.origin,
        "version": each.version,
        "updated_at": each.updated_at,
        "updated_by": each.updated_by,
        "tools": agent.tools,
        "highest_risk": agent.highest_risk,
        "hands_over_to": agent.handoffs.to if agent.handoffs is not None else [],
    }


def _listed(steward: Steward, access: Access, name: str) -> Listed:
    for each in steward.agents.listed(access.scope):
        if each.agent.name == name:
            return each
    kept = [each for each in steward.agents.versions(access.scope, name) if each.agent is not None]
    if not kept or kept[0].agent is None:
        raise NotFound(f"There is no agent called {name!r} in this project.")
    last = kept[0]
    return Listed(kept[0].agent, "project", last.version, last.created_at, last.author)


def _models(steward: Steward, access: Access, agent: Agent) -> list[str]:
    desk = steward.staff.desk
    if agent.model is not None:
        return [agent.model] if agent.model in desk.all_names(access.scope) else []
    return list(desk.names(access.scope, Role(agent.role)))


def _document(given: dict[str, Any] | str) -> Any:
    return read_yaml(given) if isinstance(given, str) else given


async def _change(
    request: Request,
    access: Access,
    name: str,
    document: dict[str, Any] | None,
    message: str,
    expected: int,
) -> AgentChanged:
    arguments = {"name": name, "document": document, "message": message, "version": expected}
    title = f"Archive the agent {name}" if document is None else f"Save the agent {name}"
    call = DirectCall("change_agent", arguments, title=title)
    done = await steward_of(request).governing.direct_calls.run(access, call)
    return AgentChanged(run_id=done.run.id, **done.value)
