"""What a chat turn knows when it begins: the recipe by which its context is built, recorded once.

In this order, each within its share: datasets of the branch as schema cards with the facts that profiles already found;
the last messages of the person with the answers, newest kept longest; the last call that worked, by reference, so that
"those again but by month" has something to change; commits of this thread, for undo; skills by name and purpose; tools
that the project brings. No row of data is read for it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from steward.agents.asking.values import ValueIndexes, find_values
from steward.agents.asking.world import FoundValue
from steward.agents.chat.threads import Threads
from steward.agents.operating.roster import Roster
from steward.agents.planning.plan_checks import Catalogue, Relation, ToolFacts
from steward.broker import Broker, Grant, Risk, tools_that_answer
from steward.core import NotFound
from steward.definitions import (
    DatasetFacts,
    Definitions,
    effective,
    facts_from,
    propose_definitions,
    relations_from,
)
from steward.models import Role
from steward.runs import Call, Json, Run, Runs, calls_of
from steward.store import Scope
from steward.workbench import Workbench

WINDOW: Final = 8
"""Earlier turns that are remembered; the last successful call is looked for among them too."""
_LONGEST_MESSAGE: Final = 1_000
_LONGEST_ANSWER: Final = 600
_MOST_COMMITS: Final = 20
_MOST_ROWS: Final = 10
_LONGEST_REASON: Final = 300


class Card(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...


class Shelf(Protocol):
    def catalogue(self, scope: Scope) -> Sequence[Card]: ...


class Configured(Protocol):
    def configured(self, scope: Scope | None, role: Role) -> bool: ...
    def plans_in_stages(self, scope: Scope | None) -> bool: ...


class Contexts:
    def __init__(
        self,
        workbench: Workbench,
        threads: Threads,
        runs: Runs,
        broker: Broker,
        roster: Roster,
        desk: Configured,
        skills: Shelf | None = None,
        locale_of: Callable[[str], str | None] = lambda _: None,
        definitions: Callable[[Scope], Definitions] = lambda _: Definitions(),
        title_of: Callable[[Scope], str] = lambda _: "",
    ) -> None:
        """`locale_of` a user: how they want numbers and dates, where they said so; `definitions` that people gave;

        `title_of` a project: its name.
        """
        self._title_of = title_of
        self._definitions = definitions
        self._workbench = workbench
        self._threads = threads
        self._runs = runs
        self._broker = broker
        self._roster = roster
        self._desk = desk
        self._skills = skills
        self._locale_of = locale_of
        self._indexes = ValueIndexes()

    def gather(self, run: Run, document: Mapping[str, Json], grant: Json) -> Json:
        """Everything as plain values, for the journal. Blocking."""
        scope, branch = run.scope, Grant.from_json(grant).branch
        self._workbench.insights.learn(scope, run.created_by, branch)
        datasets = facts_from(self._workbench, scope, run.created_by, branch)
        past = self._past(scope, document)
        calls = [(run_id, call) for run_id, _, told in past for call in told]
        shelf = self._skills.catalogue(scope) if self._skills is not None else ()
        changes = _changes(calls)
        relations = relations_from(self._workbench, scope, run.created_by, branch)
        definitions = effective(self._definitions(scope), propose_definitions(datasets, relations))
        return {
            "datasets": [each.to_json() for each in datasets.values()],
            "relations": [asdict(each) for each in relations],
            "definitions": definitions.model_dump(mode="json", exclude_defaults=True),
            "found": [asdict(each) for each in self._found(scope, document, datasets)],
            "title": self._title_of(scope),
            "history": [said for _, said, _ in past],
            "last": _last(calls),
            "acted": _acted(calls),
            "commits": changes.there or self._head(scope, run.created_by, branch, changes),
            "own_commits": bool(changes.there),
            "redo": changes.redo,
            "locale": self._locale(run.created_by),
            "skills": {card.name: card.description for card in shelf},
            "tools": self._project_tools(scope, Grant.from_json(grant).tools),
            "forbidden": sorted(self._broker.forbidden(run, grant)),
            "read": past[-1][1]["read"] if past else None,
            "proposed": past[-1][1]["proposed"] if past else None,
            "models": {role.value: self._desk.configured(scope, role) for role in Role},
            "stages": self._desk.plans_in_stages(scope),
        }

    def catalogue(self, context: Mapping[str, Json], grant: Json) -> Catalogue:
        """What a plan may name, from the record."""
        known = Grant.from_json(grant)
        tools = {name: ToolFacts.of(tool) for name, tool in self._broker.tools.installed}
        for name, facts in context["tools"].items():
            tools[name] = ToolFacts(
                facts["title"], facts["description"], Risk(facts["risk"]), facts["schema"]
            )
        datasets = [DatasetFacts.from_json(each) for each in context["datasets"]]
        return Catalogue(
            tools={name: facts for name, facts in tools.items() if name in known.tools},
            agents=self._roster,
            datasets={each.name: each for each in datasets},
            skills=context["skills"],
            forbidden=frozenset(context["forbidden"]),
            highest_risk=known.highest_risk,
            relations=tuple(Relation(**each) for each in context["relations"]),
            # Journals from before definitions have none.
            definitions=Definitions.model_validate(context["definitions"])
            if "definitions" in context
            else None,
            found=tuple(FoundValue(**each) for each in context.get("found", ())),
            title=context.get("title", ""),
        )

    def _found(
        self, scope: Scope, document: Mapping[str, Json], datasets: Mapping[str, DatasetFacts]
    ) -> list[FoundValue]:
        """Values of profiled datasets that the message names."""
        tables = {
            name: self._indexes.of(
                scope.project_id, facts.version, partial(self._values, scope, name, facts.version)
            )
            for name, facts in datasets.items()
            if facts.profiled
        }
        return find_values(str(document.get("message", "")), tables)

    def _values(self, scope: Scope, name: str, version: str) -> Mapping[str, Sequence[str]]:
        values: Mapping[str, Sequence[str]]
        values = self._workbench.insights.values(scope, name, version)["columns"]
        return values

    def _project_tools(self, scope: Scope, granted: Collection[str]) -> Json:
        """The project's own tools: those it lists, and those that the turn was given besides."""
        listed = {tool.name: tool for tool in self._broker.tools.listed(scope)}
        further = self._broker.tools.searched(scope, set(granted) - listed.keys())
        return {
            tool.name: {
                "title": tool.title,
                "description": tool.description,
                "risk": tool.risk.value,
                "schema": tool.schema(),
            }
            for tool in sorted({**listed, **further}.values(), key=lambda tool: tool.name)
            if tool.pin is not None
        }

    def _past(
        self, scope: Scope, document: Mapping[str, Json]
    ) -> list[tuple[str, Json, list[Call]]]:
        parent = document.get("parent")
        if parent is None:
            return []
        try:
            turns = self._threads.turns.history(scope, document["thread_id"], parent, WINDOW)
        except NotFound:
            return []
        return [self._remembered(scope, turn.run_id, turn.message) for turn in turns]

    def _remembered(self, scope: Scope, run_id: str, message: str) -> tuple[str, Json, list[Call]]:
        calls = calls_of(self._runs.journal.entries(scope, run_id), self._runs.payload)
        outcome = self._runs.outcome(scope, run_id) or {}
        output = outcome.get("output")
        answer = output.get("answer", "") if isinstance(output, dict) else ""
        if not answer:
            answer = " ".join(call.summary for call in calls if call.summary)
        said = {
            "run_id": run_id,
            "message": message[:_LONGEST_MESSAGE],
            "answer": str(answer)[:_LONGEST_ANSWER],
            "steps": _steps(output, calls),
            "read": _read(output),
            "proposed": _proposed(output),
        }
        return run_id, said, [call for call in calls if call.tool is not None]

    def _locale(self, user_id: str) -> str | None:
        try:
            return self._locale_of(user_id)
        except NotFound:
            # Runs outlive the people who began them.
            return None

    def _head(self, scope: Scope, author: str, branch: str, changes: "_Changes") -> list[str]:
        """Where this thread changed nothing, the branch's last commit is what undo is about."""
        if changes.redo is not None:
            return []
        workspace = self._workbench.datasets.workspace(scope, author)
        return [workspace.commit_at(branch).id]


