"""The map of a process from its transitions: what follows what, how often and how long it takes, as a drawing."""

from typing import Annotated, Any, Final

from pydantic import Field

from steward.broker import (
    NEW_TARGET,
    SELECTOR,
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
from steward.tables import quote, session
from steward.tools._calls import bench, off_loop
from steward.tools._commits import (
    WRITTEN,
    base_as_agreed,
    inputs,
    promise,
    reading_cost,
    reconciling,
    workspace,
)
from steward.tools.documents import drawn_stem, written
from steward.versions import Commit, Draft

FOLDER: Final = "maps"
_Transition = tuple[str, str, int, float | None]


class DrawProcess(Arguments):
    dataset: Annotated[str, TARGET] = Field(
        max_length=200, description="Transitions, one row each."
    )
    from_column: Annotated[str, SELECTOR] = Field(
        max_length=500, description="Column with the activity before."
    )
    to_column: Annotated[str, SELECTOR] = Field(
        max_length=500, description="Column with the activity after."
    )
    count_column: Annotated[str, SELECTOR] = Field(
        max_length=500, description="Column that says how often."
    )
    hours_column: Annotated[str | None, SELECTOR] = Field(
        None, max_length=500, description="Column that says how long it takes, in hours."
    )
    name: Annotated[str | None, NEW_TARGET] = Field(
        None,
        min_length=1,
        max_length=100,
        pattern=r"^[^/\\\x00-\x1f]+$",
        description="File name without folder and ending; unset: that of the dataset.",
    )


def _path(arguments: DrawProcess) -> str:
    return f"{drawn_stem(FOLDER, arguments.name or arguments.dataset, 'process')}.svg"


async def dry_run(context: ToolContext, arguments: DrawProcess) -> Preview:
    promised = await off_loop(promise, context, [arguments.dataset], None)
    return Preview(
        summary=f"Draw the process of {arguments.dataset}",
        details={"files": [_path(arguments)]},
        payload=promised,
    )


async def run(context: ToolContext, arguments: DrawProcess) -> Outcome:
    return await written(context, await off_loop(_draw, context, arguments))


def _draw(context: ToolContext, arguments: DrawProcess) -> Commit:
    from steward.output import LIGHT, draw

    base_as_agreed(context, None)
    drawn = draw(_map(arguments, _transitions(context, arguments)), LIGHT)
    file = bench(context).versions.put_file(context.scope, _path(arguments), [drawn.encode()])
    draft = Draft(
        message=f"Draw the process of {arguments.dataset}",
        operation="process_map",
        arguments={"datasets": [arguments.dataset], WRITTEN: [file.path]},
        files={file.path: file.digest},
    )
    return workspace(context).commit(draft, context.branch)


def _transitions(context: ToolContext, arguments: DrawProcess) -> list[_Transition]:
    from steward.output import MAX_NODES

    (found,) = inputs(context, [arguments.dataset])
    known = {column.name for column in found.columns}
    hours = arguments.hours_column
    named = [arguments.from_column, arguments.to_column, arguments.count_column]
    missing = [name for name in [*named, *([hours] if hours else [])] if name not in known]
    if missing:
        raise Invalid(f"{arguments.dataset} has no column {missing[0]!r}.")
    first, second, count = (quote(name) for name in named)
    lasting = f"CAST({quote(hours)} AS DOUBLE)" if hours else "NULL"
    source = bench(context).versions.table(context.scope, found.version, found.name).source
    with session() as connection:
        rows: list[Any] = connection.execute(
            f"""SELECT CAST({first} AS VARCHAR), CAST({second} AS VARCHAR), CAST({count} AS BIGINT), {lasting}
                FROM {source} WHERE {first} IS NOT NULL AND {second} IS NOT NULL
                ORDER BY 3 DESC, 1, 2 LIMIT {MAX_NODES}"""
        ).fetchall()
    if not rows:
        raise Invalid(f"{arguments.dataset} has no transitions to draw.")
    return rows


def _map(arguments: DrawProcess, transitions: list[_Transition]) -> Any:
    """Activities as boxes, and between them what happened how often: the most frequent that find room."""
    from steward.output import MAX_NODES, LineageMap, MapEdge, MapNode

    nodes: dict[str, MapNode] = {}
    edges: list[MapEdge] = []
    for number, (before, after, times, hours) in enumerate(transitions):
        new = {f"activity:{name}"[:200]: name for name in (before, after)}
        if len(nodes.keys() | new.keys()) + 1 > MAX_NODES:
            break
        for key, name in new.items():
            nodes.setdefault(key, MapNode(id=key, label=name[:200] or "–", kind="dataset"))
        lasting = "" if hours is None else f"{hours:,.1f} h on average"
        middle = MapNode(
            id=f"move:{number}", label=f"{times:,} times", detail=lasting, kind="operation"
        )
        nodes[middle.id] = middle
        edges += [
            MapEdge(source=f"activity:{before}"[:200], target=middle.id),
            MapEdge(source=middle.id, target=f"activity:{after}"[:200]),
        ]
    return LineageMap(
        caption=f"Process of {arguments.dataset}"[:200],
        nodes=tuple(nodes.values()),
        edges=tuple(edges),
    )


add_tool(
    name="process_map",
    title="Draw a process map",
    description=(
        "Draws a process from a dataset of transitions, with how often each happens and how long it takes, "
        "as SVG into the project's files."
    ),
    arguments=DrawProcess,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True),
    dry_run=dry_run,
    reconcile=reconciling(written),
    estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
)
