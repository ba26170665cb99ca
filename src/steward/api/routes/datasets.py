"""Datasets of a project: list, schema, rows, profile and other insights, charts, export."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, status
from fastapi.responses import StreamingResponse
from pydantic import Field, TypeAdapter, ValidationError

from steward.api.context import steward_of
from steward.api.documents import Input, Output, Page, attachment
from steward.api.guards import AsOperator, AsViewer
from steward.api.routing import Router
from steward.api.run_documents import RunOut
from steward.api.types import BranchName, DatasetName, Reference, RunId, VersionId
from steward.core import Denied, Invalid, NotFound, Problem, in_words, mistakes, read_json
from steward.flows import DirectCall
from steward.identity import Access
from steward.runs import Status
from steward.versions import unsealed
from steward.workbench import Filter, Kind, Operator, Sort

router = Router(prefix="/projects/{project_id}/datasets", tags=["datasets"])


class ColumnOut(Output):
    name: str
    type: str


class EncryptionOut(Output):
    """How the values of a column are encrypted; `type` and `key` are empty where its values differ in them."""

    mode: str
    type: str
    key: str


class DatasetOut(Output):
    name: str
    version: str
    rows: int
    bytes: int
    columns: list[ColumnOut]
    changed_at: datetime | None
    changed_by: str | None
    operation: str | None
    encrypted: dict[str, EncryptionOut] = Field(description="Encrypted columns, by name.")
    stays_at: str | None = Field(
        None, description="The connection where its rows are, if they were not copied."
    )


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
    """Either the result, or the run that computes it; ask again when the run is over."""

    result: dict[str, Any] | None
    run: RunOut | None


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


class ExportIn(Input):
    format: Literal["csv", "xlsx", "parquet", "delta", "iceberg"]
    at: str = Field("main", min_length=1, max_length=100)
    version: str | None = Field(None, max_length=100)
    several_sheets: bool = Field(
        False, description="For Excel: continue on further sheets where one is full."
    )
    convert_types: bool = Field(
        False, description="For Iceberg: agree to convert columns whose type it does not have."
    )
    location: str | None = Field(
        None, max_length=500, description="For Iceberg: where the unpacked table will be."
    )


class RevealIn(Input):
    columns: list[str] = Field([], max_length=500, description="Unset: all encrypted columns.")
    at: str | None = Field(
        None, max_length=200, description="A branch, tag or commit; unset: the main branch."
    )


REVEAL: Final = "reveal"
"""What runs are about that let a person see encrypted values."""
_TOOLS: Final[dict[Kind, tuple[str, str]]] = {
    "profile": ("profile", "Profile"),
    "correlations": ("correlate", "Correlate"),
    "suggestions": ("suggest_cleaning", "Suggest cleaning of"),
}
_FILTERS = TypeAdapter(list[FilterIn])


def insight_out(
    request: Request, access: Access, known: dict[str, Any] | None, call: DirectCall
) -> InsightOut:
    """What is known, or the run that finds it out; whoever asks meanwhile follows the same one."""
    if known is not None:
        return InsightOut(result=known, run=None)
    run = steward_of(request).governing.direct_calls.start_once(access, call)
    return InsightOut(result=None, run=RunOut.model_validate(run))


def _insight(
    request: Request, access: Access, kind: Kind, dataset: str, version: str
) -> InsightOut:
    tool, title = _TOOLS[kind]
    known = steward_of(request).workbench.insights.known(access.scope, kind, version)
    arguments = {"dataset": dataset, "version": version}
    subject = f"{kind}:{version}"
    call = DirectCall(tool, arguments, f"{title} {dataset}", subject=subject)
    return insight_out(request, access, known, call)


def _version(request: Request, access: Access, name: str, at: str, version: str | None) -> str:
    """The wanted version, which must belong to a dataset of this project."""
    workbench = steward_of(request).workbench
    if version is not None:
        return workbench.versions.get(access.scope, version).id
    return workbench.datasets.get(access.scope, access.user_id, name, at).version


def _permit(request: Request, access: Access, dataset: str, run_id: str) -> dict[str, Any]:
    """What a call of `reveal_columns` lets this person see. It is theirs alone, and for an hour."""
    if access.principal.limits is not None:
        raise Denied("An API token cannot show encrypted values. Sign in to see them.")
    steward = steward_of(request)
    run = steward.runs.get(access.scope, run_id)
    made = None
    if run.subject == REVEAL and run.created_by == access.user_id:
        if run.status is not Status.done:
            raise Denied(f"You may not see these values{' yet' * (not run.status.is_final)}.")
        made = steward.governing.direct_calls.outcome(run)
    if made is None or made.value["dataset"] != dataset:
        raise NotFound(f"You have no permission from this run to see values of {dataset!r}.")
    if datetime.fromisoformat(made.value["until"]) <= steward.clock.now():
        raise Denied("The hour to see these values is over. Ask again.", code="reveal-over")
    permitted: dict[str, Any] = made.value
    return permitted


@router.post("/{dataset}/reveal", status_code=status.HTTP_202_ACCEPTED)
def reveal_columns(
    request: Request, access: AsOperator, dataset: DatasetName, body: RevealIn
) -> RunOut:
    """Asks for permission to see plain values of encrypted columns; read rows with the run once it is done."""
    arguments = {"dataset": dataset, "columns": body.columns, "at": body.at}
    call = DirectCall("reveal_columns", arguments, f"Show values of {dataset}", subject=REVEAL)
    started = steward_of(request).governing.direct_calls.start(access, call)
    return RunOut.model_validate(started)


@router.get("")
def list_datasets(
    request: Request, access: AsViewer, branch: BranchName = "main"
) -> Page[DatasetOut]:
    """All datasets of a branch, by name."""
    cards = steward_of(request).workbench.datasets.page(access.scope, access.user_id, branch)
    return Page(items=[DatasetOut.model_validate(card) for card in cards], next_cursor=None)


@router.get("/{dataset}")
def read_dataset(
    request: Request, access: AsViewer, dataset: DatasetName, at: Reference = "main"
) -> DatasetOut:
    datasets = steward_of(request).workbench.datasets
    return DatasetOut.model_validate(datasets.get(access.scope, access.user_id, dataset, at))


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
    revealed: Annotated[
        RunId | None,
        Query(description="Your call of `reveal_columns`: shows the plain values for an hour."),
    ] = None,
) -> RowsOut:
    """A page of rows, every value as exact text."""
    datasets = steward_of(request).workbench.datasets
    permit = _permit(request, access, dataset, revealed) if revealed is not None else None
    chosen = permit["version"] if permit else _version(request, access, dataset, at, version)
    with unsealed(allowed=permit is not None):
        page = datasets.rows(
            access.scope,
            chosen,
            offset=offset,
            limit=limit,
            filters=_filters(filter),
            sort=_sort(sort),
        )
    if permit is not None:
        page = datasets.revealed(access.scope, page, permit["columns"])
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
    return _insight(request, access, "profile", dataset, chosen)


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
    return _insight(request, access, "correlations", dataset, chosen)


@router.get("/{dataset}/suggestions")
def read_suggestions(
    request: Request, access: AsViewer, dataset: DatasetName, at: Reference = "main"
) -> InsightOut:
    """Cleaning operations worth a look, with how many cells each would change."""
    chosen = _version(request, access, dataset, at, None)
    return _insight(request, access, "suggestions", dataset, chosen)


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


@router.post("/{dataset}/exports", status_code=status.HTTP_202_ACCEPTED)
def export_dataset(
    request: Request, access: AsViewer, dataset: DatasetName, body: ExportIn
) -> RunOut:
    """Writes the whole version as a file, which can be downloaded for a day; CSV and Excel with formulas defused.

    More rows than a sheet of Excel holds are refused, unless `several_sheets` is set; so are columns of types that
    Iceberg does not have, unless `convert_types` is set.
    """
    steward = steward_of(request)
    chosen = _version(request, access, dataset, body.at, body.version)
    steward.workbench.outputs.check_export(
        access.scope,
        dataset,
        chosen,
        body.format,
        several_sheets=body.several_sheets,
        convert_types=body.convert_types,
    )
    arguments = {
        **body.model_dump(exclude={"at"}, exclude_none=True),
        "dataset": dataset,
        "version": chosen,
    }
    call = DirectCall("export_dataset", arguments, f"Export {dataset}", subject="export")
    return RunOut.model_validate(steward.governing.direct_calls.start(access, call))


@router.get(
    "/{dataset}/exports/{run_id}",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The file."}},
)
def download_export(
    request: Request, access: AsViewer, dataset: DatasetName, run_id: RunId
) -> StreamingResponse:
    """The file that an export made, until a day after it was made."""
    steward = steward_of(request)
    run = steward.runs.get(access.scope, run_id)
    made = steward.governing.direct_calls.outcome(run) if run.subject == "export" else None
    if made is None or made.value["dataset"] != dataset:
        raise NotFound(f"This run did not export {dataset!r}.")
    file = made.value["file"]
    try:
        chunks = steward.blobs.read(file["digest"])
    except NotFound:
        raise NotFound("This file was removed a day after it was made. Export it again.") from None
    return StreamingResponse(
        chunks,
        media_type="application/octet-stream",
        headers=attachment(file["filename"], file["bytes"]),
    )


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
