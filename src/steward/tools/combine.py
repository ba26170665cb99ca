"""Several datasets become one: joined on keys, or put under one another."""

from typing import Annotated, Literal

from pydantic import Field

from steward.broker import NEW_TARGET, PLAIN, SELECTOR, TARGET, Arguments
from steward.tools._changes import BASE, Change, add_change_tool


class KeyPair(Arguments):
    left: str = Field(max_length=500, description="Column of the first dataset.")
    right: str = Field(max_length=500, description="Column of the other datasets.")


class _Combining(Arguments):
    datasets: Annotated[list[str], TARGET] = Field(
        min_length=2, max_length=20, description="Names, two or more."
    )
    target: Annotated[str, NEW_TARGET] = Field(
        min_length=1, max_length=200, description="Name of the result."
    )
    provenance: Annotated[str | None, PLAIN] = Field(
        None,
        max_length=200,
        description="Name of an extra column that says where a row comes from.",
    )
    base: Annotated[str | None, SELECTOR] = Field(None, max_length=40, description=BASE)


class Join(_Combining):
    on: Annotated[list[KeyPair], SELECTOR] = Field(
        min_length=1, max_length=20, description="Columns that must be equal, all of them."
    )
    how: Annotated[Literal["inner", "left", "right", "full", "semi", "anti"], PLAIN] = Field(
        "left", description="Which rows stay when there is no match."
    )
    key_normalisation: Annotated[Literal["exact", "trim", "case", "compact", "number"], PLAIN] = (
        Field(
            "exact",
            description=(
                "How keys are compared: as written; without spaces around; in any case; by letters and digits "
                "only; also without leading zeros."
            ),
        )
    )


class Union(_Combining):
    mapping: Annotated[dict[str, dict[str, str]] | None, SELECTOR] = Field(
        None, description="Output column → dataset → its column; unset: by name and content."
    )
    distinct: Annotated[bool, PLAIN] = Field(
        False, description="Leave out rows equal to an earlier one."
    )


def _join(arguments: Join) -> Change:
    return Change(
        "join",
        tuple(arguments.datasets),
        {
            "on": [(pair.left, pair.right) for pair in arguments.on],
            "how": arguments.how,
            "key_normalisation": arguments.key_normalisation,
            "provenance": arguments.provenance,
        },
        arguments.target,
        arguments.base,
    )


def _union(arguments: Union) -> Change:
    return Change(
        "union",
        tuple(arguments.datasets),
        {
            "mapping": arguments.mapping,
            "distinct": arguments.distinct,
            "provenance": arguments.provenance,
        },
        arguments.target,
        arguments.base,
    )


add_change_tool(
    name="join",
    title="Join datasets",
    description="Joins datasets to the first one on pairs of columns and keeps the result as a dataset.",
    arguments=Join,
    change=_join,
)
add_change_tool(
    name="union",
    title="Put datasets under one another",
    description="Puts the rows of datasets under one another and keeps the result as a dataset.",
    arguments=Union,
    change=_union,
)
