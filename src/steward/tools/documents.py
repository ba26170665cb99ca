"""Files made from datasets, kept among the branch's files: a report, a workbook."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from steward.broker import (
    CONTENT,
    NEW_TARGET,
    PLAIN,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.tools._calls import bench, heavy, in_thread_of_call, listed, off_loop, source
from steward.tools._commits import (
    WRITTEN,
    base_as_agreed,
    files_of,
    inputs,
    promise,
    reading_cost,
    reconciling,
    workspace,
)
from steward.versions import Commit, Draft

EXPORTS = "exports"
_CHUNK = 1 << 20


class WriteReport(Arguments):
    title: Annotated[str, CONTENT] = Field(
        min_length=1, max_length=200, description="Title; also the files' name."
    )
    datasets: Annotated[list[str], TARGET] = Field(
        min_length=1, max_length=20, description="What it is about."
    )
    locale: Annotated[str, PLAIN] = Field(
        "en-GB", max_length=20, description="How numbers and dates are written."
    )
    contents: Annotated[Literal["profile", "rows"], PLAIN] = Field(
        "profile",
        description="What is in the data and how good it is, or the rows themselves (up to 2,000).",
    )


class RenderXlsx(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    also: Annotated[list[str], TARGET] = Field(
        default_factory=list,
        max_length=20,
        description="Further datasets, each on a sheet of its own.",
    )
    name: Annotated[str | None, NEW_TARGET] = Field(
        None,
        min_length=1,
        max_length=100,
        pattern=r"^[^/\\\x00-\x1f]+$",
        description="File name without folder; unset: that of the dataset.",
    )


async def _preview(
    context: ToolContext, names: Sequence[str], paths: Sequence[str] | None, what: str
) -> Preview:
    def look() -> dict[str, Any]:
        found = inputs(context, names)
        there = {entry.path for entry in workspace(context).files(context.branch)}
        return {
            "counts": {"datasets": len(found), "rows_read": sum(each.rows for each in found)},
            "files": list(paths or ()),
            "replaces": sorted(there & set(paths or ())),
        }

    promised = await off_loop(promise, context, names, None)
    return Preview(
        summary=f"Write {what} about {listed(names)}",
        details=await off_loop(look),
        payload=promised,
    )


async def preview_report(context: ToolContext, arguments: WriteReport) -> Preview:
    what = f"the report {arguments.title!r} as HTML and PDF"
    return await _preview(context, arguments.datasets, None, what)


async def run_report(context: ToolContext, arguments: WriteReport) -> Outcome:
    await off_loop(base_as_agreed, context, None)
    commit = await heavy(
        context,
        bench(context).reporting.write,
        context.scope,
        context.author,
        arguments.title,
        arguments.datasets,
        locale=arguments.locale,
        branch=context.branch,
        contents=arguments.contents,
    )
    return await written(context, commit)


def drawn_stem(folder: str, name: str, otherwise: str) -> str:
    """Where a drawing goes, without its ending: a name that every file system takes."""
    kept = "".join(c if c.isalnum() or c in " _-" else "_" for c in name).strip()
    return f"{folder}/{kept[:80] or otherwise}"


def _path(arguments: RenderXlsx) -> str:
    name = arguments.name or "".join(
        c if c.isalnum() or c in " ._-()" else "_" for c in arguments.dataset
    ).strip(" .")
    return f"{EXPORTS}/{name.removesuffix('.xlsx')[:100] or 'dataset'}.xlsx"


async def preview_xlsx(context: ToolContext, arguments: RenderXlsx) -> Preview:
    return await _preview(context, _datasets(arguments), [_path(arguments)], "a workbook")


def _datasets(arguments: RenderXlsx) -> list[str]:
    return list(dict.fromkeys([arguments.dataset, *arguments.also]))


async def run_xlsx(context: ToolContext, arguments: RenderXlsx) -> Outcome:
    return await written(context, await heavy(context, _render, context, arguments))


def _render(context: ToolContext, arguments: RenderXlsx) -> Commit:
    base_as_agreed(context, None)
    found = inputs(context, _datasets(arguments))
    place, shelf = workspace(context), bench(context)
    sheets = [(each.name, each.version) for each in found]
    with (
        shelf.outputs.workbook(context.scope, sheets) as path,
        path.open("rb") as file,
    ):
        chunks = iter(lambda: file.read(_CHUNK), b"")
        entry = shelf.versions.put_file(context.scope, _path(arguments), chunks)
    draft = Draft(
        message=f"Render {listed([each.name for each in found])} as {entry.path}",
        operation="render_xlsx",
        arguments={
            "datasets": [each.name for each in found],
            "versions": [each.version for each in found],
            WRITTEN: [entry.path],
        },
        files={entry.path: entry.digest},
    )
    return place.commit(draft, context.branch)


@in_thread_of_call
def written(context: ToolContext, commit: Commit) -> Outcome:
    """The outcome of a commit of files."""
    place, names = workspace(context), commit.arguments.get("datasets", [])
    read = [place.dataset(name, commit.id) for name in names]
    artifacts = files_of(context, commit)
    return Outcome(
        value={"commit": commit.id, "files": [artifact.name for artifact in artifacts]},
        summary=commit.message,
        artifacts=artifacts,
        commits=(commit.id,),
        sources=tuple(source(each.name, each.version) for each in read),
        cost=Cost(
            rows=sum(each.rows for each in read),
            bytes=sum(artifact.size for artifact in artifacts),
        ),
    )


add_tool(
    name="report",
    title="Write a report",
    description=(
        "Writes a report about datasets as HTML and PDF into the project's files: contents, quality, "
        "charts, lineage and provenance."
    ),
    arguments=WriteReport,
    risk=Risk.write,
    run=run_report,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_report,
    reconcile=reconciling(written),
    estimate=lambda context, arguments: reading_cost(context, arguments.datasets),
)
add_tool(
    name="render_xlsx",
    title="Render a workbook",
    description="Writes datasets as the sheets of an Excel workbook into the project's files, with provenance.",
    arguments=RenderXlsx,
    risk=Risk.write,
    run=run_xlsx,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_xlsx,
    reconcile=reconciling(written),
    estimate=lambda context, arguments: reading_cost(context, _datasets(arguments)),
)
