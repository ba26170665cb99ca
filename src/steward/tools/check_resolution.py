"""Whether a resolution is whole: every source row is mapped once, every entity has rows, and the counts tie out."""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import (
    PLAIN,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Conflict
from steward.tables import literal, quote, session
from steward.tools._branches import BRANCH, on_branch
from steward.tools._calls import bench, off_loop, source
from steward.tools._commits import inputs, reading_cost
from steward.versions import Dataset


class CheckResolution(Arguments):
    datasets: Annotated[list[str], TARGET] = Field(
        min_length=1, max_length=20, description="What was resolved."
    )
    target: Annotated[str, TARGET] = Field(
        min_length=1, max_length=180, description="Name of the golden records."
    )
    entities: Annotated[int | None, PLAIN] = Field(
        None, ge=0, description="How many entities were estimated; another count fails."
    )
    branch: Annotated[str | None, TARGET] = Field(
        None, min_length=1, max_length=200, description=BRANCH
    )


async def run(context: ToolContext, arguments: CheckResolution) -> Outcome:
    context = on_branch(context, arguments.branch)
    checks, read = await off_loop(_checked, context, arguments)
    failed = [each for each in checks if not each["passed"]]
    if failed:
        said = "; ".join(
            f"{each['check']}: {each['expected']:,} expected, {each['found']:,} found"
            for each in failed[:5]
        )
        raise Conflict(f"{arguments.target} does not tie out: {said}.", code="does-not-tie-out")
    return Outcome(
        value={"checks": checks, "target": arguments.target},
        summary=f"{arguments.target} ties out in {len(checks)} checks: no source row is lost",
        sources=tuple(source(each.name, each.version) for each in read),
        cost=Cost(rows=sum(each.rows for each in read)),
    )


def _checked(
    context: ToolContext, arguments: CheckResolution
) -> tuple[list[dict[str, Any]], list[Dataset]]:
    names = [*arguments.datasets, arguments.target, f"{arguments.target} mapping"]
    read = inputs(context, names)
    versions = bench(context).versions
    tables = [versions.table(context.scope, each.version, each.name) for each in read]
    *sources, golden, mapping = tables
    statements = [
        (
            f"rows of {each.name} that are mapped, each once",
            f"SELECT count(*) FROM {each.source}",
            f"""SELECT count(DISTINCT row_number) - (count(*) - count(DISTINCT row_number))
                FROM {mapping.source} WHERE source_table = {literal(each.name)}
                AND entity_id IS NOT NULL""",
        )
        for each in sources
    ]
    every = " + ".join(f"(SELECT count(*) FROM {each.source})" for each in sources)
    statements += [
        ("rows of the mapping", f"SELECT {every}", f"SELECT count(*) FROM {mapping.source}"),
        (
            "rows that the golden records stand for",
            f"SELECT {every}",
            f"SELECT sum({quote('records')})::BIGINT FROM {golden.source}",
        ),
        (
            "golden records that some row belongs to",
            f"SELECT count(*) FROM {golden.source}",
            f"""SELECT count(DISTINCT m.entity_id) FROM {mapping.source} m
                JOIN {golden.source} g USING (entity_id)""",
        ),
        (
            "mapped entities that are golden records",
            f"SELECT count(DISTINCT entity_id) FROM {mapping.source}",
            f"SELECT count(DISTINCT entity_id) FROM {golden.source}",
        ),
    ]
    if arguments.entities is not None:
        estimated = f"SELECT {arguments.entities}"
        statements.append(
            ("entities as estimated", estimated, f"SELECT count(*) FROM {golden.source}")
        )
    checks = []
    with session() as connection:
        for name, expected, found in statements:
            wanted, got = (
                int((connection.execute(sql).fetchone() or (0,))[0] or 0)
                for sql in (expected, found)
            )
            row = {"check": name, "expected": wanted, "found": got, "passed": wanted == got}
            checks.append(row)
    return checks, read


add_tool(
    name="check_resolution",
    title="Check a resolution",
    description=(
        "Checks that golden records account for every source row: none lost, none twice, and all counts "
        "tie out. What does not tie out fails."
    ),
    arguments=CheckResolution,
    risk=Risk.compute,
    run=run,
    effects=Effects(reads=True),
    attempts=2,
    estimate=lambda context, arguments: reading_cost(context, arguments.datasets),
)
