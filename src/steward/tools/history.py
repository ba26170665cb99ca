"""The branch's history: names for states, taking back a commit, going back to a state."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from steward.broker import (
    CONTENT,
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
from steward.core import Conflict, NotFound
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import agreed, happened, in_thread_of_call, off_loop, plain
from steward.tools._commits import decrypts, entries, reconciling, workspace
from steward.versions import MAIN, Commit, EntryChange

_MOVED: Final = "The branch changed since the preview was made; look at it again."


class Snapshot(Arguments):
    name: Annotated[str, NEW_TARGET] = Field(
        min_length=1, max_length=200, description="Name of the snapshot or branch."
    )
    kind: Annotated[Literal["tag", "branch"], PLAIN] = Field(
        "tag", description="tag: a name that keeps the state for good; branch: one to go on from."
    )
    source: Annotated[str | None, SELECTOR] = Field(
        None, max_length=200, description="A branch, tag or commit; unset: the run's branch."
    )
    message: Annotated[str, CONTENT] = Field(
        "", max_length=500, description="What the snapshot is for."
    )


class Undo(Arguments):
    commit: Annotated[str | None, TARGET] = Field(
        None, max_length=40, description="The commit to take back; unset: the last one."
    )


class Redo(Arguments):
    pass


class Restore(Arguments):
    to: Annotated[str, TARGET] = Field(
        max_length=200, description="A commit, tag or branch to go back to."
    )
    datasets: Annotated[list[str] | None, TARGET] = Field(
        None, max_length=500, description="Only these datasets; unset with files: everything."
    )
    files: Annotated[list[str] | None, TARGET] = Field(
        None, max_length=500, description="Only these files; unset with datasets: everything."
    )


@in_thread_of_call
def preview_snapshot(context: ToolContext, arguments: Snapshot) -> Preview:
    commit = workspace(context).commit_at(arguments.source or context.branch)
    return Preview(
        summary=f"Name the state {commit.id} as {arguments.kind} {arguments.name!r}",
        details={"commit": commit.id, "message": commit.message},
        payload={"commit": commit.id},
    )


@in_thread_of_call
def snapshot(context: ToolContext, arguments: Snapshot) -> Outcome:
    place = workspace(context)
    start = agreed(context).get("commit") or arguments.source or context.branch
    if arguments.kind == "branch":
        head = place.create_branch(arguments.name, start).head
    else:
        head = place.snapshot(arguments.name, start, arguments.message).commit
    return _named(arguments, head)


def _named(arguments: Snapshot, commit: str) -> Outcome:
    value = {"kind": arguments.kind, "name": arguments.name, "commit": commit}
    return Outcome(
        value=value, summary=f"Created {arguments.kind} {arguments.name!r}", inverse=value
    )


@in_thread_of_call
def forget_snapshot(context: ToolContext, _arguments: Snapshot, inverse: Json) -> Outcome:
    place, name = workspace(context), inverse["name"]
    now = _commit_named(context, inverse["kind"], name)
    # A branch whose work was taken back again is as it was cut.
    kept = inverse["kind"] == "branch" and not place.diff(inverse["commit"], now).entries
    if now != inverse["commit"] and not kept:
        raise Conflict(
            f"{inverse['kind']} {name!r} names another commit by now; it is not removed."
        )
    if inverse["kind"] == "branch":
        place.delete_branch(name)
    else:
        place.delete_snapshot(name)
    return Outcome(value={"removed": name}, summary=f"{inverse['kind']} {name!r} removed")


def _commit_named(context: ToolContext, kind: str, name: str) -> str:
    place = workspace(context)
    if kind == "branch":
        return place.branch(name).head
    found = next((tag.commit for tag in place.tags() if tag.name == name), None)
    if found is None:
        raise NotFound(f"There is no tag called {name!r}.")
    return found


@in_thread_of_call
def reconcile_snapshot(context: ToolContext, arguments: Snapshot, _ticket: Ticket) -> Reconciled:
    """Names are unique: one that is there, by this author, was made by this call or stops it anyway."""
    place = workspace(context)
    known = {
        (item.name, item.created_by)
        for item in (place.branches() if arguments.kind == "branch" else place.tags())
    }
    if (arguments.name, context.author) not in known:
        return Reconciled(Found.not_happened)
    commit = _commit_named(context, arguments.kind, arguments.name)
    return happened(_named(arguments, commit))


@in_thread_of_call
def preview_undo(context: ToolContext, arguments: Undo) -> Preview:
    plan = workspace(context).undo_plan(arguments.commit, context.branch)
    return Preview(
        summary=f"Take back: {plan.commit.message}",
        details={
            "counts": {"entries": len(plan.entries), "dependants": len(plan.dependants)},
            "entries": entries(plan.entries),
            "dependants": plain(plan.dependants),
            "blocked": list(plan.blocked),
        },
        payload={"commit": plan.commit.id, "entries": _wanted(plan.entries)},
    )


def _wanted(changes: tuple[EntryChange, ...]) -> list[list[Any]]:
    return [[each.kind, each.name, each.before, each.after] for each in changes]


async def undo(context: ToolContext, arguments: Undo) -> Outcome:
    def take_back() -> Commit:
        place, promised = workspace(context), agreed(context)
        if "entries" in promised:
            plan = place.undo_plan(arguments.commit, context.branch)
            looked_at = promised.get("commit", plan.commit.id)
            if plan.commit.id != looked_at or _wanted(plan.entries) != promised["entries"]:
                raise Conflict(_MOVED)
        return place.undo(arguments.commit, context.branch, merge_rows=True)

    return await moved(context, await off_loop(take_back))


def _undo_acts(context: ToolContext, arguments: Undo) -> tuple[str, ...]:
    plan = workspace(context).undo_plan(arguments.commit, context.branch)
    return decrypts(context, plan.entries)


def _redo_acts(context: ToolContext, _arguments: Redo) -> tuple[str, ...]:
    head = workspace(context).commit_at(context.branch)
    return decrypts(context, head.changes)


@in_thread_of_call
def preview_redo(context: ToolContext, _arguments: Redo) -> Preview:
    head = workspace(context).branch(context.branch).head
    return Preview(summary="Take back the last undo", payload={"head": head})


async def redo(context: ToolContext, _arguments: Redo) -> Outcome:
    def take_back() -> Commit:
        place, promised = workspace(context), agreed(context).get("head")
        if promised is not None and place.branch(context.branch).head != promised:
            raise Conflict(_MOVED)
        return place.redo(context.branch, merge_rows=True)

    return await moved(context, await off_loop(take_back))


@in_thread_of_call
def preview_restore(context: ToolContext, arguments: Restore) -> Preview:
    found = _restoring(context, arguments)
    return Preview(
        summary=f"Bring {len(found)} datasets and files of {context.branch} back to {arguments.to}",
        details={"counts": {"entries": len(found)}, "entries": entries(found)},
        payload={"entries": _wanted(found)},
    )


def _restoring(context: ToolContext, arguments: Restore) -> tuple[EntryChange, ...]:
    place = workspace(context)
    changes = place.diff(context.branch, arguments.to).entries
    if arguments.datasets is None and arguments.files is None:
        return changes
    chosen = {("dataset", name) for name in arguments.datasets or ()}
    chosen |= {("file", path) for path in arguments.files or ()}
    return tuple(each for each in changes if (each.kind, each.name) in chosen)


async def restore(context: ToolContext, arguments: Restore) -> Outcome:
    def go_back() -> Commit:
        promised = agreed(context).get("entries")
        if promised is not None and _wanted(_restoring(context, arguments)) != promised:
            raise Conflict(_MOVED)
        return workspace(context).restore(
            arguments.to, context.branch, datasets=arguments.datasets, files=arguments.files
        )

    return await moved(context, await off_loop(go_back))


async def moved(_context: ToolContext, commit: Commit) -> Outcome:
    """The outcome of a commit that only moved pointers."""
    return Outcome(
        value={
            "commit": commit.id,
            "counts": {"entries": len(commit.changes)},
            "entries": entries(commit.changes),
        },
        summary=commit.message,
        commits=(commit.id,),
    )


add_tool(
    name="snapshot",
    title="Take a snapshot",
    description="Names the present state: as a tag that keeps it for good, or as a branch to go on from.",
    arguments=Snapshot,
    risk=Risk.write,
    run=snapshot,
    effects=Effects(writes=True),
    dry_run=preview_snapshot,
    undo=forget_snapshot,
    reconcile=reconcile_snapshot,
)
add_tool(
    name="undo",
    title="Take back a commit",
    description=(
        f"Takes back one commit of the run's branch ({MAIN} as a rule) by a new one; shows first what was "
        "built upon it. Taking back an undo is a redo."
    ),
    arguments=Undo,
    risk=Risk.write,
    run=undo,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_undo,
    acts_as=_undo_acts,
    reconcile=reconciling(moved),
)
add_tool(
    name="redo",
    title="Take back the last undo",
    description="Takes back the last undo of the run's branch, as long as nothing new was committed since.",
    arguments=Redo,
    risk=Risk.write,
    run=redo,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_redo,
    acts_as=_redo_acts,
    reconcile=reconciling(moved),
)
add_tool(
    name="restore",
    title="Go back to a state",
    description="Brings the branch, or some datasets and files of it, back to an earlier state.",
    arguments=Restore,
    risk=Risk.write,
    run=restore,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_restore,
    acts_as=lambda context, arguments: decrypts(context, _restoring(context, arguments)),
    reconcile=reconciling(moved),
)
