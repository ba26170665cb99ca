"""The way without a model: a message that starts with SQL:, PLAN: or PYTHON: is one call, run at once as it stands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from steward.agents import PRIORITY, thread_of
from steward.core import Invalid, Problem, copied
from steward.flows.launch import Launcher, Start
from steward.runs import Call, Json, Run, RunRequest, Runs, calls_of
from steward.store import Scope

QueryType = Literal["sql", "plan", "python"]

_TOOLS: Final[Mapping[QueryType, tuple[str, str]]] = {
    "sql": ("execute_sql", "sql"),
    "plan": ("execute_query_plan", "plan"),
    "python": ("execute_python", "code"),
}
"""By the kind of query: the tool that runs it, and the argument that takes its text."""

_KIND_OF: Final = {tool: kind for kind, (tool, _) in _TOOLS.items()}
_PREFIX: Final = re.compile(r"\s*(SQL|PLAN|PYTHON):[ \t]*\n?(.*)", re.DOTALL | re.IGNORECASE)
_LONGEST_TITLE: Final = 120


@dataclass(frozen=True)
class Question:
    """A query to run as it stands."""

    kind: QueryType
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the tool, such as parameters and limit."""

    @property
    def tool(self) -> str:
        return _TOOLS[self.kind][0]

    @property
    def arguments(self) -> dict[str, Any]:
        return {_TOOLS[self.kind][1]: self.text, **self.options}

    def without_secrets(self, launcher: Launcher, scope: Scope) -> "Question":
        """As it may be kept, before its title is cut, which could then hold half a secret."""
        typed = {"text": self.text, "options": dict(self.options)}
        return replace(self, **launcher.scrub(scope, typed))

    @property
    def title(self) -> str:
        first = " ".join(self.text.split())
        return f"{self.kind.upper()}: {first}"[:_LONGEST_TITLE]


def question_in(message: str) -> Question | None:
    """The query in a message; None where only a model could make sense of it."""
    found = _PREFIX.fullmatch(message)
    if found is None:
        return None
    word: str = found.group(1).lower()
    kind = next(each for each in _TOOLS if each == word)
    text = found.group(2).strip("\n").rstrip()
    if not text.strip():
        raise Invalid(
            f"There is nothing after {kind.upper()}: to run.",
            problems=[Problem("/message", "holds no query")],
        )
    return Question(kind, text)


def query_request(
    launcher: Launcher, question: Question, *, branch: str = "main", scope: Scope
) -> RunRequest:
    """The one call as a run; whoever is sitting there waits, so it goes before other work."""
    question = question.without_secrets(launcher, scope)
    start = Start(
        document=launcher.single(question.tool, question.arguments, question.title),
        title=question.title,
        branch=branch,
        priority=PRIORITY,
    )
    return launcher.request(start, scope)


@dataclass(frozen=True)
class Message:
    """A question of a thread with what came of it, read from its run."""

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
    result: Json
    artifacts: list[Json]
    error: Json
    created_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None
    """What the call itself took."""


def message_of(runs: Runs, run: Run) -> Message:
    calls = calls_of(runs.journal.entries(run.scope, run.id), runs.payload)
    call = calls[0] if calls else Call("call")
    tool, arguments = _asked(runs, run)
    kind = _KIND_OF.get(tool)
    query = str(arguments.get(_TOOLS[kind][1], "")) if kind else ""
    value = call.value if isinstance(call.value, dict) else {}
    outcome = runs.outcome(run.scope, run.id) or {}
    return copied(
        Message,
        run,
        run_id=run.id,
        thread_id=thread_of(run),
        question=f"{kind.upper()}: {query}" if kind else run.title,
        query_type=kind,
        query=query,
        status=run.status.value,
        summary=call.summary,
        plan=value.get("plan") or (query if kind == "plan" else None),
        sql=value.get("compiled_sql") or value.get("sql") or (query if kind == "sql" else None),
        code=query if kind == "python" else None,
        result=call.value,
        artifacts=call.artifacts,
        error=outcome.get("error") or call.error,
        seconds=call.cost["seconds"] if call.cost else None,
    )


def _asked(runs: Runs, run: Run) -> tuple[str, dict[str, Any]]:
    """The one call of the run's flow, as it was asked."""
    document = runs.request(run.scope, run.id).document
    nodes = document.get("nodes", []) if isinstance(document, dict) else []
    node = nodes[0] if len(nodes) == 1 else {}
    arguments = node.get("arguments")
    return str(node.get("tool", "")), _meant(arguments if isinstance(arguments, dict) else {})


def _meant(arguments: dict[str, Any]) -> dict[str, Any]:
    """Texts without the escapes that keep a flow from reading them as expressions."""
    return {
        name: value.replace("$${", "${") if isinstance(value, str) else value
        for name, value in arguments.items()
    }
