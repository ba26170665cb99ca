"""Python over the branch's datasets, behind the walls of the sandbox: results by name, charts and files kept."""

import mimetypes
from datetime import timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from steward.broker import (
    CODE,
    PLAIN,
    SELECTOR,
    Artifact,
    Cost,
    Effects,
    Outcome,
    Risk,
    ToolContext,
    add_tool,
)
from steward.runs import canonical
from steward.tools._calls import keep, plain
from steward.tools._commits import MEDIA_TYPES
from steward.tools._sandboxed import Job, Parameters, Sandboxed, cost_of, estimated, execute

if TYPE_CHECKING:
    from steward.sandbox import Response

CHART: Final = "application/vnd.vegalite.v6+json"
MOST_TEXT: Final = 20_000
CONTRACT: Final = (
    "Leave `result` (any value), `result_df` (a table) or `result_rows` (records); `chart` or `charts` as "
    "Vega-Lite or Altair; files in `scratch`. `con` is a DuckDB connection that knows the datasets, `datasets` "
    "their names, `parameters` the values given."
)


class ExecutePython(Sandboxed):
    code: Annotated[str, SELECTOR] = Field(
        min_length=1,
        max_length=100_000,
        description=f"Python. {CONTRACT}",
        json_schema_extra={CODE: "python"},
    )
    parameters: Annotated[Parameters, SELECTOR] = Field(
        default_factory=dict,
        description="Values the code finds in `parameters`: text, numbers, true, false or null.",
    )
    limit: Annotated[int, PLAIN] = Field(
        200, ge=1, le=100_000, description="Rows of a resulting table to return at most."
    )


async def run(context: ToolContext, arguments: ExecutePython) -> Outcome:
    job = Job(
        "python", arguments.code, arguments, arguments.limit, arguments.parameters, noun="code"
    )
    executed = await execute(context, job)
    response = executed.response
    charts = [
        await keep(context, f"chart-{number}.vl.json", CHART, canonical(chart).encode())
        for number, chart in enumerate(response.charts, 1)
    ]
    files = [
        await keep(context, each.path, _media_type(each.path), each.content)
        for each in response.files
    ]
    return Outcome(
        value=_value(response, charts, files),
        summary=_summary(response, len(files)),
        artifacts=(*charts, *files),
        sources=executed.sources,
        trusted=False,
        cost=cost_of(executed),
    )


def _value(response: "Response", charts: list[Artifact], files: list[Artifact]) -> dict[str, Any]:
    out, err = response.stdout[:MOST_TEXT], response.stderr[:MOST_TEXT]
    dropped = len(response.stdout) - len(out) + len(response.stderr) - len(err)
    return {
        "result": response.result,
        "columns": plain(response.columns),
        "rows": response.rows,
        "truncated": response.message if response.status == "too_large" else None,
        "charts": [each.name for each in charts],
        "files": [each.name for each in files],
        "skipped_files": response.skipped_files,
        "stdout": out,
        "stderr": err,
        "dropped_output": dropped + response.dropped_output_bytes,
    }


def _summary(response: "Response", files: int) -> str:
    said = [f"{len(response.rows):,} rows"] if response.columns else []
    if response.result is not None:
        said.append("a result")
    if response.charts:
        said.append(f"{len(response.charts)} chart{'s' if len(response.charts) > 1 else ''}")
    if files:
        said.append(f"{files} file{'s' if files > 1 else ''}")
    return "Python: " + (", ".join(said) or "ran, and left no result")


def _media_type(path: str) -> str:
    suffix = PurePosixPath(path).suffix.lower()
    guessed, _ = mimetypes.guess_type(f"file{suffix}", strict=True)
    return MEDIA_TYPES.get(suffix) or guessed or "application/octet-stream"


def _cost(context: ToolContext, arguments: ExecutePython) -> Cost:
    return estimated(context, arguments, arguments.limit)


add_tool(
    name="execute_python",
    title="Run Python",
    description="Runs Python over datasets without network or file access and returns what it leaves.",
    arguments=ExecutePython,
    risk=Risk.compute,
    run=run,
    answers="rows",
    effects=Effects(reads=True),
    attempts=2,
    timeout=timedelta(minutes=10),
    estimate=_cost,
)
