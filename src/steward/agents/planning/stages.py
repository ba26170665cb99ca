"""Planning in stages, for small models: first what kind of work it is, then a narrow question about that kind alone.

A question about tables is put as a form with closed lists: the tables that matter, their columns, and every field
required. What the model fills in becomes the same plan contract as everything else, and is checked the same way.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from steward.agents.operating.roster import Agent, Roster
from steward.agents.planning.examples import Example, worked_examples
from steward.agents.planning.forms import FORM, form_of, form_of_reading, form_schema
from steward.agents.planning.plan_checks import Catalogue, ToolFacts
from steward.agents.planning.prompt import Recipe, opening
from steward.agents.planning.task import Task
from steward.agents.planning.words import overlap, words_of
from steward.broker import Risk, disarmed, system_rule, wrap_untrusted
from steward.core import package_yaml
from steward.definitions import ColumnFacts, DatasetFacts
from steward.models import Message, System, User

MOST_TABLES: Final = 3
MOST_COLUMNS: Final = 24
_MOST_BESIDE: Final = 12
"""Columns of the tables that the question is less likely about."""
_MOST_LISTED: Final = 30
_MOST_VALUES: Final = 5
_FEW: Final = 12
QUERY_TOOL: Final = "execute_query_plan"
KINDS: Final[Mapping[str, str]] = {
    "question": "answer a question from the tables: numbers, lists, rankings, rows",
    "look": "list, preview, profile or compare tables, explain or find out about data",
    "change": "change, clean, combine, load or delete data, or undo something",
    "send": "send, export, schedule or report something",
}
KIND_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"kind": {"enum": list(KINDS)}},
    "required": ["kind"],
    "additionalProperties": False,
}
_RISKS: Final[Mapping[str, frozenset[Risk]]] = {
    "look": frozenset({Risk.read, Risk.compute}),
    "change": frozenset({Risk.write, Risk.destructive}),
    "send": frozenset({Risk.external_send}),
}
_RECIPE: Final = Recipe(tokens=900, examples=1, history=2)


@dataclass(frozen=True)
class Stage:
    """What is asked in the second stage: the messages, the schema of the answer, and what it is over."""

    messages: list[Message]
    schema: dict[str, Any] | None
    catalogue: Catalogue
    is_form: bool
    """Whether the answer is a form, or a plan as it stands."""


def kind_messages(task: Task, catalogue: Catalogue) -> list[Message]:
    """The first stage: one choice."""
    listed = "\n".join(f"- {kind}: {words}" for kind, words in KINDS.items())
    names = ", ".join(
        disarmed(name, task.nonce) for name in list(catalogue.datasets)[:_MOST_LISTED]
    )
    last = "\nIt follows up on an earlier question about the tables." if _last_form(task) else ""
    return [
        System(f'What kind of work is asked for? Answer as JSON: {{"kind": ...}}.\n{listed}'),
        User(f"Tables: {names or 'none'}{last}\nMessage: {task.message}"),
    ]


def kind_in(document: Any) -> str:
    """The chosen kind; a question where it is none of them."""
    kind = str(document.get("kind")) if isinstance(document, Mapping) else ""
    return kind if kind in KINDS else "question"


def second_stage(kind: str, task: Task, catalogue: Catalogue) -> Stage:
    confirmed = confirmed_examples(task, catalogue)
    tables = relevant_tables(task, catalogue)
    narrow = replace(catalogue, datasets={table.name: table for table in tables})
    if kind == "question" and tables and catalogue.usable(QUERY_TOOL):
        return Stage(
            _form_messages(task, narrow, confirmed), form_schema(narrow), narrow, is_form=True
        )
    narrow = _for_kind(kind, narrow, task)
    return Stage(opening(task, narrow, _RECIPE), None, narrow, is_form=False)


def relevant_tables(task: Task, catalogue: Catalogue) -> list[DatasetFacts]:
    """The few that the message is most likely about, and what they point at."""
    wanted = words_of(task.message)
    acted = task.acted.dataset if task.acted is not None else None

    def rank(table: DatasetFacts) -> tuple[bool, bool, float, str]:
        there = words_of(" ".join([table.name, *table.names]))
        values = words_of(" ".join(v for c in table.columns for v in c.values[:_FEW]))
        score = overlap(wanted, there) * 2 + overlap(wanted, values)
        return (
            table.name not in task.mentions,
            table.name != acted or score > 0,
            -score,
            table.name,
        )

    ranked = sorted(catalogue.datasets.values(), key=rank)[:MOST_TABLES]
    return [
        _with_few_columns(table, wanted, catalogue, MOST_COLUMNS if number == 0 else _MOST_BESIDE)
        for number, table in enumerate(ranked)
    ]


def _with_few_columns(
    table: DatasetFacts, wanted: frozenset[str], catalogue: Catalogue, most: int
) -> DatasetFacts:
    """A wide table with the columns that the message may mean, its key, and what leads to other tables."""
    if len(table.columns) <= most:
        return table
    leading = {
        column
        for each in catalogue.relations
        for name, column in ((each.dataset, each.column), (each.other_dataset, each.other_column))
        if name == table.name
    }

    def rank(column: ColumnFacts) -> tuple[bool, float]:
        told = words_of(" ".join([column.name, *column.values[:_FEW]]))
        return column.name not in leading, -overlap(told, wanted)

    kept = {column.name for column in sorted(table.columns, key=rank)[:most]}
    return replace(table, columns=tuple(each for each in table.columns if each.name in kept))


def _form_messages(task: Task, catalogue: Catalogue, confirmed: Sequence[Example]) -> list[Message]:
    shown = _examples(task.message, confirmed)
    system = "\n\n".join([system_rule(task.nonce), FORM, f"Examples:\n{shown}"])
    with_values, without = (
        wrap_untrusted(_cards(task, catalogue, values=values), "tables", task.nonce)
        for values in (True, False)
    )
    asked = [f"Today is {task.today.isoformat()}."]
    last = _last_form(task)
    if last is not None:
        asked.append(
            f"The form of the question before, which this one may change: {_compact(last)}"
        )
    asked.append(f"Question: {task.message}\nForm:")
    data = User(f"Tables:\n{with_values}", rows=True, without_rows=f"Tables:\n{without}")
    return [System(system), data, User("\n".join(asked))]


def _cards(task: Task, catalogue: Catalogue, *, values: bool) -> str:
    """Tables in a line each; values help to find the column that a word belongs to."""
    wanted = words_of(task.message)
    lines = []
    for table in catalogue.datasets.values():
        columns = [_column(each, wanted, values=values) for each in table.columns]
        lines.append(f"{table.name}: {', '.join(columns)}")
    lines += [
        f"{each.dataset}.{each.column} is {each.other_dataset}.{each.other_column}"
        for each in catalogue.relations
        if {each.dataset, each.other_dataset} <= set(catalogue.datasets)
    ]
    return "\n".join(lines)


def _column(column: ColumnFacts, wanted: frozenset[str], *, values: bool) -> str:
    kind = {"number": "", "moment": " time", "date": " date"}.get(column.kind, f" {column.kind}")
    few = column.distinct is not None and column.distinct <= _FEW
    if not values or column.personal or not column.values:
        return f"{column.name}{kind}"
    meant = [each for each in column.values if words_of(each) & wanted]
    shown = meant[:2] or (list(column.values[:_MOST_VALUES]) if few else [])
    return f"{column.name}{kind}" + (f" ({'|'.join(shown)})" if shown else "")


def _examples(message: str, confirmed: Sequence[Example]) -> str:
    """Three like the message: those that people of the project confirmed first."""
    own = worked_examples(message, 3, confirmed) if confirmed else []
    others = worked_examples(message, 3 - len(own), form_examples()) if len(own) < 3 else []
    return "\n".join(
        f"Tables: {each.tables}\nQuestion: {each.message}\nForm: {_compact(each.plan)}"
        for each in [*others, *own]
    )


def confirmed_examples(task: Task, catalogue: Catalogue) -> list[Example]:
    """Questions whose reading people of the project confirmed, as far as a form can say them."""
    found = []
    for ask, reading in task.confirmed:
        form = form_of_reading(reading)
        table = catalogue.datasets.get(str(reading.get("table")))
        if form is not None and table is not None:
            used = [each for each in table.names if f'"{each}"' in _compact(form)]
            found.append(Example(ask, f"{table.name}: {', '.join(used)}", form))
    return found


@cache
def form_examples() -> tuple[Example, ...]:
    return tuple(
        Example(each["ask"], each["tables"], each["form"])
        for each in package_yaml("steward.agents.planning", "form_examples.yaml")
    )


def _last_form(task: Task) -> dict[str, Any] | None:
    plan = task.last.arguments.get("plan") if task.last is not None else None
    return form_of(plan) if isinstance(plan, Mapping) else None


def _for_kind(kind: str, catalogue: Catalogue, task: Task) -> Catalogue:
    """The tools of a kind of work, those that the message names, and the agents who have them."""
    risks, wanted = _RISKS.get(kind, _RISKS["look"]), words_of(task.message)
    tools = {
        name: facts
        for name, facts in catalogue.tools.items()
        if catalogue.usable(name)
        and (facts.risk in risks or name == QUERY_TOOL or words_of(name) & wanted)
    }
    agents = [
        agent
        for agent in catalogue.agents
        if any(agent.may_call(name, facts.risk) for name, facts in tools.items())
    ]
    if not tools:
        return catalogue
    few = [agent.model_copy(update={"tools": _own(agent, tools)}) for agent in agents]
    return replace(catalogue, tools=tools, agents=Roster(few), skills={})


def _own(agent: Agent, tools: Mapping[str, ToolFacts]) -> list[str]:
    return [name for name, facts in tools.items() if agent.may_call(name, facts.risk)]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
