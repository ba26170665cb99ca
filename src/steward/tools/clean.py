"""One cleaning operation on one dataset, out of the catalogue."""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import (
    NEW_TARGET,
    SELECTOR,
    TARGET,
    TOOLS,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
)
from steward.tools._changes import BASE, Change, apply_change, change_cost, preview_change
from steward.tools._commits import changed, reconciling


def _named(schema: dict[str, Any]) -> None:
    """Lists the operations in the schema; looked up when it is asked for, so that plug-ins are in it."""
    from steward.analysis.clean import catalogue

    schema["enum"] = sorted([*(name for name, _ in catalogue()), "retype"])


class Clean(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    operation: Annotated[str, SELECTOR] = Field(
        max_length=100, description="What to do, such as trim.", json_schema_extra=_named
    )
    arguments: Annotated[dict[str, Any], SELECTOR] = Field(
        default_factory=dict,
        description="Arguments of the operation, mostly `columns`; a preview says what is wrong with them.",
    )
    target: Annotated[str | None, NEW_TARGET] = Field(
        None, min_length=1, max_length=200, description="Name of the result; unset: the dataset."
    )
    base: Annotated[str | None, SELECTOR] = Field(None, max_length=40, description=BASE)


def _change(arguments: Clean) -> Change:
    return Change(
        arguments.operation,
        (arguments.dataset,),
        arguments.arguments,
        arguments.target,
        arguments.base,
    )


async def dry_run(context: ToolContext, arguments: Clean) -> Preview:
    return await preview_change(context, _change(arguments))


async def run(context: ToolContext, arguments: Clean) -> Outcome:
    return await apply_change(context, _change(arguments))


TOOLS.add(
    "clean",
    Tool(
        name="clean",
        title="Clean a dataset",
        description=(
            "Applies one documented cleaning operation to a dataset, such as trimming spaces, reading dates "
            "and numbers, unifying categories, filling gaps or removing duplicates; previews every changed cell."
        ),
        arguments=Clean,
        risk=Risk.write,
        run=run,
        effects=Effects(reads=True, writes=True),
        dry_run=dry_run,
        reconcile=reconciling(changed),
        estimate=lambda context, arguments: change_cost(context, _change(arguments)),
    ),
)
