"""A branch below the run's own: what it would change here, and bringing that in as one commit."""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import TARGET, Arguments, Effects, Outcome, Preview, Risk, ToolContext, add_tool
from steward.core import Bug
from steward.runs import Json
from steward.tools._branches import on_branch
from steward.tools._calls import agreed, bench, off_loop, source
from steward.tools._commits import decrypts, entries, reconciling, workspace
from steward.versions import Commit, EntryChange, VersionConflict

_SOURCE = "The branch, which lies below the run's own; a person who does it by hand may name any."


class CompareBranch(Arguments):
    source: Annotated[str, TARGET] = Field(min_length=1, max_length=200, description=_SOURCE)


class Promote(CompareBranch):
    commit: Annotated[str | None, TARGET] = Field(
        None,
        max_length=40,
        description="The state of the branch that was looked at; another one is refused.",
    )


def _compared(context: ToolContext, branch: str) -> dict[str, Any]:
    _refuse_foreign(context, branch)
    place = workspace(context)
    head, here = place.branch(branch).head, place.branch(context.branch).head
    found = place.diff(context.branch, branch).entries
    return {
        "source": branch,
        "into": context.branch,
        "commit": head,
        "base": here,
        "entries": [_counted(context, each) for each in found],
    }


def _refuse_foreign(context: ToolContext, branch: str) -> None:
    """What a program brings in comes from its own branches; a person chooses."""
    if not context.direct:
        on_branch(context, branch)


def _acts_as(context: ToolContext, arguments: Promote) -> tuple[str, ...]:
    return decrypts(context, workspace(context).diff(context.branch, arguments.source).entries)


def _counted(context: ToolContext, change: EntryChange) -> dict[str, Json]:
    said: dict[str, Json] = {"kind": change.kind, "name": change.name, "role": change.role}
    if change.kind != "dataset":
        return said
    versions = bench(context).versions
    if change.before and change.after:
        diff = versions.diff(context.scope, change.before, change.after)
        return said | {"added": diff.added, "removed": diff.removed, "changed": diff.changed}
    only = change.after or change.before
    if only is None:
        raise Bug("A difference has neither a before nor an after.")
    rows = versions.get(context.scope, only).rows
    return said | {"added": rows if change.after else 0, "removed": 0 if change.after else rows}


async def compare(context: ToolContext, arguments: CompareBranch) -> Outcome:
    found = await off_loop(_compared, context, arguments.source)
    return Outcome(
        value=found,
        summary=f"{len(found['entries'])} datasets and files of {arguments.source} differ",
        trusted=False,
    )


async def preview_promote(context: ToolContext, arguments: Promote) -> Preview:
    found = await off_loop(_compared, context, arguments.source)
    _refuse_moved(arguments, found["commit"])
    return Preview(
        summary=(
            f"Bring {len(found['entries'])} datasets and files of {arguments.source} into {context.branch}"
        ),
        details={"counts": {"entries": len(found["entries"])}, **found},
        payload={"commit": found["commit"], "entries": found["entries"]},
    )


def _refuse_moved(arguments: Promote, head: str) -> None:
    if arguments.commit is not None and arguments.commit != head:
        raise VersionConflict(
            f"{arguments.source!r} changed since it was looked at; compare it again before promoting it."
        )


async def promote(context: ToolContext, arguments: Promote) -> Outcome:
    def merge() -> Commit | None:
        _refuse_foreign(context, arguments.source)
        place = workspace(context)
        promised = arguments.commit or agreed(context).get("commit")
        head = place.branch(arguments.source).head
        if promised is not None and promised != head:
            _refuse_moved(Promote(source=arguments.source, commit=str(promised)), head)
        # The state itself and not the branch: whatever moves it now does not come along.
        message = f"Promote {arguments.source}"
        return place.merge(head, context.branch, message=message).commit

    made = await off_loop(merge)
    if made is None:
        return Outcome(
            value={"commit": None, "counts": {"entries": 0}, "entries": []},
            summary=f"{context.branch} has everything of {arguments.source} already",
        )
    return await promoted(context, made)


async def promoted(context: ToolContext, commit: Commit) -> Outcome:
    made = [each for each in commit.changes if each.kind == "dataset" and each.after]
    return Outcome(
        value={
            "commit": commit.id,
            "counts": {"entries": len(commit.changes)},
            "entries": entries(commit.changes),
            # Datasets that both sides had changed, in other rows each.
            "merged_rows": commit.arguments.get("merged_rows", []),
        },
        summary=f"{commit.message}: {len(commit.changes)} datasets and files in {context.branch}",
        commits=(commit.id,),
        sources=tuple(source(each.name, each.after or "") for each in made),
        trusted=False,
    )


add_tool(
    name="compare_branch",
    title="Compare a branch",
    description="What a branch below the run's own would change there: datasets with rows, and files.",
    arguments=CompareBranch,
    risk=Risk.read,
    run=compare,
    effects=Effects(reads=True),
    attempts=2,
)
add_tool(
    name="promote",
    title="Promote a branch",
    description="Brings a branch below the run's own into it, as one commit that can be taken back.",
    arguments=Promote,
    risk=Risk.write,
    run=promote,
    effects=Effects(reads=True, writes=True),
    dry_run=preview_promote,
    acts_as=_acts_as,
    reconcile=reconciling(promoted),
)
