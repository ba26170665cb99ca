"""A run as the routes about it answer: its row, an entry of its journal, a key of a step."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from steward.api.documents import Input, Output
from steward.app import Steward
from steward.core import NotFound
from steward.identity import Access

StatusName = Literal[
    "queued", "running", "blocked", "waiting_for_approval", "reviewing", "done", "failed",
    "cancelled",
]  # fmt: skip
StepKey = Annotated[str, Field(min_length=1, max_length=400)]


class RunOut(Output):
    id: str
    title: str
    program: str
    subject: str | None
    status: StatusName
    reason: str | None
    queue: str
    priority: int
    control: str | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    parent_id: str | None
    root_id: str
    forked_from: str | None
    progress: dict[str, Any] | None
    waits: list[dict[str, Any]] | None


class ListedRun(RunOut):
    cost_usd: float | None = Field(
        description="What the run and all below it cost so far; null before it begins."
    )


class RunDetail(RunOut):
    document: Any
    inputs: Any
    grant: dict[str, Any]
    budget: dict[str, Any]
    usage: dict[str, Any]
    output: Any
    error: dict[str, Any] | None
    entries: int
    head_hash: str


class EntryOut(Output):
    seq: int
    type: str = Field(description="What happened, as in `call.planned` or `wait.opened`.")
    of: str = Field(description="The key of the call, step, plan or wait that it is about.")
    kind: str
    key: str
    at: datetime
    data: dict[str, Any]
    hash: str


class KeyIn(Input):
    key: StepKey


def run_detail(steward: Steward, access: Access, run_id: str) -> RunDetail:
    """A run with what it was asked and what came of it."""
    run = steward.runs.get(access.scope, run_id)
    asked = steward.runs.request(access.scope, run_id)
    outcome = steward.runs.outcome(access.scope, run_id) or {}
    try:
        usage = steward.governing.budgets.status(run).to_json()
    except NotFound:
        # It has not begun, so nothing was used.
        usage = {}
    head = steward.runs.journal.head(access.scope, run_id)
    return RunDetail(
        **RunOut.model_validate(run).model_dump(),
        document=asked.document,
        inputs=asked.inputs,
        grant=asked.grant,
        budget=asked.budget,
        usage=usage,
        output=outcome.get("output"),
        error=outcome.get("error"),
        entries=head.seq,
        head_hash=head.hash,
    )
