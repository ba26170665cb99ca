"""Runs again what has ended: with the same version or another, from the start or from a step, one run or many."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from steward.broker import Grant, bound_to
from steward.core import Conflict, Denied, Invalid, NotFound, StewardError
from steward.flows import Graph, load_flow
from steward.identity import Access, Role
from steward.playbooks.cards import Card, State
from steward.playbooks.library import Library
from steward.playbooks.people import People, playbook_of
from steward.playbooks.running import Running
from steward.runs import Kind, Run, RunRequest, Runs

MOST: Final = 200
"""Runs that are tried again at once."""
Which = Literal["same", "deployed"]


@dataclass(frozen=True)
class Retried:
    """What became of one run that was to be tried again."""

    source: str
    run: Run | None
    problem: str | None = None


class Retries:
    def __init__(self, library: Library, people: People, running: Running, runs: Runs) -> None:
        self._library = library
        self._people = people
        self._running = running
        self._runs = runs

    def retry(
        self,
        access: Access,
        named: str,
        run_ids: Sequence[str],
        *,
        version: Which | int = "same",
        at: str | None = None,
        from_failure: bool = False,
    ) -> list[Retried]:
        """Starts each run again; one that cannot be started holds up no other.

        `version` is that of the run itself, the deployed one, or a number. With `at`, outcomes of the steps before it
        are kept; `from_failure` takes the step at which each run failed.
        """
        access.require(Role.operator)
        card = self._library.get(access, named)
        if card.state is State.archived:
            raise Conflict("An archived playbook does not run; bring it back first.")
        if len(run_ids) > MOST:
            raise Invalid(f"At most {MOST} runs are tried again at once.")
        done = []
        for run_id in dict.fromkeys(run_ids):
            try:
                made = self._retry(access, card, run_id, version, at, from_failure=from_failure)
                done.append(Retried(run_id, made))
            except StewardError as problem:
                done.append(Retried(run_id, None, problem.message))
        return done

    def _retry(
        self,
        access: Access,
        card: Card,
        run_id: str,
        version: Which | int,
        at: str | None,
        *,
        from_failure: bool,
    ) -> Run:
        source = self._runs.get(access.scope, run_id)
        if playbook_of(source.subject) != card.id:
            raise NotFound(f"{card.title} has no run {run_id[:40]!r}.")
        if source.parent_id is not None:
            raise Conflict("This run is part of another one; try that one again.")
        if not source.status.is_final:
            raise Conflict("This run is not over yet; wait for its end or cancel it.")
        request = bound_to(access, self._request(access, card, source, version))
        # Their inputs are what is sent again, so they ask for it as much as the person who tries again.
        grant = Grant.from_json(request.grant)
        before = Grant.from_json(self._runs.request(access.scope, run_id).grant)
        authors = sorted({*grant.authors, *before.authors, source.created_by})
        request = replace(request, grant=replace(grant, authors=tuple(authors)).to_json())
        step = self._failed_step(source) if from_failure else at
        if step is None:
            return self._runs.start(access.scope, access.user_id, request)
        _require_step(request, step)
        return self._runs.go_on(access.scope, access.user_id, source, request, step)

    def _request(self, access: Access, card: Card, source: Run, version: Which | int) -> RunRequest:
        before = self._runs.request(access.scope, source.id)
        grant = Grant.from_json(before.grant)
        if version == "same":
            never_deployed = grant.deployment is None and grant.revision != card.deployed
            if access.role < Role.editor and never_deployed:
                raise Denied("Only editors try revisions that were never deployed.")
            return before
        if grant.test is not None:
            raise Conflict(
                "This was a test run. Test the other version instead, or start it with the same inputs."
            )
        number = card.deployed if version == "deployed" else version
        chosen = self._running.chosen(access, card, number)
        request = self._running.request(
            access.scope,
            self._people.viewer(access),
            card,
            chosen.revision,
            before.inputs,
            branch=grant.branch,
            deployment=chosen.deployment,
        )
        return replace(request, foreign=before.foreign)

    def _failed_step(self, run: Run) -> str | None:
        """The node at which the run failed; None where it failed before the first one, or not at all."""
        end = self._runs.journal.end(run.scope, run.id)
        if end is None or end.kind != Kind.failed:
            return None
        at = str((end.data.get("error") or {}).get("at", ""))
        known = {
            node.id for node in load_flow(self._runs.request(run.scope, run.id).document).nodes
        }
        name = at.partition("/")[0].partition(":")[0].partition("[")[0].partition("~")[0]
        return name if name in known else None


def _require_step(request: RunRequest, step: str) -> None:
    flow: Graph = load_flow(request.document)
    names = [node.id for node in flow.nodes]
    if step.partition("/")[0].partition("[")[0] not in names:
        raise Invalid(
            f"This version has no step {step[:60]!r}; its steps are {', '.join(names[:20])}. "
            "Start from the beginning, or choose another version."
        )
