"""What a call that commits says about it: the same words whether it has just happened or was found after a crash."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from steward.broker import DECRYPT, Artifact, Cost, Outcome, ToolContext
from steward.core import NotFound
from steward.runs import Found, Reconciled, Ticket
from steward.tools._calls import agreed, bench, happened, off_loop, source
from steward.versions import Commit, Dataset, EntryChange, VersionConflict, Workspace, unsealed

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
WRITTEN = "files"
"""The argument of a commit that lists the files it wrote, whether or not they differ from before."""
Describe = Callable[[ToolContext, Commit], Awaitable[Outcome]]


def workspace(context: ToolContext) -> Workspace:
    return bench(context).datasets.workspace(context.scope, context.author, context.run_id)


def inputs(context: ToolContext, names: Sequence[str]) -> list[Dataset]:
    """Datasets of the call's branch."""
    place = workspace(context)
    return [place.dataset(name, context.branch) for name in names]


def version_now(context: ToolContext, name: str) -> str | None:
    try:
        return workspace(context).dataset(name, context.branch).version
    except NotFound:
        return None


def reading_cost(context: ToolContext, names: Sequence[str]) -> Cost:
    """What reading datasets whole uses; names that do not exist are the call's own error, not this one's."""
    found = workspace(context).datasets(context.branch, names)
    return Cost(rows=sum(each.rows for each in found), bytes=sum(each.bytes for each in found))


def promise(context: ToolContext, names: Sequence[str], target: str | None) -> dict[str, Any]:
    """What a preview was made from: hashed into the approval, compared again before the commit."""
    reads = {each.name: each.version for each in inputs(context, names)}
    return {"reads": reads, "replaces": version_now(context, target) if target else None}


def base_as_agreed(context: ToolContext, target: str | None) -> str | None:
    """The commit to build upon; refused when what the preview was made from is no longer there."""
    head = workspace(context).branch(context.branch).head
    said = agreed(context)
    if "reads" not in said:
        return head
    now: dict[str, str | None] = {name: version_now(context, name) for name in said["reads"]}
    moved = sorted(name for name, version in said["reads"].items() if now[name] != version)
    if target and version_now(context, target) != said.get("replaces"):
        moved.append(target)
    if moved:
        raise VersionConflict(
            f"{', '.join(map(repr, dict.fromkeys(moved)))} changed since the preview was made. Look at "
            "the change again before it is carried out."
        )
    return head


def files_of(context: ToolContext, commit: Commit) -> tuple[Artifact, ...]:
    """The files that a commit wrote, those included that were there already, byte for byte."""
    there = {entry.path: entry for entry in workspace(context).files(commit.id)}
    changed = (change.name for change in commit.changes if change.kind == "file" and change.after)
    paths = dict.fromkeys([*changed, *commit.arguments.get(WRITTEN, [])])
    return tuple(
        Artifact(path, media_type(path), there[path].digest, there[path].bytes)
        for path in paths
        if path in there
    )


def media_type(path: str) -> str:
    name = path.rpartition("/")[2]
    return MEDIA_TYPES.get("." + name.rpartition(".")[2].lower(), "application/octet-stream")


def entries(changes: Sequence[EntryChange]) -> list[dict[str, Any]]:
    return [{"kind": each.kind, "name": each.name, "role": each.role} for each in changes]


def decrypts(context: ToolContext, changes: Sequence[EntryChange]) -> tuple[str, ...]:
    """The tool as which a call acts that moves a branch to versions from before a column was encrypted."""
    found = {each.before for each in changes} | {each.after for each in changes}
    versions = {each for each in found if each is not None}
    return (DECRYPT,) if versions and workspace(context).is_sealed(versions) else ()


def undoing(context: ToolContext, commits: Sequence[str]) -> tuple[str, ...]:
    """The same for taking commits back, or bringing them again."""
    place = workspace(context)
    return decrypts(context, [each for one in commits for each in place.commit_at(one).changes])


async def changed(context: ToolContext, commit: Commit) -> Outcome:
    """The outcome of a commit that made or changed one dataset."""
    return await off_loop(describe_change, context, commit)


def describe_change(context: ToolContext, commit: Commit) -> Outcome:
    """The same where the caller has a thread already."""
    versions = bench(context).versions
    made = [each for each in commit.changes if each.kind == "dataset" and each.after]
    read = commit.arguments.get("datasets", [])
    value: dict[str, Any] = {"commit": commit.id, "summary": commit.message}
    sources: list[str] = []
    cost = Cost()
    if made:
        change = made[0]
        version = versions.get(context.scope, change.after or "")
        counts: dict[str, int] = {"rows": version.rows}
        if change.before:
            # Figures only: they give nothing away of a version that the commit itself sealed.
            with unsealed():
                diff = versions.diff(context.scope, change.before, version.id)
            counts |= {
                "added_rows": diff.added,
                "removed_rows": diff.removed,
                "changed_rows": diff.changed,
                "changed_cells": sum(diff.changed_cells.values()),
            }
        value |= {"dataset": change.name, "version": version.id, "counts": counts}
        sources.append(source(change.name, version.id))
        cost = Cost(rows=version.rows, bytes=version.bytes)
    elif read:
        # Nothing differed: the dataset is as it was.
        value |= {"dataset": read[0], "counts": {"changed_rows": 0, "changed_cells": 0}}
    return Outcome(
        value=value,
        summary=commit.message,
        commits=(commit.id,),
        sources=tuple(sources),
        trusted=False,
        cost=cost,
    )


def reconciling(
    describe: Describe,
) -> Callable[[ToolContext, Any, Ticket], Awaitable[Reconciled]]:
    """Looks for the commit that carries the effect's own name: there is one, or it did not happen."""

    async def reconcile(context: ToolContext, _arguments: Any, ticket: Ticket) -> Reconciled:
        def look() -> Sequence[Commit]:
            return workspace(context).commits_on_ticket(ticket.idempotency_key)

        commits = await off_loop(look)
        if not commits:
            return Reconciled(Found.not_happened)
        return happened(await describe(context, commits[-1]))

    return reconcile


def load_outcome(
    context: ToolContext, commit: Commit, named: Sequence[str], sources: tuple[str, ...] = ()
) -> Outcome:
    """What a load brought; `named` are the facts of its commit that say where from."""
    versions = bench(context).versions
    # A file loaded again unchanged makes a commit in which nothing differs.
    made = {
        change.name: versions.get(context.scope, change.after)
        for change in commit.changes
        if change.kind == "dataset" and change.after
    }
    facts = ("dataset", "records", "rejected", "rejects_dataset", "warnings", "alternatives")
    said = {key: commit.arguments.get(key) for key in (*named, *facts)}
    rejected = int(said["rejected"] or 0)
    rows = int(said["records"] or 0) - rejected
    datasets = (source(name, version.id) for name, version in sorted(made.items()))
    return Outcome(
        value={
            "commit": commit.id,
            "rows": rows,
            "counts": {"rows": rows, "rejected": said["rejected"]},
            "datasets": {name: version.id for name, version in sorted(made.items())},
            **said,
        },
        summary=f"{commit.message}: {rows:,} rows, {rejected:,} rejected",
        commits=(commit.id,),
        sources=(*sources, *datasets),
        # Names of files and tables are the sender's.
        trusted=False,
        cost=Cost(rows=rows, bytes=sum(version.bytes for version in made.values())),
    )
