"""Columns encrypted and decrypted, and permission to see the plain values for an hour."""

from datetime import timedelta
from typing import Annotated, Final

from pydantic import Field

from steward.analysis import Mode
from steward.broker import (
    DECRYPT,
    NEW_TARGET,
    PLAIN,
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
from steward.core import Conflict, Invalid
from steward.tools._calls import agreed, clock_of, off_loop, source
from steward.tools._changes import BASE, Change, add_change_tool
from steward.tools._commits import workspace

REVEALED_FOR: Final = timedelta(hours=1)


class OfDataset(Arguments):
    dataset: Annotated[str, TARGET] = Field(max_length=200, description="Name of the dataset.")


class Changing(OfDataset):
    target: Annotated[str | None, NEW_TARGET] = Field(
        None, min_length=1, max_length=200, description="Name of the result; unset: the dataset."
    )
    base: Annotated[str | None, SELECTOR] = Field(None, max_length=40, description=BASE)


class EncryptColumns(Changing):
    columns: Annotated[dict[str, Mode], SELECTOR] = Field(
        min_length=1,
        max_length=500,
        description="Column → deterministic (equal values still join and group) or random.",
    )
    new_key: Annotated[bool, PLAIN] = Field(
        False,
        description="Use a new key of the project from now on. Values encrypted before stay readable.",
    )


class DecryptColumns(Changing):
    columns: Annotated[list[str], SELECTOR] = Field(
        min_length=1, max_length=500, description="Names of encrypted columns."
    )


class RevealColumns(OfDataset):
    columns: Annotated[list[str], SELECTOR] = Field(
        [], max_length=500, description="Encrypted columns to see; unset: all of them."
    )
    at: Annotated[str | None, SELECTOR] = Field(
        None,
        max_length=200,
        description="A branch, tag or commit, such as one from before the encryption; unset: the run's branch.",
    )


def _encryption(arguments: EncryptColumns) -> Change:
    given = {"columns": dict(arguments.columns), "new_key": arguments.new_key}
    return Change("encrypt_columns", (arguments.dataset,), given, arguments.target, arguments.base)


def _decryption(arguments: DecryptColumns) -> Change:
    given = {"columns": arguments.columns}
    return Change("decrypt_columns", (arguments.dataset,), given, arguments.target, arguments.base)


async def reveal(context: ToolContext, arguments: RevealColumns) -> Outcome:
    """Gives no value, only permission: what a run gives is kept in its journal for everybody."""

    def permit() -> Outcome:
        place = workspace(context)
        found = place.dataset(arguments.dataset, arguments.at or context.branch)
        chosen = arguments.columns or list(found.encrypted)
        if not place.is_sealed([found.version]):
            plain = [each for each in chosen if each not in found.encrypted]
            if plain or not chosen:
                what = f"Column {plain[0]!r}" if plain else f"No column of {found.name!r}"
                raise Invalid(
                    f"{what} is {'not ' if plain else ''}encrypted.", code="not-encrypted"
                )
        promised = agreed(context).get("version", found.version)
        if promised != found.version:
            raise Conflict("The dataset changed since the preview was made. Ask again.")
        until = clock_of(context).now() + REVEALED_FOR
        return Outcome(
            value={
                "dataset": found.name,
                "version": found.version,
                "columns": chosen,
                "until": until.isoformat(),
            },
            summary=f"Plain values of {found.name!r} can be read until {until:%Y-%m-%d %H:%M} UTC",
            sources=(source(found.name, found.version),),
        )

    return await off_loop(permit)


async def preview_reveal(context: ToolContext, arguments: RevealColumns) -> Preview:
    found = await reveal(context, arguments)
    columns = found.value["columns"]
    return Preview(
        summary=f"Show values of {', '.join(columns) or 'every column'} for an hour",
        details={"dataset": arguments.dataset, "columns": columns},
        irreversible="What a person has seen cannot be taken back.",
        payload={"version": found.value["version"], "columns": columns},
    )


add_change_tool(
    name="encrypt_columns",
    title="Encrypt columns",
    description=(
        "Encrypts columns of a dataset value by value; only people who may decrypt see the values. "
        "Deterministic values still join and group, random ones tell nothing."
    ),
    arguments=EncryptColumns,
    change=_encryption,
)
add_change_tool(
    name=DECRYPT,
    title="Decrypt columns",
    description="Stores the plain values of encrypted columns again, for everyone in the project.",
    arguments=DecryptColumns,
    change=_decryption,
    risk=Risk.secret,
)
add_tool(
    name="reveal_columns",
    title="Show encrypted values",
    description=(
        "Lets the person who calls it read plain values of encrypted columns for an hour, also of versions "
        "from before they were encrypted. The values are in no run and reach no model."
    ),
    arguments=RevealColumns,
    risk=Risk.secret,
    run=reveal,
    dry_run=preview_reveal,
    # It leaves a permission behind, and a person takes the values along.
    effects=Effects(reads=True, writes=True, hands_out=True),
    direct_only=True,
    idempotent=True,
)
