"""What is to be planned: the message, and what came before it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from steward.agents.asking.reading import Reading


@dataclass(frozen=True)
class Exchange:
    """An earlier message of the thread, and what was answered."""

    message: str
    answer: str = ""
    steps: tuple[tuple[str, str, str], ...] = ()
    """What was done: title, reason, what came of it."""


@dataclass(frozen=True)
class Acted:
    """The last call that was about a dataset: what "it" means."""

    tool: str
    arguments: Mapping[str, Any]
    dataset: str


@dataclass(frozen=True)
class Last:
    """The last call that worked in this thread: what a follow-up such as "by month" changes."""

    tool: str
    arguments: Mapping[str, Any]
    columns: tuple[str, ...] = ()
    sql: str | None = None
    run_id: str | None = None
    rows: tuple[tuple[Any, ...], ...] = ()
    """Its rows where they are few; values of data, so not for every model."""


@dataclass(frozen=True)
class Task:
    message: str
    today: date
    nonce: str
    """The word that marks untrusted text in this run's prompts (broker/untrusted.py)."""
    history: tuple[Exchange, ...] = ()
    last: Last | None = None
    acted: Acted | None = None
    mentions: tuple[str, ...] = ()
    """Datasets the person named with @."""
    attachments: tuple[tuple[str, str], ...] = ()
    """Uploads as (id, file name)."""
    commits: tuple[str, ...] = ()
    """Commits that this thread made and that were not taken back, newest last; the branch's head where it made none."""
    commits_are_own: bool = True
    """Off where this thread changed nothing, so that `commits` is about somebody's work."""
    redo: str | None = None
    """The commit to take back so that the last undo is undone."""
    may_see_rows: bool = True
    """Off in schema-only threads: no value of any row goes to a model."""
    failed: str = ""
    """When a plan is made again: what went wrong with the one before, step by step."""
    locale: str | None = None
    """How the person wants numbers and dates, where that is known."""
    reading: Reading | None = None
    """A reading that a person chose or changed: answered as it is."""
    read: Reading | None = None
    """What the last answer was a reading of."""
    proposed: Reading | None = None
    """What the last message was nearly read as, where Steward asked back."""
    offered: tuple[Reading, ...] = ()
    """The readings that Steward offered then."""
    pending: tuple[str, ...] = ()
    """Words of that message that were not used."""
    given: Mapping[str, Any] | None = None
    """A plan that a person chose, such as a recipe's: checked like any other and taken as it is."""

    confirmed: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Questions of the project whose reading somebody confirmed, with it."""
    stages: bool = False
    """Whether the model is asked in short stages, as small ones need it."""

    @classmethod
    def of(
        cls, document: Mapping[str, Any], context: Mapping[str, Any], *, today: date, nonce: str
    ) -> "Task":
        """From a chat run's document and its recorded `context` step."""
        last, acted = context.get("last"), context.get("acted")
        return cls(
            message=str(document["message"]),
            today=today,
            nonce=nonce,
            history=_history(context.get("history") or ()),
            last=_last(last) if isinstance(last, Mapping) else None,
            acted=Acted(**acted) if isinstance(acted, Mapping) else None,
            mentions=tuple(document.get("mentions") or ()),
            attachments=tuple(
                (str(each["upload"]), str(each["name"]))
                for each in document.get("attachments") or ()
            ),
            commits=tuple(context.get("commits") or ()),
            commits_are_own=context.get("own_commits", True),
            redo=context.get("redo"),
            locale=context.get("locale"),
            may_see_rows=document.get("rows", "all") == "all",
            reading=_reading(document.get("reading")),
            read=_reading(context.get("read")),
            proposed=_reading((context.get("proposed") or {}).get("reading")),
            # Turns of earlier releases did not record what was offered.
            offered=_readings((context.get("proposed") or {}).get("offered", ())),
            pending=tuple((context.get("proposed") or {}).get("unused", ())),
            given=document.get("plan"),
            confirmed=_confirmed(context.get("definitions")),
            # Turns from before there were stages have none.
            stages=bool(context.get("stages")),
        )


def _confirmed(definitions: Any) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    questions = definitions.get("questions") if isinstance(definitions, Mapping) else None
    return tuple(
        (str(each["ask"]), each["reading"])
        for each in questions or ()
        if each.get("state") == "confirmed"
    )


def _reading(data: Any) -> Reading | None:
    return Reading.model_validate(data) if isinstance(data, Mapping) else None


def _readings(data: Sequence[Any]) -> tuple[Reading, ...]:
    return tuple(reading for each in data if (reading := _reading(each)) is not None)


def _history(said: Sequence[Mapping[str, Any]]) -> tuple[Exchange, ...]:
    return tuple(
        Exchange(
            str(each.get("message") or ""),
            str(each.get("answer") or ""),
            tuple(
                (str(step["title"]), str(step["reason"]), str(step["summary"]))
                for step in each.get("steps") or ()
            ),
        )
        for each in said
    )


def _last(data: Mapping[str, Any]) -> Last:
    columns = [
        str(each["name"]) if isinstance(each, Mapping) else str(each)
        for each in data.get("columns") or ()
    ]
    return Last(
        str(data["tool"]),
        dict(data.get("arguments") or {}),
        tuple(columns),
        data.get("sql"),
        data.get("run_id"),
        tuple(
            tuple(row.values()) if isinstance(row, Mapping) else tuple(row)
            for row in data.get("rows") or ()
        ),
    )
