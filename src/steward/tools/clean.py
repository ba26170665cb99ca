"""One cleaning operation on one dataset, out of the catalogue."""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import NEW_TARGET, SELECTOR, TARGET, Arguments
from steward.tools._changes import BASE, Change, add_change_tool


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


add_change_tool(
    name="clean",
    title="Clean a dataset",
    description=(
        "Applies one documented cleaning operation to a dataset, such as trimming spaces, reading dates "
        "and numbers, unifying categories, filling gaps or removing duplicates; previews every changed cell."
    ),
    arguments=Clean,
    change=_change,
)