@dataclass
class _Changes:
    """Commits of a thread as they stand after everything that was taken back, and taken back again."""

    there: list[str] = field(default_factory=list)
    taken_back: list[tuple[str, str]] = field(default_factory=list)
    """A commit, and the commit that took it back."""

    @property
    def redo(self) -> str | None:
        """What to take back so that the last undo is undone."""
        return self.taken_back[-1][1] if self.taken_back else None

    def undo(self, commit: str, by: str) -> None:
        again = next((pair for pair in self.taken_back if pair[1] == commit), None)
        if again is not None:
            self.taken_back.remove(again)
            self.there.append(again[0])
        elif commit in self.there:
            self.there.remove(commit)
            self.taken_back.append((commit, by))


def _changes(calls: Sequence[tuple[str, Call]]) -> _Changes:
    found = _Changes()
    for _, call in calls:
        if call.state != "done" or call.undone:
            continue
        if call.tool == "undo":
            if call.commits:
                found.undo(str((call.arguments or {}).get("commit")), call.commits[-1])
        elif call.commits:
            # What was taken back before a new change stays so.
            found.taken_back.clear()
            found.there += call.commits
    found.there = found.there[-_MOST_COMMITS:]
    return found


def _steps(output: Any, calls: Sequence[Call]) -> Json:
    """What a turn did and why, for whoever asks about it later."""
    planned = output.get("plan") if isinstance(output, dict) else None
    plan = planned.get("plan") if isinstance(planned, dict) else None
    steps = plan.get("steps") if isinstance(plan, dict) else None
    if not isinstance(steps, list):
        return [
            {"title": call.tool or "", "reason": "", "summary": call.summary[:_LONGEST_REASON]}
            for call in calls
            if call.tool is not None
        ]
    told = {each["id"]: each for each in output.get("steps", ())}
    return [
        {
            "title": step["title"],
            "reason": step["reason"][:_LONGEST_REASON],
            "summary": str(told.get(step["id"], {}).get("summary", ""))[:_LONGEST_REASON],
        }
        for step in steps
    ]


