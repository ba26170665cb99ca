"""Takes back a whole run, or one change together with the later changes that depend on it."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from steward.broker.undo import Action, Undoing, Way
from steward.core import Conflict
from steward.identity import Role
from steward.runs import Runs
from steward.store import Scope
from steward.versions import MAIN, Dependant, Versions


@dataclass(frozen=True)
class Whole:
    """What is to be taken back: all of a run, one action of it, or a commit."""

    run_id: str | None = None
    key: str | None = None
    commit: str | None = None
    branch: str = MAIN


@dataclass(frozen=True)
class Step:
    """One change that goes back: an action of a run, or a commit that belongs to none."""

    run_id: str | None
    key: str | None
    commit: str | None
    branch: str
    summary: str
    at: str
    by: str
    later: bool = False
    """Whether it is a later change that depends on what is taken back."""

    @property
    def name(self) -> tuple[str | None, str | None, str | None]:
        return (self.run_id, self.key, self.commit if self.key is None else None)


@dataclass(frozen=True)
class TakeBackPlan:
    steps: tuple[Step, ...]
    """What goes back, in the order in which it does: the newest first."""
    blocked: tuple[str, ...]
    """Datasets and files that later changes edited: these must go back too."""
    left: tuple[Action, ...]
    """What stays because it cannot be undone, such as messages that were sent."""

    def only_own(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if not step.later)


@dataclass
class _Search:
    """The order is topological: a change comes after everything that depends on it."""

    own: frozenset[tuple[str | None, str | None, str | None]]
    steps: list[Step] = field(default_factory=list)
    seen: set[tuple[str | None, str | None, str | None]] = field(default_factory=set)
    blocked: set[str] = field(default_factory=set)


class TakingBack:
    def __init__(self, runs: Runs, versions: Versions, undoing: Undoing) -> None:
        self._runs = runs
        self._versions = versions
        self._undoing = undoing

    def plan(self, scope: Scope, whole: Whole) -> TakeBackPlan:
        """Lists what goes back and what depends on it; changes nothing."""
        roots = self._roots(scope, whole)
        search = _Search(frozenset(root.name for root in roots))
        for root in roots:
            self._visit(scope, root, search)
        return TakeBackPlan(
            tuple(search.steps), tuple(sorted(search.blocked)), self._left(scope, whole)
        )

    def tools_of(self, scope: Scope, steps: Sequence[Step]) -> tuple[str, ...]:
        """Tools whose work going back does once more: those of actions that have an inverse of their own."""
        known: dict[str, dict[str, Action]] = {}
        for run_id in {step.run_id for step in steps if step.run_id is not None}:
            known[run_id] = {each.key: each for each in self._undoing.actions(scope, run_id)}
        found = [known[step.run_id][step.key] for step in steps if step.run_id and step.key]
        return tuple(sorted({each.tool for each in found if each.way is Way.inverse}))

    async def carry_out(
        self,
        scope: Scope,
        author: str,
        steps: tuple[Step, ...],
        token_role: Role | None = None,
    ) -> None:
        """Takes the steps back in their order. What is undone already stays so, also after a crash."""
        for done, step in enumerate(steps):
            try:
                if step.run_id is not None and step.key is not None:
                    await self._undoing.undo(
                        scope, author, step.run_id, step.key, token_role=token_role
                    )
                else:
                    workspace = self._versions.workspace(scope, author)
                    await asyncio.to_thread(workspace.undo, step.commit, step.branch)
            except Conflict as conflict:
                if done == 0:
                    raise
                raise Conflict(
                    f"{done} of {len(steps)} changes were undone. The next one, {step.summary!r}, "
                    f"cannot be undone: {conflict.message}",
                    code=conflict.specific_code,
                ) from conflict

    async def put_back(self, scope: Scope, author: str, steps: list[list[str]]) -> None:
        """Redoes actions that were taken back together, given newest first as (run, key)."""
        for run_id, key in steps:
            action = await asyncio.to_thread(self._undoing.action, scope, run_id, key)
            if action.way is not Way.version:
                raise Conflict(f"{action.summary!r} cannot be redone. Start the run again.")
        for run_id, key in reversed(steps):
            await self._undoing.redo(scope, author, run_id, key)

    def _roots(self, scope: Scope, whole: Whole) -> list[Step]:
        """Newest first."""
        if whole.commit is not None:
            return [self._of_commit(scope, whole.commit, whole.branch)]
        run_id = whole.run_id or ""
        found = [
            action
            for action in self._undoing.actions(scope, run_id)
            if whole.key in (None, action.key) and _can_go_back(action)
        ]
        return [self._of_action(scope, run_id, action, whole.branch) for action in reversed(found)]

    def _left(self, scope: Scope, whole: Whole) -> tuple[Action, ...]:
        if whole.run_id is None or whole.key is not None:
            return ()
        actions = self._undoing.actions(scope, whole.run_id)
        return tuple(each for each in actions if not each.undone and not _can_go_back(each))

    def _visit(self, scope: Scope, step: Step, search: _Search) -> None:
        if step.name in search.seen:
            return
        search.seen.add(step.name)
        try:
            dependants = list(self._dependants(scope, step))
        except Conflict as conflict:
            if conflict.specific_code != "already-undone":
                raise
            if step.key is None:
                return
            # Undone in the history of the data: the run's journal is still to say so.
            dependants = []
        for dependant in dependants:
            later = self._of_commit(scope, dependant.commit, step.branch)
            if later.name not in search.own:
                later = replace(later, later=True)
                if dependant.reason == "changed it again" and not step.later:
                    search.blocked.add(dependant.name)
            self._visit(scope, later, search)
        search.steps.append(step)

    def _dependants(self, scope: Scope, step: Step) -> Iterator[Dependant]:
        if step.run_id is not None and step.key is not None:
            yield from self._undoing.plan(scope, step.run_id, step.key).dependants
        else:
            workspace = self._versions.workspace(scope, "steward")
            yield from workspace.undo_plan(step.commit, step.branch).dependants

    def _of_action(self, scope: Scope, run_id: str, action: Action, branch: str) -> Step:
        by = self._runs.get(scope, run_id).created_by
        return Step(
            run_id=run_id,
            key=action.key,
            commit=action.commits[-1] if action.commits else None,
            branch=self._undoing.branch(scope, run_id, action) if action.commits else branch,
            summary=action.summary,
            at=action.at,
            by=by,
        )

    def _of_commit(self, scope: Scope, commit_id: str, branch: str) -> Step:
        """The action that made a commit, so that its run says that it was undone; or the commit alone."""
        commit = self._versions.workspace(scope, "steward").commit_at(commit_id)
        if commit.run_id is not None:
            for action in self._undoing.actions(scope, commit.run_id):
                if commit.id in action.commits and _can_go_back(action):
                    return self._of_action(scope, commit.run_id, action, branch)
        at = commit.created_at.isoformat()
        return Step(None, None, commit.id, branch, commit.message, at, commit.author)


def _can_go_back(action: Action) -> bool:
    return not action.undone and action.way in {Way.version, Way.inverse}
