"""What entries mean: their types, one versioned union of them, and how entries from before types are read.

A key identifies an entry, its kind says how the driver treats it, and its type says what happened. Writers state the
type and what the entry is `of`: a call, a step of a plan, a plan, a request to a model. Readers look at types, never
at keys. `lifted` gives journals of version 1 the same types; it is the only place that knows how keys were spelled.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from steward.runs.canonical import Json


class Kind(StrEnum):
    """How the driver treats an entry."""

    created = "run.created"
    step = "step.outcome"
    retry = "step.retry"
    intent = "effect.intent"
    outcome = "effect.outcome"
    opened = "wait.opened"
    closed = "wait.closed"
    note = "note"
    control = "run.control"
    done = "run.done"
    failed = "run.failed"
    cancelled = "run.cancelled"
    undone = "undo"
    redone = "redo"


class EntryType(StrEnum):
    """What happened."""

    run_created = "run.created"
    run_controlled = "run.controlled"
    run_done = "run.done"
    run_failed = "run.failed"
    run_cancelled = "run.cancelled"
    run_checked = "run.checked"
    call_planned = "call.planned"
    call_intended = "call.intended"
    call_done = "call.done"
    call_undone = "call.undone"
    call_redone = "call.redone"
    approval_requested = "approval.requested"
    approval_expired = "approval.expired"
    budget_reserved = "budget.reserved"
    budget_settled = "budget.settled"
    budget_released = "budget.released"
    model_asked = "model.asked"
    context_gathered = "context.gathered"
    plan_made = "plan.made"
    plan_failed = "plan.failed"
    step_started = "step.started"
    step_deviated = "step.deviated"
    step_finished = "step.finished"
    step_skipped = "step.skipped"
    answer_given = "answer.given"
    child_started = "child.started"
    clock_read = "clock.read"
    wait_opened = "wait.opened"
    wait_closed = "wait.closed"
    outcome_recorded = "outcome.recorded"
    attempt_failed = "attempt.failed"
    noted = "noted"


class Mark(NamedTuple):
    """The type of an entry, and what it is about: the key of a call, a step, a plan or a wait."""

    type: str
    of: str


_PLAIN: Final[dict[str, EntryType]] = {
    Kind.created: EntryType.run_created,
    Kind.control: EntryType.run_controlled,
    Kind.done: EntryType.run_done,
    Kind.failed: EntryType.run_failed,
    Kind.cancelled: EntryType.run_cancelled,
    Kind.step: EntryType.outcome_recorded,
    Kind.retry: EntryType.attempt_failed,
    Kind.intent: EntryType.call_intended,
    Kind.outcome: EntryType.call_done,
    Kind.opened: EntryType.wait_opened,
    Kind.closed: EntryType.wait_closed,
    Kind.note: EntryType.noted,
    Kind.undone: EntryType.call_undone,
    Kind.redone: EntryType.call_redone,
}


def plain_mark(kind: Kind, key: str) -> Mark:
    """What an entry means whose writer says nothing more."""
    return Mark(_PLAIN[kind].value, key)


# Journals from before types

_NOTES: Final = (
    (re.compile(r"(plan/\d+)/failed"), EntryType.plan_failed),
    (re.compile(r"(.+)/deviation/\d+"), EntryType.step_deviated),
    (re.compile(r"(.+)/done"), EntryType.step_finished),
)
_STEPS: Final = (
    (re.compile(r"(.+)/(?:plan|edited/[^/]+)"), EntryType.call_planned, {"tool", "arguments"}),
    (re.compile(r"(.+)/approval/[^/]+/request"), EntryType.approval_requested, {"body"}),
    (re.compile(r"(.+)/approval/[^/]+/expired"), EntryType.approval_expired, {"approval_id"}),
    (re.compile(r"(.+)/budget/(?:reserve|\d+/reserve)"), EntryType.budget_reserved, set[str]()),
    (re.compile(r"(.+)/budget/settle"), EntryType.budget_settled, {"cost"}),
    (re.compile(r"(.+)/release"), EntryType.budget_released, set[str]()),
    (re.compile(r"(.+)/equipment"), EntryType.step_started, {"agent"}),
    (re.compile(r"(.+)/start"), EntryType.child_started, {"title", "program"}),
    (re.compile(r"(plan/\d+)"), EntryType.plan_made, {"branch"}),
    (re.compile(r"(context)"), EntryType.context_gathered, set[str]()),
    (re.compile(r"(answer)"), EntryType.answer_given, set[str]()),
    (re.compile(r"(run):(?:artifacts|needs)"), EntryType.run_checked, set[str]()),
)
_STAGE: Final = re.compile(
    r"(?P<of>.+)/(?:window(?:/begun)?|answer|uncertain|(?:approval|budget)/[^/]+)"
)


def lifted(kind: str, key: str, data: Mapping[str, Any]) -> Mark:
    """The mark of an entry of version 1, from how its key was spelled and what it holds."""
    plain = plain_mark(Kind(kind), key)
    if kind == Kind.step:
        return _lifted_step(key, data.get("request"))
    if kind == Kind.note:
        if data.get("skipped") is True:
            return Mark(EntryType.step_skipped.value, key)
        for pattern, type_ in _NOTES:
            if found := pattern.fullmatch(key):
                return Mark(type_.value, found.group(1))
    if kind in {Kind.opened, Kind.closed, Kind.note, Kind.retry}:
        return Mark(plain.type, _owner(key))
    return plain


def _lifted_step(key: str, request: Json) -> Mark:
    asked: Mapping[str, Any] = request if isinstance(request, Mapping) else {}
    if asked == {"clock": "now"}:
        return Mark(EntryType.clock_read.value, _owner(key))
    if {"role", "messages"} <= asked.keys():
        return Mark(EntryType.model_asked.value, key)
    for pattern, type_, holds in _STEPS:
        if (found := pattern.fullmatch(key)) and holds <= asked.keys():
            return Mark(type_.value, found.group(1))
    if {"tool", "arguments"} <= asked.keys():
        return Mark(EntryType.call_done.value, key)
    return Mark(EntryType.outcome_recorded.value, _owner(key))


def _owner(key: str) -> str:
    """What a stage belongs to: its key without the stage of the broker or the note of a node."""
    key = key.partition(":")[0]
    # At the end only: a node may be called `answer` as well.
    stage = _STAGE.fullmatch(key)
    return stage["of"] if stage is not None else key


# The union: what each type holds


class _Data(BaseModel):
    """What an entry holds; a later version may add to it."""

    model_config = ConfigDict(defer_build=True, extra="allow", frozen=True)


class Failure(_Data):
    code: str
    message: str


class Recorded(_Data):
    """What was asked for, and the result or the error that came of it."""

    request: Json
    result: Json = None
    error: Failure | None = None


class AskedCall(_Data):
    tool: str
    arguments: Json


class Called(Recorded):
    request: AskedCall


class Intended(_Data):
    request: Json
    idempotency_key: str
    body_hash: str


class Created(_Data):
    request: dict[str, Any]
    author: str


class Controlled(_Data):
    action: str
    by: str | None = None


class Ended(_Data):
    output: Json = None


class Broken(_Data):
    error: Failure


class Stopped(_Data):
    by: str | None = None


class AskedModel(_Data):
    role: str
    messages: Json


class ModelRecorded(Recorded):
    request: AskedModel


class Settlement(_Data):
    cost: dict[str, Any]


class SettlementRecorded(Recorded):
    request: Settlement


class AskedPlan(_Data):
    branch: int


class PlanRecorded(Recorded):
    request: AskedPlan


class AskedAgent(_Data):
    agent: str


class AgentRecorded(Recorded):
    request: AskedAgent


class Deviation(_Data):
    kind: str
    why: str


class Finished(_Data):
    status: str = "done"
    summary: str = ""


class Opened(_Data):
    request: Json
    expires_at: str | None = None


class Closed(_Data):
    answer: Json


class Attempt(_Data):
    attempt: int
    error: Failure


class _Entry(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True)

    seq: int
    at: str
    key: str
    of: str


class RunCreated(_Entry):
    type: Literal[EntryType.run_created]
    data: Created


class RunControlled(_Entry):
    type: Literal[EntryType.run_controlled]
    data: Controlled


class RunDone(_Entry):
    type: Literal[EntryType.run_done]
    data: Ended


class RunFailed(_Entry):
    type: Literal[EntryType.run_failed]
    data: Broken


class RunCancelled(_Entry):
    type: Literal[EntryType.run_cancelled]
    data: Stopped


class CallPlanned(_Entry):
    type: Literal[EntryType.call_planned]
    data: Called


class CallIntended(_Entry):
    type: Literal[EntryType.call_intended]
    data: Intended


class CallDone(_Entry):
    type: Literal[EntryType.call_done]
    data: Recorded


class CallTurned(_Entry):
    type: Literal[EntryType.call_undone, EntryType.call_redone]
    data: _Data


class ModelAsked(_Entry):
    type: Literal[EntryType.model_asked]
    data: ModelRecorded


class BudgetSettled(_Entry):
    type: Literal[EntryType.budget_settled]
    data: SettlementRecorded


class PlanMade(_Entry):
    type: Literal[EntryType.plan_made]
    data: PlanRecorded


class PlanFailed(_Entry):
    type: Literal[EntryType.plan_failed]
    data: Failure


class StepStarted(_Entry):
    type: Literal[EntryType.step_started]
    data: AgentRecorded


class StepDeviated(_Entry):
    type: Literal[EntryType.step_deviated]
    data: Deviation


class StepFinished(_Entry):
    type: Literal[EntryType.step_finished]
    data: Finished


class Noted(_Entry):
    type: Literal[EntryType.noted, EntryType.step_skipped]
    data: Json


class WaitOpened(_Entry):
    type: Literal[EntryType.wait_opened]
    data: Opened


class WaitClosed(_Entry):
    type: Literal[EntryType.wait_closed]
    data: Closed


class AttemptFailed(_Entry):
    type: Literal[EntryType.attempt_failed]
    data: Attempt


class OutcomeRecorded(_Entry):
    """Everything else that was done and recorded: it holds what was asked for and what came of it."""

    type: Literal[
        EntryType.outcome_recorded,
        EntryType.approval_requested,
        EntryType.approval_expired,
        EntryType.budget_reserved,
        EntryType.budget_released,
        EntryType.context_gathered,
        EntryType.answer_given,
        EntryType.child_started,
        EntryType.clock_read,
        EntryType.run_checked,
    ]
    data: Recorded


TypedEntry = Annotated[
    RunCreated
    | RunControlled
    | RunDone
    | RunFailed
    | RunCancelled
    | CallPlanned
    | CallIntended
    | CallDone
    | CallTurned
    | ModelAsked
    | BudgetSettled
    | PlanMade
    | PlanFailed
    | StepStarted
    | StepDeviated
    | StepFinished
    | Noted
    | WaitOpened
    | WaitClosed
    | AttemptFailed
    | OutcomeRecorded,
    Field(discriminator="type"),
]
ENTRY: Final[TypeAdapter[TypedEntry]] = TypeAdapter(TypedEntry)
"""Reads an entry into its type and refuses what is not shaped as its type says; for entries that come from elsewhere."""
