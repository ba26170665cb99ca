"""What a chat turn knows when it begins: the recipe by which its context is built, recorded once.

In this order, each within its share: datasets of the branch as schema cards with the facts that profiles already found;
the last messages of the person with the answers, newest kept longest; the last call that worked, by reference, so that
"those again but by month" has something to change; commits of this thread, for undo; skills by name and purpose; tools
that the project brings. No row of data is read for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, Protocol

from steward.agents.checking import Catalogue, Relation, ToolFacts
from steward.agents.planning.facts import DatasetFacts, facts_from, relations_from
from steward.agents.roster import Roster
from steward.agents.threads import Threads
from steward.broker.broker import Broker
from steward.broker.grants import Grant
from steward.broker.story import Call, story
from steward.broker.tool import Risk
from steward.core.errors import NotFound
from steward.data.workbench import Workbench
from steward.models import Role
from steward.runs import Json, Run, Runs
from steward.store import Scope

WINDOW: Final = 8
"""Earlier turns that are remembered; the last successful call is looked for among them too."""
_LONGEST_MESSAGE: Final = 1_000
_LONGEST_ANSWER: Final = 600
_MOST_COMMITS: Final = 20
_QUERIES: Final = ("execute_query_plan", "execute_sql", "query")
_RESULTS: Final = (*_QUERIES, "execute_python", "preview", "chart")


class Card(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...


class Shelf(Protocol):
    def catalogue(self, scope: Scope) -> Sequence[Card]: ...


class Configured(Protocol):
    def configured(self, role: Role) -> bool: ...


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
    ) -> None:
        self._workbench = workbench
        self._threads = threads
        self._runs = runs
        self._broker = broker
        self._roster = roster
        self._desk = desk
        self._skills = skills

    def gather(self, run: Run, document: Mapping[str, Json], grant: Json) -> Json:
        """Everything as plain values, for the journal. Blocking."""
        scope, branch = run.scope, Grant.from_json(grant).branch
        datasets = facts_from(self._workbench, scope, run.created_by, branch)
        past = self._past(scope, document)
        calls = [(run_id, call) for run_id, _, told in past for call in told]
        shelf = self._skills.catalogue(scope) if self._skills is not None else ()
        return {
            "datasets": [each.to_json() for each in datasets.values()],
            "relations": [
                asdict(each)
                for each in relations_from(self._workbench, scope, run.created_by, branch)
            ],
            "history": [said for _, said, _ in past],
            "last": _last(calls),
            "commits": self._commits(scope, run.created_by, branch, calls),
            "skills": {card.name: card.description for card in shelf},
            "tools": self._project_tools(scope),
            "forbidden": sorted(self._broker.forbidden(run, grant)),
            "models": {role.value: self._desk.configured(role) for role in Role},
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
        )

    def _project_tools(self, scope: Scope) -> Json:
        return {
            tool.name: {
                "title": tool.title,
                "description": tool.description,
                "risk": tool.risk.value,
                "schema": tool.schema(),
            }
            for tool in self._broker.tools.listed(scope)
            if tool.pin is not None
        }

    def _past(
        self, scope: Scope, document: Mapping[str, Json]
    ) -> list[tuple[str, Json, list[Call]]]:
        parent = document.get("parent")
        if parent is None:
            return []
        try:
            turns = self._threads.history(scope, document["thread_id"], parent, WINDOW)
        except NotFound:
            return []
        return [self._remembered(scope, turn.run_id, turn.message) for turn in turns]

    def _remembered(self, scope: Scope, run_id: str, message: str) -> tuple[str, Json, list[Call]]:
        calls = story(self._runs.journal.entries(scope, run_id), self._runs.payload)
        outcome = self._runs.outcome(scope, run_id) or {}
        output = outcome.get("output")
        answer = output.get("answer", "") if isinstance(output, dict) else ""
        if not answer:
            answer = " ".join(call.summary for call in calls if call.summary)
        said = {
            "run_id": run_id,
            "message": message[:_LONGEST_MESSAGE],
            "answer": str(answer)[:_LONGEST_ANSWER],
        }
        return run_id, said, [call for call in calls if call.tool is not None]

    def _commits(
        self, scope: Scope, author: str, branch: str, calls: Iterable[tuple[str, Call]]
    ) -> list[str]:
        own = [
            commit
            for _, call in calls
            if not call.undone and call.tool != "undo"
            for commit in call.commits
        ]
        if own:
            return own[-_MOST_COMMITS:]
        workspace = self._workbench.datasets.workspace(scope, author)
        return [workspace.commit_at(branch).id]


def _last(calls: Sequence[tuple[str, Call]]) -> Json:
    """Of the last turn that found something its query, else whatever it looked at."""
    found = [each for each in calls if each[1].tool in _RESULTS and each[1].state == "done"]
    if not found:
        return None
    run_id = found[-1][0]
    latest = [call for run, call in found if run == run_id]
    call = ([call for call in latest if call.tool in _QUERIES] or latest)[-1]
    value: dict[str, Any] = call.value if isinstance(call.value, dict) else {}
    return {
        "run_id": run_id,
        "tool": call.tool,
        "arguments": call.arguments,
        "columns": value.get("columns") or [],
        "sql": value.get("compiled_sql") or value.get("sql"),
    }
