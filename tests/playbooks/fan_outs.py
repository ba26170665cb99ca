"""Playbooks with lists and branches that cost something, and what is held for them."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from steward.broker.limits import Usage
from steward.broker.period_budgets import KeptBudget, PeriodBudget
from steward.runs import Run
from tests.playbooks.conftest import Room

LETTERS = """\
format: 1
id: letters
budget: {usd: 1}
inputs: {type: object, properties: {names: {type: array}}, required: [names]}
graph:
  nodes:
    - id: each
      type: map
      title: Letters
      over: inputs.names
      concurrency: 1
      body:
        nodes:
          - {id: write, type: agent, instructions: "Write to ${item}."}
    - {id: result, type: output, needs: [each], value: "${size(nodes.each.output)}"}
"""
ASKED = LETTERS.replace(
    'instructions: "Write to ${item}."}\n',
    'instructions: "Write to ${item}."}\n'
    '          - {id: sure, type: question, needs: [write], question: "Send it?", form: {type: boolean}}\n'
    '          - {id: done, type: output, needs: [sure], value: "${nodes.sure.output}"}\n',
)
FIRST_ASKED = LETTERS.replace(
    '- {id: write, type: agent, instructions: "Write to ${item}."}\n',
    '- {id: sure, type: question, question: "Write to them?", form: {type: boolean}}\n'
    '          - {id: write, type: agent, needs: [sure], instructions: "Write to ${item}."}\n'
    '          - {id: done, type: output, needs: [write], value: "${nodes.write.output}"}\n',
)
LETTER = """\
format: 1
id: letter
budget: {usd: 1}
inputs: {type: object, properties: {name: {type: string}}}
steps:
  - {id: write, type: agent, instructions: "Write to ${inputs.name}."}
"""
CALLER = """\
format: 1
id: caller
budget: {usd: 1}
tools: [call_playbook]
inputs: {type: object, properties: {names: {type: array}}, required: [names]}
graph:
  nodes:
    - id: each
      type: map
      over: inputs.names
      concurrency: 1
      body:
        nodes:
          - {id: call, type: tool, tool: call_playbook, arguments: {playbook: letter, inputs: {name: "${item}"}}}
"""
BOTH = """\
format: 1
id: both
budget: {usd: 1}
graph:
  nodes:
    - id: both
      type: parallel
      branches:
        one: {nodes: [{id: write, type: agent, instructions: Write to Ann.}]}
        two: {nodes: [{id: answer, type: agent, instructions: Write to Bob.}]}
"""
TWO_AGENTS = """\
format: 1
id: two-agents
budget: {usd: 50}
inputs: {type: object, properties: {names: {type: array}}, required: [names]}
graph:
  nodes:
    - id: each
      type: map
      title: Letters
      over: inputs.names
      concurrency: 1
      body:
        nodes:
          - {id: sure, type: question, question: "Write to them?", form: {type: boolean}}
          - {id: write, type: agent, agent: translator, needs: [sure], instructions: "Write to ${item}."}
          - {id: short, type: agent, agent: summariser, needs: [write], instructions: "Say it shorter."}
          - {id: done, type: output, needs: [short], value: "${nodes.short.output}"}
"""


def usage(room: Room, run: Run) -> Usage:
    return room.installation.steward.governing.budgets.status(run).usage["usd"]


def start(room: Room, named: str, count: int | None = None) -> Run:
    given = {} if count is None else {"names": [f"Person {number}" for number in range(count)]}
    run = room.playbooks.running.start(room.editor.access, named, given)
    room.drive()
    return room.fresh(run)


def deployed(room: Room, text: str) -> str:
    made = room.playbooks.library.create(room.editor.access, text)
    room.playbooks.deploying.deploy(room.editor.access, made.id)
    return made.id


def keys(room: Room, run: Run) -> list[str]:
    return [entry.key for entry in room.runs.journal.entries(run.scope, run.id)]


def replays(room: Room, run: Run) -> None:
    report = asyncio.run(room.runs.replay(run.scope, run.id))
    assert report.divergences == (), report.divergences


def most_of_a_request(room: Room, run: Run) -> Decimal:
    """What was set aside for a request of the run, or of its sub-run."""
    asking = [run, *room.runs.records.listed(run.scope, parent=run.id)]
    entries = [entry for each in asking for entry in room.runs.journal.entries(run.scope, each.id)]
    reserved = [entry.data["result"] for entry in entries if entry.type == "budget.reserved"]
    return max(Decimal(each["cost"]["usd"]) for each in reserved)


def of_the_day(room: Room, usd: str) -> Callable[[], KeptBudget]:
    """A budget of the project for each day, and how it stands."""
    budgets, access = (
        room.installation.steward.governing.period_budgets,
        room.installation.owner.access,
    )
    document = PeriodBudget(kind="project", period="day", usd=Decimal(usd))
    made = budgets.add(access, document)
    return lambda: budgets.get(access.scope, made.id)


def of_agent(room: Room, name: str, usd: str) -> Callable[[], KeptBudget]:
    budgets, access = (
        room.installation.steward.governing.period_budgets,
        room.installation.owner.access,
    )
    made = budgets.add(
        access, PeriodBudget(kind="agent", name=name, period="day", usd=Decimal(usd))
    )
    return lambda: budgets.get(access.scope, made.id)


def written_letters(room: Room, made: str, count: int) -> Run:
    run = start(room, made, count)
    for _ in range(count):
        room.answer(run, True)
    return room.fresh(run)


def held(room: Room, run: Run, key: str = "each") -> dict[str, Any]:
    """What was held for a list, as the journal has it."""
    entries = room.runs.journal.entries(run.scope, run.id)
    found = next(each for each in entries if each.key == f"{key}:items/budget/reserve")
    result: dict[str, Any] = found.data["result"]
    return result


def first_price(room: Room, made: str) -> tuple[Decimal, Decimal]:
    """The least and the most of one item, as the page shows it."""
    (found,) = room.playbooks.prices.of(room.editor.access, made).nodes
    return Decimal(str(found.usd)), Decimal(str(found.most_usd))
