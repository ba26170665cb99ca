"""The map of where a dataset comes from, drawn and as data, among the branch's files."""

import json
from typing import Annotated, Any, Final

from pydantic import Field

from steward.broker import (
    NEW_TARGET,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Invalid
from steward.tools._calls import bench, off_loop
from steward.tools._commits import WRITTEN, promise, reconciling, workspace
from steward.tools.documents import drawn_stem, written
from steward.versions import Commit, Draft

FOLDER: Final = "lineage"


class DrawLineage(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    name: Annotated[str | None, NEW_TARGET] = Field(
        None,
        min_length=1,
        max_length=100,
        pattern=r"^[^/\\\x00-\x1f]+$",
        description="File name without folder and ending; unset: that of the dataset.",
    )


def _stem(arguments: DrawLineage) -> str:
    return drawn_stem(FOLDER, arguments.name or arguments.dataset, "dataset")


async def dry_run(context: ToolContext, arguments: DrawLineage) -> Preview:
    promised = await off_loop(promise, context, [arguments.dataset], None)
    stem = _stem(arguments)
    return Preview(
        summary=f"Draw where {arguments.dataset} comes from",
        details={"files": [f"{stem}.svg", f"{stem}.json"]},
        payload=promised,
    )


async def run(context: ToolContext, arguments: DrawLineage) -> Outcome:
    return await written(context, await off_loop(_draw, context, arguments))


def _draw(context: ToolContext, arguments: DrawLineage) -> Commit:
    from steward.output import LIGHT, MAX_NODES, LineageMap, MapEdge, MapNode, draw

    place = workspace(context)
    place.dataset(arguments.dataset, context.branch)
    found = bench(context).insights.lineage(context.scope, context.author, context.branch)
    nodes, edges = _upstream(found, f"dataset:{arguments.dataset}")
    if not nodes:
        raise Invalid(f"Nothing is on record about where {arguments.dataset!r} comes from.")
    if len(nodes) > MAX_NODES:
        raise Invalid(f"The map would have {len(nodes)} boxes; {MAX_NODES} can be drawn.")
    part = LineageMap(
        caption=f"Where {arguments.dataset} comes from"[:200],
        nodes=tuple(
            MapNode(
                id=node["id"],
                label=str(node["label"])[:200],
                kind="operation" if node["kind"] == "operation" else "dataset",
            )
            for node in nodes
        ),
        edges=tuple(MapEdge(source=each["from"], target=each["to"]) for each in edges),
    )
    told = json.dumps({"nodes": nodes, "edges": edges}, indent=2, ensure_ascii=False) + "\n"
    stem, versions = _stem(arguments), bench(context).versions
    files = [
        versions.put_file(context.scope, f"{stem}.svg", [draw(part, LIGHT).encode()]),
        versions.put_file(context.scope, f"{stem}.json", [told.encode()]),
    ]
    draft = Draft(
        message=f"Draw the lineage of {arguments.dataset}",
        operation="lineage_map",
        arguments={
            "datasets": [arguments.dataset],
            WRITTEN: [file.path for file in files],
        },
        files={file.path: file.digest for file in files},
    )
    return place.commit(draft, context.branch)


def _upstream(
    found: dict[str, Any], start: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What a node depends on, with the node itself."""
    before: dict[str, list[str]] = {}
    for edge in found["edges"]:
        before.setdefault(edge["to"], []).append(edge["from"])
    reached, waiting = {start}, [start]
    while waiting:
        for each in before.get(waiting.pop(), []):
            if each not in reached:
                reached.add(each)
                waiting.append(each)
    nodes = [node for node in found["nodes"] if node["id"] in reached]
    return nodes, [e for e in found["edges"] if e["from"] in reached and e["to"] in reached]


add_tool(
    name="lineage_map",
    title="Draw a lineage map",
    description=(
        "Draws where a dataset comes from, step by step, and writes it as SVG and JSON into the "
        "project's files."
    ),
    arguments=DrawLineage,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True),
    dry_run=dry_run,
    reconcile=reconciling(written),
)
