"""Entity resolution and reports: tasks whose results people judge before they commit."""

from fastapi import APIRouter, Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Name
from steward.api.guards import AsEditor
from steward.api.routes.tasks import TaskOut, task_out
from steward.api.types import NewDatasetName

router = APIRouter(prefix="/projects/{project_id}", tags=["resolve"])
_RULES = Field(max_length=500_000, description="The rules document, as YAML.")


class ProposeIn(Input):
    datasets: list[str] = Field(min_length=1, max_length=10, examples=[["crm_customers"]])
    branch: str = Field("main", max_length=100)


class EstimateIn(ProposeIn):
    rules: str = _RULES


class ResolveIn(EstimateIn):
    target: NewDatasetName
    base: str | None = Field(
        None,
        max_length=40,
        description="The commit a trial was based on (`base` of its result); refused when the datasets or the "
        "result changed on the branch since.",
    )


class ReportIn(Input):
    title: Name
    datasets: list[str] = Field(min_length=1, max_length=20)
    locale: str = Field("en-GB", max_length=20)
    branch: str = Field("main", max_length=100)


@router.post("/resolve/propose", status_code=status.HTTP_202_ACCEPTED)
def propose_rules(request: Request, access: AsEditor, body: ProposeIn) -> TaskOut:
    """Rules for matching records, found from the data, with estimates and borderline pairs."""
    resolving = steward_of(request).workbench.resolving
    return task_out(resolving.propose(access.scope, access.user_id, body.datasets, body.branch))


@router.post("/resolve/estimate", status_code=status.HTTP_202_ACCEPTED)
def estimate_rules(request: Request, access: AsEditor, body: EstimateIn) -> TaskOut:
    """What edited rules would do. Nothing is written."""
    resolving = steward_of(request).workbench.resolving
    return task_out(
        resolving.estimate(access.scope, access.user_id, body.rules, body.datasets, body.branch)
    )


@router.post("/resolve", status_code=status.HTTP_202_ACCEPTED)
def resolve_entities(request: Request, access: AsEditor, body: ResolveIn) -> TaskOut:
    """Golden records, a mapping of every source row and the pairs, in one commit that can be undone.

    With `base`, data that changed since that commit is a conflict, answered before any work begins.
    """
    resolving = steward_of(request).workbench.resolving
    return task_out(
        resolving.apply(
            access.scope,
            access.user_id,
            body.rules,
            body.datasets,
            body.target,
            body.branch,
            base=body.base,
        )
    )


@router.post("/reports", status_code=status.HTTP_202_ACCEPTED)
def write_report(request: Request, access: AsEditor, body: ReportIn) -> TaskOut:
    """A report about datasets as HTML and PDF, kept under the project's files."""
    reporting = steward_of(request).workbench.reporting
    return task_out(
        reporting.start(
            access.scope,
            access.user_id,
            body.title,
            body.datasets,
            locale=body.locale,
            branch=body.branch,
        )
    )
