"""The documents of chat: messages, turns, and what a question is answered with."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from steward.agents import SHOWN_ROWS, Asked, Kind, Turn, thread_of, turn_document
from steward.api.documents import Output
from steward.app import Steward
from steward.core import NotFound, copied
from steward.flows import Message, message_of
from steward.identity import Access
from steward.runs import Run
from steward.store import Scope

QueryType = Literal["sql", "plan", "python"]


class ThreadSettingsOut(Output):
    rows: Literal["all", "schema-only"]
    review: Literal["changes", "always", "never"]


class ThreadOut(Output):
    id: str
    title: str
    branch: str
    settings: ThreadSettingsOut
    head: str | None = Field(description="The run of the turn at which the conversation stands.")
    turns: int
    created_by: str
    created_at: datetime
    updated_at: datetime


class AttachmentOut(Output):
    upload: str
    name: str
    size: int


class ReviewOut(Output):
    state: Literal["none", "waiting", "approved", "rejected", "changed"]
    by: str | None
    skip: list[str]


class TurnPlanOut(Output):
    branch: int = Field(description="1 for the first plan; a plan made after a failure comes next.")
    made_by: Literal["model", "rules", "fallback", "person"]
    model: str | None
    plan: dict[str, Any]
    proposed: dict[str, Any] | None = Field(
        description="The plan as it was before a person changed it in the review."
    )
    problems: list[str]
    repaired: bool
    said: str
    review: ReviewOut


class TurnCallOut(Output):
    key: str
    tool: str | None
    title: str
    risk: str
    state: str
    arguments: Any
    decision: Any
    preview: Any
    summary: str
    value: Any = Field(description="Of rows the first 100; `rows_in_all` says how many there are.")
    artifacts: list[Any]
    commits: list[str]
    approvals: list[Any]
    cost: Any
    error: Any
    undone: bool


class TurnStepOut(Output):
    branch: int
    id: str
    title: str
    agent: str
    tools: list[str]
    fallback_tools: list[str]
    status: Literal[
        "pending", "running", "waiting", "done", "failed", "skipped", "rolled_back"
    ]  # fmt: skip
    summary: str
    calls: list[TurnCallOut]


class TurnCostOut(Output):
    usd: str | None = Field(description="As far as prices are known; null where none is.")
    is_priced: bool = Field(description="Whether the amount is all of it.")
    tokens: int
    seconds: float = Field(description="Without the time in which it waited for a person.")


class ReadingOut(Asked):
    """What a question was taken to ask."""

    model_config = ConfigDict(defer_build=True, json_schema_serialization_defaults_required=True)


class RhythmOut(Output):
    every: Literal["day", "weekday", "week", "month"]
    weekday: str = Field(description="Of a week: its number as cron counts, Sunday 0.")
    time: str
    said: str = Field(description="As the person wrote it.")


class TurnOut(Output):
    run_id: str
    thread_id: str
    parent: str | None
    siblings: list[str] = Field(description="Turns of the same parent, oldest first, with itself.")
    message: str
    mentions: list[str]
    attachments: list[AttachmentOut]
    query_type: QueryType | None
    status: str
    waits: list[dict[str, Any]]
    plans: list[TurnPlanOut]
    steps: list[TurnStepOut]
    answer: str | None
    figures: list[dict[str, Any]]
    reading: ReadingOut | None = Field(
        description="What the question was taken to ask, in chips; null for work that is no question about tables."
    )
    chart: dict[str, Any] | None = Field(
        description="The chart of the rows that answer: a Vega-Lite `spec` and a `description`."
    )
    deviations: list[dict[str, Any]]
    suggestions: list[dict[str, Any]]
    rhythm: RhythmOut | None = Field(description="How often the message wants it, if it says so.")
    cost: TurnCostOut
    error: dict[str, Any] | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    undoable: bool


class ExhibitOut(Output):
    run_id: str
    message: str = Field(description="What was asked when it was made.")
    created_at: datetime
    branch: int = Field(description="The branch of the plan; 0 for a query.")
    step: str
    step_title: str
    key: str = Field(description="The call that made it.")
    tool: str
    kind: Kind
    name: str
    media_type: str
    size: int | None
    digest: str | None = Field(description="Of a file of the run; a table has none.")
    columns: list[str]
    rows: list[Any] = Field(description="The first rows of a table.")
    rows_in_all: int | None
    undone: bool


class MessageOut(Output):
    run_id: str
    thread_id: str | None
    question: str
    query_type: QueryType | None
    query: str
    status: str
    summary: str
    plan: str | None
    sql: str | None
    code: str | None
    result: Any
    artifacts: list[Any]
    error: dict[str, Any] | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None


class ChatOut(Output):
    thread_id: str
    run_id: str
    status: str
    answer: str = Field(description="The result in words.")
    message: MessageOut
    turn: TurnOut | None


def turns_out(steward: Steward, scope: Scope, turns: Sequence[Turn]) -> list[TurnOut]:
    about = _about(steward, scope)
    return [_turn_out(steward, scope, turn, about) for turn in turns]


def turn_out(steward: Steward, scope: Scope, turn: Turn) -> TurnOut:
    return turns_out(steward, scope, [turn])[0]


def _turn_out(
    steward: Steward, scope: Scope, turn: Turn, about: Callable[[str], tuple[str, str]]
) -> TurnOut:
    runs = steward.runs
    run = runs.get(scope, turn.run_id)
    entries = list(runs.journal.entries(scope, turn.run_id))
    return TurnOut.model_validate(turn_document(turn, run, entries, runs.payload, about))


def _about(steward: Steward, scope: Scope) -> Callable[[str], tuple[str, str]]:
    """Title and risk of tools, each looked up once."""
    known: dict[str, tuple[str, str]] = {}

    def about(name: str) -> tuple[str, str]:
        if name not in known:
            try:
                tool = steward.governing.broker.tools.get(scope, name)
                known[name] = (tool.title, tool.risk.value)
            except NotFound:
                known[name] = (name, "")
        return known[name]

    return about


def chat_out(steward: Steward, access: Access, run: Run) -> ChatOut:
    """What is answered once a run is over, or when nobody waits any longer."""
    found = steward.threads.turns.of_run(access.scope, run.id)
    turn = turn_out(steward, access.scope, found) if found is not None else None
    message = message_out(steward, run, turn, None)
    said = (message.error or {}).get("message") or message.summary
    return ChatOut(
        thread_id=thread_of(run) or "",
        run_id=run.id,
        status=run.status.value,
        answer=said or run.reason or f"The run is {run.status.value.replace('_', ' ')}.",
        message=message,
        turn=turn,
    )


def message_out(
    steward: Steward, run: Run, turn: TurnOut | None, most_rows: int | None = SHOWN_ROWS
) -> MessageOut:
    if turn is not None and turn.query_type is None:
        return _planned_message(run, turn)
    return _query_message(message_of(steward.runs, run), most_rows)


def _planned_message(run: Run, turn: TurnOut) -> MessageOut:
    calls = [call for step in turn.steps for call in step.calls if call.state == "done"]
    last = calls[-1].value if calls else None
    return copied(
        MessageOut,
        turn,
        run_id=run.id,
        question=turn.message,
        query_type=None,
        query="",
        summary=turn.answer or "",
        plan=None,
        sql=last.get("compiled_sql") or last.get("sql") if isinstance(last, dict) else None,
        code=None,
        result=last,
        artifacts=[item for call in calls for item in call.artifacts],
        error=None if turn.answer else turn.error,
        started_at=run.started_at,
        seconds=turn.cost.seconds,
    )


def _query_message(found: Message, most_rows: int | None) -> MessageOut:
    fields = asdict(found)
    result = fields["result"]
    rows = result.get("rows") if isinstance(result, dict) else None
    if most_rows is not None and isinstance(rows, list) and len(rows) > most_rows:
        fields["result"] = {**result, "rows": rows[:most_rows], "rows_in_all": len(rows)}
    return MessageOut(**fields)