def _read(output: Any) -> Json:
    """What an answer was a reading of; only what was answered is there to be followed up."""
    asked = output.get("reading") if isinstance(output, dict) else None
    if not isinstance(asked, dict) or asked.get("status") != "fact":
        return None
    return asked.get("reading")


def _proposed(output: Any) -> Json:
    """What was asked back: the first of the readings, the words that it does not use, and all to choose from."""
    asked = output.get("reading") if isinstance(output, dict) else None
    if not isinstance(asked, dict) or asked.get("status") != "proposal" or not asked.get("reading"):
        return None
    unused = [str(each["word"]) for each in asked.get("unused") or ()]
    offered = asked.get("nearest") or []
    return {"reading": asked["reading"], "unused": unused, "offered": offered}


def _acted(calls: Sequence[tuple[str, Call]]) -> Json:
    """The last call that was about a dataset, and which: what "it" and "the rows" mean."""
    for _, call in reversed(calls):
        given = call.arguments if isinstance(call.arguments, dict) else {}
        several = given.get("datasets")
        names = [given.get("target"), given.get("dataset"), *(several or [])[:1]]
        plan = given.get("plan")
        if isinstance(plan, dict):
            names.append(plan.get("source"))
        named = next((name for name in names if isinstance(name, str)), None)
        if call.state == "done" and named is not None:
            return {"tool": call.tool, "arguments": given, "dataset": named}
    return None


def _last(calls: Sequence[tuple[str, Call]]) -> Json:
    """Of the last turn that found something its query, else whatever it looked at."""
    queries = tools_that_answer("query")
    shown = queries | tools_that_answer("rows")
    found = [each for each in calls if each[1].tool in shown and each[1].state == "done"]
    if not found:
        return None
    run_id = found[-1][0]
    latest = [call for run, call in found if run == run_id]
    call = ([call for call in latest if call.tool in queries] or latest)[-1]
    value: dict[str, Any] = call.value if isinstance(call.value, dict) else {}
    return {
        "run_id": run_id,
        "tool": call.tool,
        "arguments": call.arguments,
        "columns": value.get("columns") or [],
        "rows": _few_rows(value.get("rows")),
        "sql": value.get("compiled_sql") or value.get("sql"),
    }


def _few_rows(rows: Any) -> list[Any]:
    """The rows of a short result, so that "show me those" knows which; none of a long one."""
    return rows if isinstance(rows, list) and len(rows) <= _MOST_ROWS else []
