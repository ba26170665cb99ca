"""The contract of tools: what every tool must declare, and what a call of it must do and leave undone.

check_tool(tool)                          # what it declares
check_tool(tool, Trial(context, {...}))   # and one call of it, on real data
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from steward.broker import Outcome, Preview, Risk, Role, Tool, ToolContext, roles_of
from steward.runs import Found, Json, Ticket, canonical, digest
from steward.tools import WORKBENCH
from steward.versions import Workspace, on_ticket

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Trial:
    """One call to try a tool with; the context's services must be real ones."""

    context: ToolContext
    arguments: Mapping[str, Any]
    undo: bool = True
    """False where nothing can be taken back, such as a message."""


def check_tool(tool: Tool[Any], trial: Trial | None = None) -> Outcome | None:
    """Fails with what is wrong; the outcome of the trial, which has been taken back again."""
    _check_declaration(tool)
    if trial is None:
        return None
    return asyncio.run(check_call(tool, trial))


def _check_declaration(tool: Tool[Any]) -> None:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    assert _NAME.fullmatch(tool.name), f"{tool.name!r} is not a name in snake_case"
    assert tool.title, f"{tool.name} has no title"
    assert tool.description.endswith("."), f"{tool.name}: the description is no sentence"
    schema = tool.schema()
    Draft202012Validator.check_schema(schema)
    assert schema.get("additionalProperties") is False, f"{tool.name} takes unknown arguments"
    for name, field in schema.get("properties", {}).items():
        assert field.get("description"), f"{tool.name}: argument {name} is not described"
    for path, role in roles_of(schema).items():
        assert role is not Role.undeclared, f"{tool.name}: argument {path} declares no role"
    try:
        tool.arguments.model_validate({"no such argument": 1})
    except ValidationError:
        pass
    else:
        raise AssertionError(f"{tool.name} takes an argument that it does not have")
    if not tool.risk.at_most(Risk.compute):
        assert tool.dry_run is not None, f"{tool.name} acts and cannot show what it would do"
        assert tool.effects.writes or tool.effects.network, (
            f"{tool.name} does not say what it touches"
        )
    if tool.risk is Risk.external_send:
        assert tool.effects.network, f"{tool.name} sends and does not say so"
        says_where = {Role.recipient, Role.destination} & set(roles_of(schema).values())
        assert tool.destination or says_where, f"{tool.name} does not say where it sends to"
    if tool.effects.writes:
        assert tool.reconcile or tool.idempotent, f"{tool.name} cannot tell whether it happened"
    if tool.undo_is_compensation:
        assert tool.undo is not None, f"{tool.name} compensates by nothing"


async def check_call(tool: Tool[Any], trial: Trial) -> Outcome:
    """The call alone, for tests that have a loop of their own."""
    arguments = tool.arguments.model_validate(dict(trial.arguments))
    context = trial.context
    before = _state(context)
    preview = await _previewed(tool, context, arguments)
    assert _state(context) == before, f"the dry run of {tool.name} changed something"
    body = {"tool": tool.name, "payload": preview.payload if preview else None}
    ticket = Ticket(digest([context.run_id, tool.name, before]), digest(body), body)
    committing = replace(context, ticket=ticket)
    if tool.reconcile and tool.effects.writes:
        looked = await tool.reconcile(committing, arguments, ticket)
        assert looked.found is Found.not_happened, f"{tool.name} sees what has not happened"
    with on_ticket(ticket.idempotency_key):
        outcome = await tool.run(committing, arguments)
    _check_outcome(tool, preview, outcome)
    if not tool.effects.writes:
        assert _state(context) == before, f"{tool.name} changed data and does not say so"
    if tool.reconcile and tool.effects.writes:
        looked = await tool.reconcile(committing, arguments, ticket)
        assert looked.found is Found.happened, f"{tool.name} does not see that it happened"
        assert looked.result["value"] == outcome.value, f"{tool.name} remembers it differently"
        assert looked.result["commits"] == list(outcome.commits)
    if trial.undo:
        await _undone(tool, committing, arguments, outcome)
        assert _content(_state(context)) == _content(before), f"undoing {tool.name} left something"
    return outcome


async def _previewed(tool: Tool[Any], context: ToolContext, arguments: Any) -> Preview | None:
    if tool.dry_run is None:
        return None
    preview = await tool.dry_run(context, arguments)
    assert preview.summary, f"the preview of {tool.name} says nothing"
    canonical([preview.details, preview.payload])
    if tool.risk is Risk.external_send:
        assert tool.destination_of(arguments), f"{tool.name} does not say where this goes"
    return preview


def _check_outcome(tool: Tool[Any], preview: Preview | None, outcome: Outcome) -> None:
    canonical([outcome.value, outcome.inverse])
    assert outcome.summary, f"{tool.name} does not say what it did"
    details = preview.details if preview and isinstance(preview.details, dict) else {}
    promised = details.get("counts", {})
    value = outcome.value if isinstance(outcome.value, dict) else {}
    counted = value.get("counts", {})
    for name in promised.keys() & counted.keys():
        assert promised[name] == counted[name], (
            f"{tool.name} promised {promised[name]} {name} and made {counted[name]}"
        )


async def _undone(tool: Tool[Any], context: ToolContext, arguments: Any, outcome: Outcome) -> None:
    for commit in reversed(outcome.commits):
        await asyncio.to_thread(_workspace(context).undo, commit, context.branch, merge_rows=True)
    if outcome.inverse is not None and tool.undo is not None:
        await tool.undo(context, arguments, outcome.inverse)


def _workspace(context: ToolContext) -> Workspace:
    return context.services.use(WORKBENCH).datasets.workspace(context.scope, context.author)


def _state(context: ToolContext) -> dict[str, Json]:
    """Everything a branch holds, by content: version ids and digests name bytes."""
    place = _workspace(context)
    head = place.branch(context.branch).head
    return {
        "head": head,
        "datasets": {each.name: each.version for each in place.datasets(head)},
        "files": {each.path: each.digest for each in place.files(head)},
        "tags": {each.name: each.commit for each in place.tags()},
        "branches": {b.name: b.head for b in place.branches() if b.name != context.branch},
    }


def _content(state: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in state.items() if name != "head"}
