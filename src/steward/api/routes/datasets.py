"""Datasets of a project: list, schema, rows, profile and other insights, charts, export."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import TypeAdapter, ValidationError

from steward.api.context import steward_of
from steward.api.documents import Input, Output, Page, attachment
from steward.api.guards import AsViewer
from steward.api.routes.tasks import TaskOut, task_out
from steward.api.types import BranchName, DatasetName, Reference, VersionId
from steward.core.documents import read_json
from steward.core.errors import Invalid, Problem
from steward.core.mistakes import in_words, mistakes
from steward.data.workbench import DatasetCard, Filter, Sort, Task
from steward.data.workbench.rows import Operator
from steward.identity import Access

router = APIRouter(prefix="/projects/{project_id}/datasets", tags=["datasets"])
_CHUNK = 1 << 20


class ColumnOut(Output):
    name: str
    type: str


class DatasetOut(Output):
    name: str
    version: str
    rows: int
    bytes: int
    columns: list[ColumnOut]
    changed_at: datetime | None
    changed_by: str | None
    operation: str | None


class SchemaOut(Output):
    name: str
    version: str
    columns: list[ColumnOut]


class RowsOut(Output):
    version: str
    columns: list[ColumnOut]
    rows: list[list[str | None]]
    offset: int
    total: int


class InsightOut(Output):
    """Either the result, or the task that computes it; ask again when the task has ended."""

    result: dict[str, Any] | None
    task: TaskOut | None


class FilterIn(Input):
    column: str
    operator: Operator
    value: str = ""


class ChartIn(Input):
    version: VersionId | None = None
    chart: dict[str, Any]
    locale: str = "en-GB"


class ChartOut(Output):
    version: str
    chart: dict[str, Any]


class ChartSuggestions(Output):
    items: list[dict[str, Any]]


_FILTERS = TypeAdapter(list[FilterIn])


def _dataset_out(card: DatasetCard) -> DatasetOut:
    return DatasetOut.model_validate(card)


def insight_out(found: dict[str, Any] | Task) -> InsightOut:
    if isinstance(found, Task):
        return InsightOut(result=None, task=task_out(found))
    return InsightOut(result=found, task=None)


def _version(request: Request, access: Access, name: str, at: str, version: str | None) -> str:
    """The wanted version, which must belong to a dataset of this project."""
    workbench = steward_of(request).workbench
    if version is not None:
        return workbench.versions.get(access.scope, version).id
    return workbench.datasets.get(access.scope, access.user_id, name, at).version


@router.get("")
def list_datasets(
    request: Request, access: AsViewer, branch: BranchName = "main"
) -> Page[DatasetOut]:
    """All datasets of a branch, by name."""
    cards = steward_of(request).workbench.datasets.page(access.scope, access.user_id, branch)
    return Page(items=[_dataset_out(card) for card in cards], next_cursor=None)


@router.get("/{dataset}")
def read_dataset(
    request: Request, access: AsViewer, dataset: DatasetName, at: Reference = "main"
) -> DatasetOut:
    datasets = steward_of(request).workbench.datasets
    return _dataset_out(datasets.get(access.scope, access.user_id, dataset, at))


@router.get("/{dataset}/schema")
def read_schema(
    request: Request, access: AsViewer, dataset: DatasetName, at: Reference = "main"
) -> SchemaOut:
    datasets = steward_of(request).workbench.datasets
    card = datasets.get(access.scope, access.user_id, dataset, at)
    return SchemaOut.model_validate(card)


@router.get("/{dataset}/rows")
def read_rows(
    request: Request,
    access: AsViewer,
    dataset: DatasetName,
    at: Reference = "main",
    version: VersionId | None = None,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    sort: Annotated[
        str | None,
        Query(
            max_length=2000,
            description="Column names as a JSON array; `-` before a name: descending.",
        ),
    ] = None,
    filter: Annotated[  # noqa: A002
        str | None,
        Query(max_length=4000, description="JSON array of {column, operator, value}."),
    ] = None,
) -> RowsOut:
    """A page of rows, every value as exact text."""
    chosen = _version(request, access, dataset, at, version)
    page = steward_of(request).workbench.datasets.rows(
        access.scope,
        chosen,
        offset=offset,
        limit=limit,
        filters=_filters(filter),
        sort=_sort(sort),
    )
    return RowsOut(
        version=chosen,
        columns=[ColumnOut.model_validate(column) for column in page.columns],
        rows=page.rows,
        offset=page.offset,
        total=page.total,
    )


@router.get("/{dataset}/profile")
def read_profile_of_dataset(
    request: Request,
    access: AsViewer,
    dataset: DatasetName,
    at: Reference = "main",
    version: VersionId | None = None,
) -> InsightOut:
    """Counts, distributions, patterns, meanings, personal data and keys of every column."""
    chosen = _version(request, access, dataset, at, version)
    insights = steward_of(request).workbench.insights
    return insight_out(insights.profile(access.scope, access.user_id, dataset, chosen))


@router.get("/{dataset}/correlations")
def read_correlations(
    request: Request,
    access: AsViewer,
    dataset: DatasetName,
    at: Reference = "main",
    version: VersionId | None = None,
) -> InsightOut:
    """Which columns go together, with the measure named."""
    chosen = _version(request, access, dataset, at, version)
    insights = steward_of(request).workbench.insights
    return insight_out(insights.correlations(access.scope, access.user_id, dataset, chosen))


@router.get("/{dataset}/suggestions")
def read_suggestions(
    request: Request, access: AsViewer, dataset: DatasetName, at: Reference = "main"
) -> InsightOut:
    """Cleaning operations worth a look, with how many cells each would change."""
    chosen = _version(request, access, dataset, at, None)
    insights = steward_of(request).workbench.insights
    return insight_out(insights.suggestions(access.scope, access.user_id, dataset, chosen))


@router.get("/{dataset}/charts")
def suggest_charts(
    request: Request, access: AsViewer, dataset: DatasetName, at: Reference = "main"
) -> ChartSuggestions:
    """Charts that suit the data, the most telling first."""
    chosen = _version(request, access, dataset, at, None)
    outputs = steward_of(request).workbench.outputs
    return ChartSuggestions(items=outputs.chart_suggestions(access.scope, dataset, chosen))


@router.post("/{dataset}/charts")
def draw_chart(request: Request, access: AsViewer, dataset: DatasetName, body: ChartIn) -> ChartOut:
    """A Vega-Lite specification with the data it shows."""
    chosen = _version(request, access, dataset, "main", body.version)
    outputs = steward_of(request).workbench.outputs
    drawn = outputs.chart(access.scope, dataset, chosen, body.chart, locale=body.locale)
    return ChartOut(version=chosen, chart=drawn)


@router.get(
    "/{dataset}/export",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The file."}},
)
def export_dataset(
    request: Request,
    access: AsViewer,
    dataset: DatasetName,
    format: Literal["csv", "xlsx", "parquet", "delta"],  # noqa: A002
    at: Reference = "main",
    version: VersionId | None = None,
) -> StreamingResponse:
    """The whole version as a file; CSV and Excel with formulas defused, Delta as a zip."""
    chosen = _version(request, access, dataset, at, version)
    outputs = steward_of(request).workbench.outputs
    opened = outputs.export(access.scope, dataset, chosen, format)
    exported = opened.__enter__()

    def chunks() -> Iterator[bytes]:
        try:
            with exported.path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    yield chunk
        finally:
            opened.__exit__(None, None, None)

    headers = attachment(exported.filename, exported.path.stat().st_size)
    return StreamingResponse(chunks(), media_type="application/octet-stream", headers=headers)


def _filters(text: str | None) -> list[Filter]:
    if text is None:
        return []
    try:
        wanted = _FILTERS.validate_json(text)
    except ValidationError as error:
        found = mistakes(error, "/query/filter")
        raise Invalid(f"The filter does not fit: {in_words(found)}.", problems=found) from None
    return [Filter(item.column, item.operator, item.value) for item in wanted]


def _sort(text: str | None) -> list[Sort]:
    if text is None:
        return []
    try:
        names = read_json(text)
    except Invalid:
        names = None
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise Invalid(
            'sort is a JSON array of column names, as in ["-amount","name"].',
            problems=[Problem("/query/sort", "not a JSON array of names")],
        )
    return [Sort(name.removeprefix("-"), name.startswith("-")) for name in names]
