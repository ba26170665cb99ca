"""Starts playbooks as runs: by people, by their triggers, and as sub-runs of other runs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, cast

from steward.agents import MEMORY_TOOLS
from steward.broker import (
    PLUGIN_CHANGED,
    Artifact,
    Broker,
    Grant,
    Outcome,
    Preview,
    Risk,
    Rulebook,
    ToolContext,
    bound_to,
)
from steward.core import Conflict, Denied, Invalid, NotFound, StewardError
from steward.flows import Flow, Launcher, Start, dump_flow, pinned, tools_in
from steward.identity import Access, Role
from steward.playbooks.cards import (
    Card,
    Revision,
    State,
    card_of_row,
    numbered,
    playbook_row,
    revision_of_row,
)
from steward.playbooks.compiling import policy_text
from steward.playbooks.deployments import Deployment, Deployments, takes_canary, within
from steward.playbooks.dispatch import Choose
from steward.playbooks.library import Library
from steward.playbooks.manifest import Manifests, called_revision
from steward.playbooks.model import Playbook
from steward.playbooks.needs import Need, Needs
from steward.playbooks.people import SUBJECT, People, Viewer, playbook_of, subject_of
from steward.playbooks.pins import Pin, fixed_parts, pinned_version, with_versions
from steward.runs import Json, Parked, Run, RunRequest, Runs, Status, calls_of
from steward.store import Database, Scope, Transaction
from steward.versions import MAIN

Part = tuple[Playbook, Flow]
DEEPEST: Final = 5
"""Playbooks that call one another."""


@dataclass(frozen=True)
class Version:
    """A revision, with the deployment whose parts its runs use where there is one."""

    revision: Revision
    deployment: Deployment | None


@dataclass(eq=False, repr=False)
class Running:
    _database: Database
    _library: Library
    _deployments: Deployments
    _people: People
    _runs: Runs
    _launcher: Launcher
    _broker: Broker
    _rulebook: Rulebook
    _needs: Needs
    _manifests: Manifests

    def start(
        self,
        access: Access,
        named: str,
        inputs: Mapping[str, Json],
        *,
        revision: int | None = None,
        branch: str = "main",
    ) -> Run:
        """Runs the deployed revision; an editor may try another one, as of a draft."""
        access.require_acting()
        if access.role is Role.runner and branch != MAIN:
            raise Denied("Runners run playbooks on the branch main.")
        viewer = self._people.viewer(access)
        card = self._library.get(access, named)
        if card.state is State.archived:
            raise Conflict("An archived playbook does not run; bring it back first.")
        chosen = self.chosen(access, card, revision)
        parts: list[Part] = []
        request = self.request(
            access.scope,
            viewer,
            card,
            chosen.revision,
            inputs,
            branch=branch,
            into=parts,
            deployment=chosen.deployment,
        )
        self._needs.require(access.scope, access.role, parts, branch, request.inputs)
        return self._runs.start(access.scope, access.user_id, bound_to(access, request))

    def chosen(self, access: Access, card: Card, revision: int | None = None) -> "Version":
        """The version that a run of this person gets: the deployed one or the canary, or the one they name."""
        scope = access.scope
        if revision is None and card.deployed is not None:
            with self._database.write(scope) if card.canary else self._database.read(scope) as tx:
                return self._version(tx, card)
        if revision is not None:
            deployment = (
                self._deployments.get(scope, card.id, card.deployment)
                if revision == card.deployed and card.deployment is not None
                else self._deployments.latest_of(scope, card.id, revision)
            )
            known = deployment is not None and access.role is not Role.runner
            if known or revision == card.deployed or access.role >= Role.editor:
                return Version(self._library.revision_of(scope, card, revision), deployment)
        if access.role < Role.editor:
            raise Denied(
                f"{card.title} runs once an editor has deployed a revision of it."
                if card.deployed is None
                else "Only editors try revisions that were never deployed."
            )
        return Version(self._library.revision_of(scope, card, card.head), None)

    def _version(self, tx: Transaction, card: Card) -> "Version":
        """The deployed version, or the canary where this run is one of its share."""
        number, canary = card.deployment, card.canary
        if canary is not None and takes_canary(
            tx, card.id, canary["deployment"], canary["percent"]
        ):
            number = canary["deployment"]
        deployment = None if number is None else within(tx, card.id, number)
        revision = deployment.revision if deployment is not None else card.deployed
        return Version(revision_of_row(numbered(tx, card.id, revision or card.head)), deployment)

    def on_trigger(self, tx: Transaction, author: str) -> Choose:
        """Says what a trigger starts: what it was armed with, or the canary where a run is one of its share."""

        @cache
        def card_of(playbook_id: str) -> Card | None:
            row = playbook_row(tx, playbook_id)
            return None if row is None else card_of_row(row)

        def choose(request: RunRequest) -> RunRequest:
            playbook_id = (request.subject or "").removeprefix(SUBJECT)
            if playbook_id == request.subject or not isinstance(request.inputs, dict):
                return request
            card = card_of(playbook_id)
            return request if card is None else self._chosen(tx, author, card, request)

        return choose

    def _chosen(self, tx: Transaction, author: str, card: Card, request: RunRequest) -> RunRequest:
        grant = Grant.from_json(request.grant)
        if grant.revision == card.deployed and card.deployment is not None:
            # The trigger was armed before its deployment had a number.
            numbered_grant = replace(grant, deployment=card.deployment)
            request = replace(request, grant=numbered_grant.to_json())
        if card.canary is None:
            return request
        version = self._version(tx, card)
        if version.revision.number == card.deployed:
            return request
        try:
            viewer = self._people.author(tx.project, author)
            tried = self.request(
                tx.project,
                viewer,
                card,
                version.revision,
                cast(dict[str, Json], request.inputs),
                branch=grant.branch,
                deployment=version.deployment,
            )
            limited = Grant.from_json(tried.grant).like(grant)
            return replace(tried, foreign=request.foreign, grant=limited.to_json())
        except StewardError:
            # What cannot be tried holds up no trigger.
            return request

    def needs(self, access: Access, named: str, *, branch: str = MAIN) -> list[Need]:
        """What the revision that would run needs, each with what is missing on a branch."""
        if access.role is Role.runner and branch != MAIN:
            raise Denied("Runners run playbooks on the branch main.")
        card = self._library.get(access, named)
        number = card.deployed or card.head
        revision = self._library.revision_of(access.scope, card, number)
        return self._needs.of(access.scope, access.role, revision.playbook, revision.flow, branch)

    def request(
        self,
        scope: Scope,
        viewer: Viewer,
        card: Card,
        revision: Revision,
        inputs: Mapping[str, Json] | None,
        *,
        branch: str = "main",
        into: list[Part] | None = None,
        deployment: Deployment | None = None,
        pins: Sequence[Pin] = (),
    ) -> RunRequest:
        """What a run of this revision is started with: everything is pinned, and no tool granted but those named.

        Without `inputs` it is what a trigger starts: they are filled in for each event.

        `into` is given the playbook and those that it takes in as parts, with the flow of each. A `deployment` says
        which versions of other parts count; `pins` are those of one that is about to be written down.
        """
        pinned_parts = deployment.pins if deployment is not None else pins
        fixed = fixed_parts(pinned_parts)
        problem = self._manifests.code_problem(scope, fixed)
        if problem is not None:
            raise Conflict(problem, code=PLUGIN_CHANGED)
        playbook = revision.playbook
        parts = [] if into is None else into
        parts.append((playbook, revision.flow))
        policies, authors = [policy_text(playbook)], {revision.author}

        def find(name: str) -> Flow:
            slug, _, number = name.partition("@")
            inner = self._library.seen_by(scope, viewer, slug)
            fixed = called_revision(inner, number, pinned_version(pinned_parts, name))
            used = self._library.revision_of(scope, inner, fixed)
            policies.append(policy_text(used.playbook))
            authors.add(used.author)
            parts.append((used.playbook, used.flow))
            return parts[-1][1]

        flow = pinned(parts[0][1], find)
        request = self._launcher.request(
            Start(
                document=with_versions(dump_flow(flow), pinned_parts),
                inputs=inputs,
                title=playbook.title,
                branch=branch,
                budget=playbook.budget.model_dump(mode="json", exclude_none=True),
                subject=subject_of(card.id),
                playbook=card.slug,
                revision=revision.number,
                deployment=deployment.number if deployment is not None else None,
                policies=tuple(text for text in policies if text),
                authors=tuple(sorted(authors)),
            ),
            scope,
        )
        grant = Grant.from_json(request.grant)
        tools = grant.tools
        if playbook.tools is not None:
            # Its list is the limit for what agents bring along, too.
            # An agent's memory is its own, so the list has no say in it.
            own = frozenset(tools_in(flow)) | frozenset(MEMORY_TOOLS)
            brought = self._launcher.brought_tools(scope, flow) - own
            tools = (tools - brought) | frozenset(playbook.tools)
        risks = [self._broker.tools.get(scope, name).risk for name in tools]
        highest = max(risks, key=lambda risk: risk.rank, default=Risk.read)
        grant = replace(grant, tools=tools, highest_risk=highest, fixed=fixed)
        return replace(request, grant=grant.to_json())

    # The service of the tool `call_playbook`

    async def preview(self, context: ToolContext, playbook: str, inputs: Json) -> Preview:
        """What calling the playbook would start."""

        def look() -> Preview:
            parent = self._runs.get(context.scope, context.run_id)
            card, request = self._called(context, parent, playbook, inputs)
            grant = Grant.from_json(request.grant)
            return Preview(
                summary=f"Run {card.title}, revision {grant.revision}",
                details={
                    "playbook": card.slug,
                    "revision": grant.revision,
                    "inputs": request.inputs,
                    "tools": sorted(grant.tools),
                    "budget": request.budget,
                },
                payload={"revision": grant.revision},
            )

        return await asyncio.to_thread(look)

    async def call(self, context: ToolContext, playbook: str, inputs: Json) -> Outcome:
        """Starts a sub-run and parks until it is over; called again, it finds the one it started."""

        def begin() -> Run:
            parent = self._runs.get(context.scope, context.run_id)
            key = f"{context.key}/playbook"
            child = self._runs.records.child_of(parent, key)
            if child is not None:
                return child
            _, request = self._called(context, parent, playbook, inputs)
            return self._runs.records.start_child(parent, key, request)

        child = await asyncio.to_thread(begin)
        if not child.status.is_final:
            raise Parked(f"the playbook {child.title}", {"child": child.id})
        return await asyncio.to_thread(self._outcome, child)

    def _called(
        self, context: ToolContext, parent: Run, named: str, inputs: Json
    ) -> tuple[Card, RunRequest]:
        viewer = self._people.author(context.scope, context.author)
        if not viewer.role.acts:
            raise Denied("Calling a playbook needs the role operator.")
        slug, _, wanted_number = named.partition("@")
        card = self._library.seen_by(context.scope, viewer, slug)
        self._refuse_circle(parent, card)
        version = self._called_version(context.scope, parent, card, named, wanted_number)
        parts: list[Part] = []
        request = self.request(
            context.scope,
            viewer,
            card,
            version.revision,
            inputs,
            branch=context.branch,
            into=parts,
            deployment=version.deployment,
        )
        self._needs.require(context.scope, viewer.role, parts, context.branch, request.inputs)
        mine = Grant.from_json(self._runs.request(context.scope, parent.id).grant)
        wanted = Grant.from_json(request.grant)
        missing = sorted(wanted.tools - mine.tools)
        if missing or not wanted.highest_risk.at_most(mine.highest_risk):
            lacking = ", ".join(missing) or f"the risk {wanted.highest_risk.value}"
            raise Denied(
                f"{card.title} needs more than its caller may do: {lacking}. "
                "Name these tools under `tools` of the caller.",
                code="narrower-caller",
            )
        own = (
            self._rulebook.current(context.scope, "playbook", mine.playbook).text
            if mine.playbook
            else ""
        )
        grant = replace(
            wanted.like(mine),
            parent_run=parent.id,
            test=mine.test,
            # What held for the caller holds for what it calls.
            policies=(*mine.policies, *([own] if own else []), *wanted.policies),
            fixed=wanted.fixed.beside(mine.fixed),
        )
        return card, replace(request, grant=grant.to_json())

    def _called_version(
        self, scope: Scope, parent: Run, card: Card, named: str, number: str
    ) -> "Version":
        """The version that a call names, that the caller's deployment pinned, or that is deployed."""
        mine = Grant.from_json(self._runs.request(scope, parent.id).grant)
        pinned_number: int | None = None
        caller = playbook_of(parent.subject)
        if mine.deployment is not None and caller is not None:
            deployment = self._deployments.get(scope, caller, mine.deployment)
            pinned_number = pinned_version(deployment.pins, named)
        chosen = called_revision(card, number, pinned_number)
        revision = self._library.revision_of(scope, card, chosen)
        return Version(revision, self._deployments.latest_of(scope, card.id, chosen))

    def _refuse_circle(self, parent: Run, card: Card) -> None:
        above: Run | None = parent
        depth = 0
        while above is not None:
            if playbook_of(above.subject) == card.id:
                raise Invalid(f"{card.title} would call itself; repeat with a loop instead.")
            depth += 1
            if depth > DEEPEST:
                raise Invalid(f"Playbooks call one another at most {DEEPEST} deep.")
            above = self._runs.get(above.scope, above.parent_id) if above.parent_id else None

    def _outcome(self, child: Run) -> Outcome:
        ended = self._runs.outcome(child.scope, child.id) or {}
        if child.status is not Status.done:
            said = (ended.get("error") or {}).get("message", f"it was {child.status.value}")
            raise Conflict(f"{child.title} did not end well: {said}", code="sub-run-failed")
        told = calls_of(self._runs.journal.entries(child.scope, child.id), self._runs.payload)
        return Outcome(
            value=ended.get("output"),
            summary=f"Ran {child.title}",
            artifacts=tuple(Artifact(**each) for call in told for each in call.artifacts),
            sources=(f"run:{child.id}",),
            trusted=False,
        )

    def pin(self, scope: Scope, run_id: str) -> int | None:
        """Which revision a run was started with."""
        try:
            request = self._runs.request(scope, run_id)
        except NotFound:
            return None
        found: int | None = Grant.from_json(request.grant).revision
        return found
