"""Deployments of playbooks: checked, made, rolled back, tried on a share of the runs, and what each one pins."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, Response
from pydantic import Field

from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsEditor, AsOperator, AsViewer
from steward.api.playbook_documents import PlaybookId, PlaybookOut, changed, playbooks_of
from steward.api.routes.events import number
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.playbooks import Deployment, ShadowComparison

router = Router(prefix="/projects/{project_id}/playbooks", tags=["playbooks"])

DeploymentNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]
Message = Field("", max_length=400, description="Why, for the list of deployments.")


class FindingOut(Output):
    check: str
    state: Literal["passed", "warning", "failed"]
    message: str


class PinOut(Output):
    kind: str
    name: str
    hash: str
    version: str
    fixed: bool = Field(
        description="Whether runs keep to exactly this; otherwise a change of it is told."
    )


class ChangedPinOut(Output):
    kind: str
    name: str
    before: PinOut | None
    after: PinOut | None


class DeploymentOut(Output):
    number: int
    revision: int
    kind: Literal["deploy", "rollback", "canary", "shadow"]
    of: int | None = Field(description="The deployment whose parts it has once more.")
    hash: str
    message: str
    author: str
    created_at: datetime


class DeploymentDetail(DeploymentOut):
    pins: list[PinOut]
    checks: list[FindingOut]
    drift: list[ChangedPinOut] = Field(description="Parts that have changed since.")


class PreparationOut(Output):
    revision: int
    may_deploy: bool
    checks: list[FindingOut]
    pins: list[PinOut]
    changed: list[ChangedPinOut] = Field(
        description="Parts that differ from the deployment in force."
    )


class DeployIn(Input):
    revision: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the newest.")
    message: str = Message
    despite_tests: bool = Field(
        False, description="Deploy also where tests have another result than before."
    )


class RollBackIn(Input):
    to: int | None = Field(
        None, ge=1, le=2**31 - 1, description="A deployment; unset: the one before."
    )
    message: str = Message


class TrialIn(Input):
    revision: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the newest.")
    percent: int = Field(10, ge=1, le=99, description="The share of runs that a canary gets.")
    message: str = Message


class ShadowIn(Input):
    revision: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the newest.")
    percent: int = Field(100, ge=1, le=100, description="The share of runs that get a shadow.")
    spend: bool = Field(False, description="Whether agents of a shadow may ask models.")
    message: str = Message


class ShadowOut(Output):
    deployment: int
    revision: int
    percent: int
    spend: bool
    author: str
    created_at: datetime
    ended_at: datetime | None
    compared: int
    equal: int
    under_way: int
    failed: int = Field(description="Runs for which no comparison was possible.")


class CurrentShadowOut(Output):
    shadow: ShadowOut | None = Field(description="Also one that ended; null: there never was one.")


class ShadowDifferenceOut(Output):
    kind: Literal["end", "output", "step", "call", "agent"]
    at: str
    live: str
    shadow: str


class ShadowComparisonOut(Output):
    live_id: str
    shadow_id: str | None
    state: Literal["waiting", "running", "compared", "failed"]
    equal: bool | None
    differences: list[ShadowDifferenceOut]
    live_seconds: float | None
    shadow_seconds: float | None
    live_usd: float | None
    shadow_usd: float | None
    problem: str | None
    live_ended_at: datetime


class RetryIn(Input):
    runs: list[Annotated[str, Field(max_length=40)]] = Field(min_length=1, max_length=200)
    version: Literal["same", "deployed"] | int = Field(
        "same", description="That of each run, the deployed one, or a revision by number."
    )
    at: str | None = Field(
        None, max_length=400, description="A step: what was done before it is kept."
    )
    from_failure: bool = Field(False, description="Go on at the step at which each run failed.")


class RetriedOut(Output):
    source: str
    run: RunOut | None
    problem: str | None


class RetriesOut(Output):
    items: list[RetriedOut]


@router.get("/{playbook_id}/deployments")
def list_deployments(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[DeploymentOut]:
    """Newest first."""
    deploying = playbooks_of(request).deploying

    def fetch(before: str | None, count: int) -> list[Deployment]:
        return deploying.listed(access, playbook_id, before=number(before), limit=count)

    items, following = page(fetch, lambda item: str(item.number), cursor, limit)
    return Page(items=[DeploymentOut.model_validate(item) for item in items], next_cursor=following)


@router.get("/{playbook_id}/deployments/{deployment}")
def read_deployment(
    request: Request, access: AsViewer, playbook_id: PlaybookId, deployment: DeploymentNumber
) -> DeploymentDetail:
    """A deployment with every part that it pins, and which of them have changed since."""
    found, drift = playbooks_of(request).deploying.look(access, playbook_id, deployment)
    fields: dict[str, Any] = {name: getattr(found, name) for name in DeploymentOut.model_fields}
    return DeploymentDetail(
        **fields,
        pins=[PinOut.model_validate(pin) for pin in found.pins],
        checks=[FindingOut.model_validate(each) for each in found.checks],
        drift=[ChangedPinOut.model_validate(each) for each in drift],
    )


@router.get("/{playbook_id}/preparation")
def prepare_deployment(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    revision: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> PreparationOut:
    """The checks before a deployment, and what it would pin."""
    found = playbooks_of(request).deploying.prepare(access, playbook_id, revision)
    return PreparationOut.model_validate(found)


@router.post("/{playbook_id}/deploy")
def deploy_playbook(
    request: Request, access: AsEditor, playbook_id: PlaybookId, body: DeployIn, response: Response
) -> PlaybookOut:
    """Makes a revision the one that people and triggers run, with everything around it pinned."""
    deploying = playbooks_of(request).deploying
    done = deploying.deploy(
        access, playbook_id, body.revision, body.message, despite_tests=body.despite_tests
    )
    return changed(response, done)


@router.post("/{playbook_id}/rollback")
def roll_back_playbook(
    request: Request,
    access: AsEditor,
    playbook_id: PlaybookId,
    response: Response,
    body: RollBackIn | None = None,
) -> PlaybookOut:
    """Deploys what was deployed before, with every part as it was pinned then."""
    wanted = body or RollBackIn()
    deploying = playbooks_of(request).deploying
    done = deploying.roll_back(access, playbook_id, to=wanted.to, message=wanted.message)
    return changed(response, done)


@router.put("/{playbook_id}/canary")
def start_canary(
    request: Request, access: AsEditor, playbook_id: PlaybookId, body: TrialIn, response: Response
) -> PlaybookOut:
    """Gives a revision a share of the runs; the others stay with the deployed one."""
    done = playbooks_of(request).deploying.try_out(
        access,
        playbook_id,
        body.revision,
        percent=body.percent,
        message=body.message,
    )
    return changed(response, done)


@router.delete("/{playbook_id}/canary")
def end_canary(
    request: Request, access: AsEditor, playbook_id: PlaybookId, response: Response
) -> PlaybookOut:
    """All runs are of the deployed revision again."""
    return changed(response, playbooks_of(request).deploying.end_trial(access, playbook_id))


@router.get("/{playbook_id}/shadow")
def read_shadow(request: Request, access: AsViewer, playbook_id: PlaybookId) -> CurrentShadowOut:
    """The version that runs beside the deployed one, and how many of its runs had the same outcome."""
    found = playbooks_of(request).shadows.found(access, playbook_id)
    return CurrentShadowOut(shadow=None if found is None else ShadowOut.model_validate(found))


@router.put("/{playbook_id}/shadow")
def start_shadow(
    request: Request, access: AsEditor, playbook_id: PlaybookId, body: ShadowIn
) -> ShadowOut:
    """Repeats runs of the deployed revision with another one, without effects, and compares both."""
    found = playbooks_of(request).shadows.start(
        access,
        playbook_id,
        body.revision,
        percent=body.percent,
        spend=body.spend,
        message=body.message,
    )
    return ShadowOut.model_validate(found)


@router.delete("/{playbook_id}/shadow")
def end_shadow(request: Request, access: AsEditor, playbook_id: PlaybookId) -> ShadowOut:
    """No further run gets a shadow; comparisons stay."""
    return ShadowOut.model_validate(playbooks_of(request).shadows.end(access, playbook_id))


@router.get("/{playbook_id}/shadow/comparisons")
def list_shadow_comparisons(
    request: Request,
    access: AsViewer,
    playbook_id: PlaybookId,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ShadowComparisonOut]:
    """Runs of the deployed revision beside their shadows, newest first, with what differs."""
    shadows = playbooks_of(request).shadows

    def fetch(before: str | None, count: int) -> list[ShadowComparison]:
        return shadows.comparisons(access, playbook_id, before=before, limit=count)

    items, following = page(fetch, lambda item: item.live_id, cursor, limit)
    return Page(
        items=[ShadowComparisonOut.model_validate(item) for item in items], next_cursor=following
    )


@router.post("/{playbook_id}/retries")
def retry_playbook_runs(
    request: Request, access: AsOperator, playbook_id: PlaybookId, body: RetryIn
) -> RetriesOut:
    """Runs again what has ended: with the same version or another, from the start or from a step."""
    done = playbooks_of(request).retries.retry(
        access,
        playbook_id,
        body.runs,
        version=body.version,
        at=body.at,
        from_failure=body.from_failure,
    )
    return RetriesOut(
        items=[
            RetriedOut(
                source=each.source,
                run=RunOut.model_validate(each.run) if each.run is not None else None,
                problem=each.problem,
            )
            for each in done
        ]
    )
