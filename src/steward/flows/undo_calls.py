"""Undo and redo of a run's actions by hand: calls like any other, under the policy of the moment."""

import asyncio
from typing import Final

from steward.broker import Action, TakeBackPlan, TakingBack, Undoing, UndoPlan, Way, Whole
from steward.flows.direct_calls import Called, DirectCall, DirectCalls
from steward.identity import Access, Role
from steward.store import Scope

UNDO: Final = "undo_action"
REDO: Final = "redo_action"
CORRECT: Final = "send_correction"
TAKE_BACK: Final = "take_back"


class UndoCalls:
    def __init__(self, undoing: Undoing, taking_back: TakingBack, calls: DirectCalls) -> None:
        self._undoing = undoing
        self._taking_back = taking_back
        self._calls = calls

    def actions(self, scope: Scope, run_id: str) -> list[Action]:
        """What a run changed, oldest first."""
        return self._undoing.actions(scope, run_id)

    def plan(self, scope: Scope, run_id: str, key: str) -> UndoPlan:
        """What depends on an action, before it is taken back."""
        return self._undoing.plan(scope, run_id, key)

    def plan_whole(self, scope: Scope, whole: Whole) -> TakeBackPlan:
        """What goes back with a run or a change, what later work depends on it, and what stays."""
        return self._taking_back.plan(scope, whole)

    async def take_back(self, access: Access, whole: Whole, *, with_later: bool = False) -> Called:
        """Takes back a run, an action or a commit in one call, with what depends on it if wanted."""
        access.require(Role.operator)
        arguments = {
            "run_id": whole.run_id,
            "key": whole.key,
            "commit": whole.commit,
            "with_later": with_later,
        }
        return await self._calls.run(access, DirectCall(TAKE_BACK, arguments, branch=whole.branch))

    async def undo(
        self, access: Access, run_id: str, key: str, *, merge_rows: bool = False
    ) -> Action:
        """Takes an action back, or sends a correction where it left this machine."""
        access.require(Role.operator)
        action = await asyncio.to_thread(self._undoing.action, access.scope, run_id, key)
        arguments = {"run_id": run_id, "key": key}
        if action.way is Way.compensation:
            access.require(Role.editor)
            to = await asyncio.to_thread(self._undoing.destination, action)
            call = DirectCall(CORRECT, {**arguments, "destination": to or ""})
        else:
            call = DirectCall(UNDO, {**arguments, "merge_rows": merge_rows})
        return await self._made(access, call, action)

    async def redo(self, access: Access, run_id: str, key: str) -> Action:
        """Puts an undone action back in place."""
        access.require(Role.operator)
        action = await asyncio.to_thread(self._undoing.action, access.scope, run_id, key)
        return await self._made(access, DirectCall(REDO, {"run_id": run_id, "key": key}), action)

    async def _made(self, access: Access, call: DirectCall, action: Action) -> Action:
        await self._calls.run(access, call)
        run_id = str(call.arguments["run_id"])
        return await asyncio.to_thread(self._undoing.action, access.scope, run_id, action.key)
