"""Columns encrypted and decrypted, and permission to see the plain values for an hour."""

from collections.abc import Sequence
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
from steward.core import Invalid
from steward.tools._calls import clock_of, off_loop, source
from steward.tools._changes import BASE, Change, apply_change, preview_change
from steward.tools._commits import changed, reading_cost, reconciling, workspace
from steward.versions import MAIN

REVEALED_FOR: Final = timedelta(hours=1)
_LISTED: Final = 20


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


async def preview_encryption(context: ToolContext, arguments: EncryptColumns) -> Preview:
    note = await off_loop(_what_stays, context, arguments)
    return await preview_change(context, _encryption(arguments), note)


def _what_stays(context: ToolContext, arguments: EncryptColumns) -> str:
    """Where the plain values can still be read afterwards, and by whom."""
    found = workspace(context).exposure(arguments.dataset, list(arguments.columns))
    said = []
    if arguments.target not in (None, arguments.dataset):
        said.append(f"{arguments.dataset!r} itself keeps the plain values.")
    elif context.branch != MAIN:
        said.append(f"Earlier versions are protected once this is on the branch {MAIN!r}.")
    else:
        said.append(
            f"{_counted(found.versions, 'version')} of the dataset up to now {_hold(found.versions)} the plain "
            "values. From now on only people who may decrypt can read or restore them. Undo brings the plain "
            "values back and needs the same permission. Retention removes old versions for good."
        )
    if found.related:
        said.append(f"Related datasets may hold the same values: {_named(found.related)}.")
    said.append("Files that were loaded, results of earlier runs, chats and backups do not change.")
    return " ".join(said)


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def _hold(count: int) -> str:
    return "holds" if count == 1 else "hold"


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(map(repr, names[:_LISTED])) + more


async def encrypt(context: ToolContext, arguments: EncryptColumns) -> Outcome:
    return await apply_change(context, _encryption(arguments))


async def preview_decryption(context: ToolContext, arguments: DecryptColumns) -> Preview:
    note = "Everyone who may look at the project's data can read the values afterwards."
    return await preview_change(context, _decryption(arguments), note)


async def decrypt(context: ToolContext, arguments: DecryptColumns) -> Outcome:
    return await apply_change(context, _decryption(arguments))


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


add_tool(
    name="encrypt_columns",
    title="Encrypt columns",
    description=(
        "Encrypts columns of a dataset value by value; only people who may decrypt see the values. "
        "Deterministic values still join and group, random ones tell nothing."
    ),
    arguments=EncryptColumns,
    risk=Risk.write,
    run=encrypt,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_encryption,
    reconcile=reconciling(changed),
    estimate=lambda context, arguments: reading_cost(context, (arguments.dataset,)),
)
add_tool(
    name=DECRYPT,
    title="Decrypt columns",
    description="Stores the plain values of encrypted columns again, for everyone in the project.",
    arguments=DecryptColumns,
    risk=Risk.secret,
    run=decrypt,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_decryption,
    reconcile=reconciling(changed),
    estimate=lambda context, arguments: reading_cost(context, (arguments.dataset,)),
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
    effects=Effects(reads=True),
    direct_only=True,
    idempotent=True,
)
