"""Entity resolution and reports: runs of one call, whose results people judge before they commit."""

from fastapi import Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Input, Name
from steward.api.guards import AsEditor
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import NewDatasetName
from steward.flows import DirectCall
from steward.identity import Access

router = Router(prefix="/projects/{project_id}", tags=["resolve"])
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
def propose_rules(request: Request, access: AsEditor, body: ProposeIn) -> RunOut:
    """Rules for matching records, found from the data, with estimates and borderline pairs."""
    _check(request, access, body)
    title = f"Propose how {', '.join(body.datasets[:3])} match"
    call = DirectCall("propose_rules", {"datasets": body.datasets}, title, body.branch)
    return _start(request, access, call)


@router.post("/resolve/estimate", status_code=status.HTTP_202_ACCEPTED)
def estimate_rules(request: Request, access: AsEditor, body: EstimateIn) -> RunOut:
    """What edited rules would do. Nothing is written."""
    _check(request, access, body, body.rules)
    arguments = {"datasets": body.datasets, "rules": body.rules}
    return _start(
        request, access, DirectCall("propose_rules", arguments, "Estimate the matches", body.branch)
    )


@router.post("/resolve", status_code=status.HTTP_202_ACCEPTED)
def resolve_entities(request: Request, access: AsEditor, body: ResolveIn) -> RunOut:
    """Golden records, a mapping of every source row and the pairs, in one commit that can be undone.

    With `base`, data that changed since that commit is a conflict, answered before any work begins.
    """
    _check(request, access, body, body.rules)
    if body.base is not None:
        resolving = steward_of(request).workbench.resolving
        resolving.refuse_changed(
            access.scope, access.user_id, body.base, body.branch, body.datasets, body.target
        )
    arguments = {
        "datasets": body.datasets,
        "target": body.target,
        "rules": body.rules,
        "base": body.base,
    }
    title = f"Resolve {', '.join(body.datasets[:3])}"
    seen = body.base is not None
    return _start(
        request, access, DirectCall("resolve_entities", arguments, title, body.branch, seen=seen)
    )


@router.post("/reports", status_code=status.HTTP_202_ACCEPTED)
def write_report(request: Request, access: AsEditor, body: ReportIn) -> RunOut:
    """A report about datasets as HTML and PDF, kept under the project's files."""
    place = steward_of(request).workbench.datasets
    for name in body.datasets:
        place.get(access.scope, access.user_id, name, body.branch)
    arguments = {"title": body.title, "datasets": body.datasets, "locale": body.locale}
    call = DirectCall("report", arguments, f"Report {body.title}", body.branch, subject="report")
    return _start(request, access, call)


def _check(request: Request, access: Access, body: ProposeIn, rules: str | None = None) -> None:
    """What is wrong with a request is answered at once, and not by a run that fails."""
    resolving = steward_of(request).workbench.resolving
    resolving.check(access.scope, access.user_id, body.datasets, body.branch, rules)


def _start(request: Request, access: Access, call: DirectCall) -> RunOut:
    return RunOut.model_validate(steward_of(request).governing.direct_calls.start(access, call))
