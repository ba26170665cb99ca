"""Personal data masked, hashed or dropped."""

from typing import Annotated

from pydantic import Field

from steward.analysis import Method
from steward.broker import NEW_TARGET, SELECTOR, TARGET, Arguments
from steward.tools._changes import BASE, Change, add_change_tool

KEPT = "Earlier versions of the dataset still hold the original values until they are expired."


class Redact(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")
    columns: Annotated[dict[str, Method], SELECTOR] = Field(
        min_length=1,
        max_length=500,
        description="Column → how: mask (letters become x), hash (with the project's key) or drop.",
    )
    target: Annotated[str | None, NEW_TARGET] = Field(
        None, min_length=1, max_length=200, description="Name of the result; unset: the dataset."
    )
    base: Annotated[str | None, SELECTOR] = Field(None, max_length=40, description=BASE)


def _change(arguments: Redact) -> Change:
    methods = {name: method.model_dump() for name, method in arguments.columns.items()}
    return Change(
        "redact", (arguments.dataset,), {"columns": methods}, arguments.target, arguments.base
    )


add_change_tool(
    name="redact",
    title="Redact personal data",
    description="Masks, hashes or drops columns of a dataset; the preview never shows the old values.",
    arguments=Redact,
    change=_change,
    note=KEPT,
)
