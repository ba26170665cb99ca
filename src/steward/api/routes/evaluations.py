"""Evaluations: reports of `steward eval` that a project keeps, to look at and to compare."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query, Request, status
from pydantic import Field

from steward.api.context import steward_of
from steward.api.documents import Cursor, Input, Limit, Output, Page, page
from steward.api.guards import AsEditor, AsViewer
from steward.api.routing import Router
from steward.core import Invalid, Problem
from steward.evaluation import KeptReport, read_report

router = Router(prefix="/projects/{project_id}/evaluations", tags=["evaluations"])

_REPORT_ID = r"^evl_[0-9a-hjkmnp-tv-z]{26}$"
ReportId = Annotated[str, Path(pattern=_REPORT_ID, examples=["evl_01kdgq3v0z8r5m2x7c4b9n6t1w"])]


class EvaluationOut(Output):
    id: str
    title: str
    mode: str
    cases: int
    passed: int
    failed: int
    created_by: str
    created_at: datetime


class EvaluationCaseOut(Output):
    suite: str
    id: str
    kind: str
    title: str
    outcome: str = Field(description="passed, failed or skipped.")
    problems: list[str]
    facts: dict[str, Any]
    seconds: float


class EvaluationDetail(EvaluationOut):
    steward: str
    began_at: datetime
    seconds: float
    models: dict[str, list[str]]
    results: list[EvaluationCaseOut]


class EvaluationIn(Input):
    title: str = Field("", max_length=200)
    report: dict[str, Any] = Field(description="As `steward eval --report report.json` writes it.")


class MovedOut(Output):
    case: str
    fact: str
    before: float
    after: float


class EvaluationComparison(Output):
    before: EvaluationOut
    after: EvaluationOut
    broken: list[str]
    mended: list[str]
    still_failing: list[str]
    new: list[str]
    gone: list[str]
    moved: list[MovedOut]
    seconds_before: float
    seconds_after: float


@router.get("")
def list_evaluations(
    request: Request, access: AsViewer, cursor: Cursor = None, limit: Limit = 50
) -> Page[EvaluationOut]:
    """Newest first."""
    reports = steward_of(request).evaluations

    def fetch(before: str | None, count: int) -> list[KeptReport]:
        return reports.listed(access.scope, before=before, limit=count)

    items, following = page(fetch, lambda each: each.id, cursor, limit)
    return Page(items=[EvaluationOut.model_validate(each) for each in items], next_cursor=following)


@router.post("", status_code=status.HTTP_201_CREATED)
def keep_evaluation(request: Request, access: AsEditor, body: EvaluationIn) -> EvaluationOut:
    """Keeps a report that was made elsewhere, such as in a build."""
    try:
        report = read_report(body.report)
    except Invalid as problem:
        raise Invalid(
            problem.message, problems=[Problem("/body/report", "not a report of steward eval")]
        ) from None
    return EvaluationOut.model_validate(
        steward_of(request).evaluations.keep(access, report, body.title)
    )


@router.get("/{report_id}")
def read_evaluation(request: Request, access: AsViewer, report_id: ReportId) -> EvaluationDetail:
    kept, report = steward_of(request).evaluations.get(access.scope, report_id)
    return EvaluationDetail(
        **EvaluationOut.model_validate(kept).model_dump(),
        steward=report.steward,
        began_at=report.began_at,
        seconds=report.seconds,
        models=report.models,
        results=[EvaluationCaseOut.model_validate(case) for case in report.cases],
    )


@router.get("/{report_id}/comparison")
def compare_evaluations(
    request: Request,
    access: AsViewer,
    report_id: ReportId,
    before: Annotated[str, Query(pattern=_REPORT_ID, description="The earlier report.")],
) -> EvaluationComparison:
    """What broke and what was mended since another report."""
    reports = steward_of(request).evaluations
    earlier, _ = reports.get(access.scope, before)
    later, _ = reports.get(access.scope, report_id)
    found = reports.compared(access.scope, before, report_id).to_json()
    return EvaluationComparison.model_validate(
        {
            **{name: found[name] for name in EvaluationComparison.model_fields if name in found},
            "before": EvaluationOut.model_validate(earlier),
            "after": EvaluationOut.model_validate(later),
        }
    )


@router.delete("/{report_id}", status_code=status.HTTP_204_NO_CONTENT)
def delete_evaluation(request: Request, access: AsEditor, report_id: ReportId) -> None:
    """It can be had back for 30 days."""
    steward_of(request).evaluations.delete(access, report_id)


@router.post("/{report_id}/restore")
def restore_evaluation(request: Request, access: AsEditor, report_id: ReportId) -> EvaluationOut:
    return EvaluationOut.model_validate(steward_of(request).evaluations.restore(access, report_id))
