"""A branch that is done with: removed by name, brought back where it was."""

from typing import Annotated

from pydantic import Field

from steward.broker import TARGET, Arguments, Effects, Outcome, Preview, Risk, ToolContext, add_tool
from steward.core import Conflict
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._branches import on_branch
from steward.tools._calls import agreed, bench, happened, in_thread_of_call
from steward.tools._commits import workspace


class DeleteBranch(Arguments):
    name: Annotated[str, TARGET] = Field(
        min_length=1, max_length=200, description="Name of the branch."
    )


@in_thread_of_call
def preview(context: ToolContext, arguments: DeleteBranch) -> Preview:
    _refuse_foreign(context, arguments.name)
    head = workspace(context).branch(arguments.name).head
    return Preview(
        summary=f"Delete the branch {arguments.name!r}",
        details={"commit": head},
        payload={"commit": head},
    )


def _refuse_foreign(context: ToolContext, name: str) -> None:
    if not context.direct:
        on_branch(context, name)


@in_thread_of_call
def run(context: ToolContext, arguments: DeleteBranch) -> Outcome:
    _refuse_foreign(context, arguments.name)
    place, promised = workspace(context), agreed(context).get("commit")
    head = place.branch(arguments.name).head
    if promised is not None and promised != head:
        raise Conflict(
            f"The branch {arguments.name!r} changed since the preview was made; look at it again."
        )
    # Undo must find the commit, whatever retention removes meanwhile.
    bench(context).versions.pin(context.scope, "run", context.run_id, commits=(head,))
    place.delete_branch(arguments.name)
    return _deleted(arguments.name, head)


def _deleted(name: str, head: str | None) -> Outcome:
    value = {"name": name, "commit": head}
    return Outcome(value=value, summary=f"Deleted the branch {name!r}", inverse=value)


@in_thread_of_call
def bring_back(context: ToolContext, _arguments: DeleteBranch, inverse: Json) -> Outcome:
    made = workspace(context).create_branch(inverse["name"], inverse["commit"])
    value = {"name": made.name, "commit": made.head}
    return Outcome(value=value, summary=f"Brought back the branch {made.name!r}")


@in_thread_of_call
def reconcile(context: ToolContext, arguments: DeleteBranch, ticket: Ticket) -> Reconciled:
    """Names are unique: a branch that is gone was deleted by this call, or by another that stops it anyway."""
    if any(branch.name == arguments.name for branch in workspace(context).branches()):
        return Reconciled(Found.not_happened)
    payload = ticket.request.get("payload") or {}
    return happened(_deleted(arguments.name, payload.get("commit")))


add_tool(
    name="delete_branch",
    title="Delete a branch",
    description="Removes a branch that is done with; its commits stay, and undo brings it back where it was.",
    arguments=DeleteBranch,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    undo=bring_back,
    reconcile=reconcile,
)
