"""A run as the routes about it answer: its row, an entry of its journal, a key of a step."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from steward.api.documents import Input, Output
from steward.runs import Run

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


def run_out(run: Run) -> RunOut:
    return RunOut.model_validate(run)
