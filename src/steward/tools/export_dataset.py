"""A dataset as a file to download: CSV, Excel, Parquet, Delta or Iceberg. Nothing of the project changes."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from steward.broker import (
    PLAIN,
    SELECTOR,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Risk,
    ToolContext,
    add_tool,
)
from steward.tools._calls import bench, heavy, source
from steward.tools._commits import inputs, reading_cost
from steward.workbench import Exported, Format

LOCATION = r"^([a-z][a-z0-9]*:/)?(/[A-Za-z0-9 ._=()-]+)+$"


class ExportDataset(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    format: Annotated[Format, PLAIN] = Field(
        description="What kind of file; delta and iceberg: a table of that kind in a zip."
    )
    version: Annotated[str | None, SELECTOR] = Field(
        None, max_length=100, description="A version of it; unset: that of the branch."
    )
    several_sheets: Annotated[bool, PLAIN] = Field(
        False, description="For more rows than a sheet of Excel holds: go on on further sheets."
    )
    convert_types: Annotated[bool, PLAIN] = Field(
        False, description="For Iceberg: agree to convert columns whose type it does not have."
    )
    location: Annotated[str | None, PLAIN] = Field(
        None,
        max_length=500,
        pattern=LOCATION,
        description=(
            "For Iceberg: where the unpacked table will be, such as s3://bucket/orders; unset: in the folder "
            "from which it is opened."
        ),
    )


async def run(context: ToolContext, arguments: ExportDataset) -> Outcome:
    return await heavy(context, _exported, context, arguments)


def _exported(context: ToolContext, arguments: ExportDataset) -> Outcome:
    name = arguments.dataset
    version = arguments.version or inputs(context, [name])[0].version
    made: Exported = bench(context).outputs.export(
        context.scope,
        name,
        version,
        arguments.format,
        several_sheets=arguments.several_sheets,
        convert_types=arguments.convert_types,
        location=arguments.location,
    )
    return Outcome(
        value={"dataset": name, "version": version, "file": asdict(made)},
        summary=f"Exported {made.rows:,} rows of {name} as {made.filename}; kept for a day",
        sources=(source(name, version),),
        cost=Cost(rows=made.rows, bytes=made.bytes),
    )


add_tool(
    name="export_dataset",
    title="Export a dataset",
    description=(
        "Writes a dataset as a CSV, Excel, Parquet, Delta or Iceberg file, which can be downloaded from the run for a day."
    ),
    arguments=ExportDataset,
    risk=Risk.compute,
    run=run,
    effects=Effects(reads=True, hands_out=True),
    timeout=timedelta(hours=2),
    attempts=2,
    estimate=lambda context, arguments: reading_cost(context, [arguments.dataset]),
)
