"""Tests of a playbook: runs without effects on a branch of the data, their outputs node by node, and those kept for later."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import Grant, Rehearsal, Sample, bound_to, plain_path, samples
from steward.core import Clock, Conflict, Ids, Invalid, NotFound, Problem, TooLarge
from steward.flows import FlowRunner, NodeOutput, load_flow
from steward.identity import Access, Role
from steward.playbooks import _tables as tables
from steward.playbooks.cards import Card, Revision
from steward.playbooks.deployments import Deployment, Finding
from steward.playbooks.documents import as_yaml, without_people
from steward.playbooks.library import Library
from steward.playbooks.needs import tested_branch
from steward.playbooks.people import People, Viewer, playbook_of, subject_of, tests_of
from steward.playbooks.running import Running
from steward.runs import Json, Run, RunRequest, Runs, Status, canonical
from steward.store import LEGAL_HOLD, Database, Scope
from steward.versions import MAIN, Versions, Workspace

KEPT_FOR: Final = timedelta(days=7)
"""How long the branch of a test is there to look at."""
_PREFIX: Final = "test/"
_LARGEST: Final = 500_000
_LOOKED_AT: Final = 50
_BREAKPOINT: Final = "breakpoint"
_MOST_TESTS: Final = 100
_T: Final = tables.tests.c


@dataclass(frozen=True)
class Wish:
    """What to test, and how."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    yaml: str | None = None
    """A draft that is not saved; unset: a revision."""
    revision: int | None = None
    mocks: Mapping[str, Json] = field(default_factory=dict)
    """Outputs by node that stand in for it."""
    like: str | None = None
    """A past run whose outputs stand in for what a test does not do."""
    breakpoints: Sequence[str] = ()
    until: str | None = None
    """The last node to run, with what it needs."""
    spend: bool = False
    ask: bool = False


@dataclass(frozen=True)
class NodeResult:
    key: str
    state: str
    output: Json
    before: Json
    """What it gave in the last good run."""
    was_there: bool
    differs: bool


@dataclass(frozen=True)
class Results:
    run: Run
    nodes: list[NodeResult]
    compared_with: str | None
    """The last good run."""
    paused_before: list[str]


@dataclass(frozen=True)
class KeptTest:
    id: str
    name: str
    inputs: Mapping[str, Json]
    created_by: str
    created_at: datetime


@dataclass(eq=False, repr=False)
class Rehearsals:
    _database: Database
    _clock: Clock
    _ids: Ids
    _library: Library
    _people: People
    _running: Running
    _runs: Runs
    _flow_runner: FlowRunner
    _versions: Versions

    # Trying

    def inputs(self, access: Access, named: str) -> list[Sample]:
        """Inputs made from the schema: ordinary ones, and edge cases."""
        card = self._library.get(access, named)
        schema = self._library.revision_of(access.scope, card, card.head).playbook.inputs
        return samples(schema)

    def start(self, access: Access, named: str, wish: Wish) -> Run:
        """Starts a test run: on a branch of its own, with nothing sent and nothing spent unless asked."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        revision = self._tested(access, card, wish)
        recorded: Mapping[str, Json] = {}
        if wish.like is not None:
            source = self._run_of(access, card, wish.like)
            found = asyncio.run(self._flow_runner.outputs(access.scope, source.id))
            recorded = {key: each.value for key, each in found.items() if each.state == "done"}
        rehearsal = Rehearsal(
            mocks=wish.mocks,
            recorded=recorded,
            breakpoints=frozenset(wish.breakpoints),
            spend=wish.spend,
            ask=wish.ask,
        )
        request = self._request(access, card, revision, wish.inputs, rehearsal, wish.until)
        self.drop_old_branches(access.scope, access.user_id)
        return self._runs.start(access.scope, access.user_id, bound_to(access, request))

    def _tested(self, access: Access, card: Card, wish: Wish) -> Revision:
        if wish.yaml is None:
            return self._library.revision_of(access.scope, card, wish.revision or card.head)
        playbook, _ = self._library.checked(access, wish.yaml)
        if playbook.id != card.slug:
            raise Invalid(
                f"This is the text of {playbook.id!r}, not of {card.slug!r}.",
                problems=[Problem("/yaml", "has another id")],
            )
        text = as_yaml(without_people(playbook))
        return Revision(card.head, "", text, "A draft", access.user_id, self._clock.now())

    def _request(
        self,
        access: Access,
        card: Card,
        revision: Revision,
        inputs: Mapping[str, Json],
        rehearsal: Rehearsal,
        until: str | None = None,
    ) -> RunRequest:
        given = rehearsal.to_json()
        if len(json.dumps(given)) > _LARGEST:
            raise TooLarge(f"What stands in for outputs has more than {_LARGEST:,} characters.")
        branch = f"{_PREFIX}{self._ids.new('test')}"
        request = self._running.request(
            access.scope, self._people.viewer(access), card, revision, inputs, branch=branch
        )
        _require_nodes(request, [*rehearsal.mocks, *rehearsal.breakpoints])
        workspace = self._versions.workspace(access.scope, access.user_id)
        source = tested_branch(revision.playbook, [each.name for each in workspace.branches()])
        workspace.create_branch(branch, source, of_a_run=True)
        grant = replace(Grant.from_json(request.grant), test=given)
        document = request.document if until is None else _cut(request.document, until)
        return replace(
            request,
            title=f"Test of {card.title}"[:200],
            subject=tests_of(subject_of(card.id)),
            document=document,
            grant=grant.to_json(),
        )

    def shadow_request(
        self,
        viewer: Viewer,
        card: Card,
        revision: Revision,
        deployment: Deployment,
        live: Run,
        *,
        spend: bool,
    ) -> RunRequest:
        """What runs in the shadow of a run that is over: its inputs, and the data as it was when that run began.

        What the live run sent, asked and was told stands in for what a test does not do.
        """
        before = self._runs.request(live.scope, live.id)
        found = asyncio.run(self._flow_runner.outputs(live.scope, live.id))
        recorded = {key: each.value for key, each in found.items() if each.state == "done"}
        given = Rehearsal(recorded=recorded, spend=spend).to_json()
        if len(json.dumps(given)) > _LARGEST:
            raise TooLarge(f"The outputs of the live run have more than {_LARGEST:,} characters.")
        branch = f"{_PREFIX}{self._ids.new('test')}"
        request = self._running.request(
            live.scope, viewer, card, revision, before.inputs, branch=branch, deployment=deployment
        )
        workspace = self._versions.workspace(live.scope, viewer.user_id)
        workspace.create_branch(branch, self._data_before(workspace, live, before), of_a_run=True)
        grant = replace(Grant.from_json(request.grant), test=given)
        return replace(
            request,
            title=f"Shadow of {card.title}"[:200],
            subject=tests_of(subject_of(card.id)),
            grant=grant.to_json(),
            # Nobody is asked for more money, and every live run goes first.
            budget={**request.budget, "on_breach": "abort"},
            priority=-1,
            foreign=before.foreign,
        )

    def _data_before(self, workspace: Workspace, live: Run, request: RunRequest) -> str:
        """The commit of the live run's branch when that run began."""
        branch = Grant.from_json(request.grant).branch
        began, after = live.started_at or live.created_at, None
        while page := workspace.log(branch, after=after, limit=_LOOKED_AT):
            for commit in page:
                if commit.created_at <= began and commit.run_id != live.id:
                    return commit.id
            after = page[-1].id
        raise NotFound("The data as it was when the live run began is not kept any more.")

    def go_on(self, access: Access, named: str, run_id: str) -> None:
        """Lets a test go on that pauses at a breakpoint."""
        access.require(Role.editor)
        run = self._run_of(access, self._library.get(access, named), run_id)
        paused = [wait for wait in run.waits or () if wait["kind"] == _BREAKPOINT]
        if not paused:
            raise Conflict("This test does not pause at a breakpoint.")
        for wait in paused:
            answer = {"by": access.user_id}
            self._runs.records.signal(access.scope, run.id, wait["key"], answer)

    def results(self, access: Access, named: str, run_id: str) -> Results:
        """What each node gave, beside what it gave in the last good run."""
        card = self._library.get(access, named)
        run = self._run_of(access, card, run_id)
        found = asyncio.run(self._flow_runner.outputs(access.scope, run.id))
        good = self._last_good(access.scope, card)
        before: Mapping[str, NodeOutput] = {}
        if good is not None:
            before = asyncio.run(self._flow_runner.outputs(access.scope, good.id))
        return Results(
            run=run,
            nodes=[
                _result(key, each, before.get(key), self._branch(access.scope, run))
                for key, each in found.items()
            ]
            + self._failure(access.scope, run, found),
            compared_with=good.id if good is not None else None,
            paused_before=[
                plain_path(str(wait["key"]).removesuffix(f":{_BREAKPOINT}"))
                for wait in run.waits or ()
                if wait["kind"] == _BREAKPOINT
            ],
        )

    def _failure(self, scope: Scope, run: Run, found: Mapping[str, NodeOutput]) -> list[NodeResult]:
        """The node at which the run failed: it gave nothing, so that no output tells of it."""
        error = (self._runs.outcome(scope, run.id) or {}).get("error") or {}
        key = str(error.get("at") or "")
        known = {node.id for node in load_flow(self._runs.request(scope, run.id).document).nodes}
        if key in found or plain_path(key).partition("/")[0] not in known:
            return []
        given = {"error": {name: error.get(name) for name in ("code", "message")}}
        return [NodeResult(key, "failed", given, None, was_there=False, differs=False)]

    def _branch(self, scope: Scope, run: Run) -> str:
        return Grant.from_json(self._runs.request(scope, run.id).grant).branch

    def _last_good(self, scope: Scope, card: Card) -> Run | None:
        done = self._runs.records.listed(
            scope, subject=subject_of(card.id), statuses=["done"], limit=_LOOKED_AT
        )
        return next((run for run in done if not self.is_test(scope, run.id)), None)

    def is_test(self, scope: Scope, run_id: str) -> bool:
        return Rehearsal.of(self._runs.request(scope, run_id).grant) is not None

    def _run_of(self, access: Access, card: Card, run_id: str) -> Run:
        run = self._runs.get(access.scope, run_id)
        if playbook_of(run.subject) != card.id:
            raise NotFound(f"{card.title} has no run {run_id[:40]!r}.")
        return run

    def drop_old_branches(self, scope: Scope, user_id: str) -> None:
        """Takes away branches of tests that nobody needs any more; the sweep removes their data."""
        workspace = self._versions.workspace(scope, user_id)
        before = self._clock.now() - KEPT_FOR
        try:
            for branch in workspace.branches():
                if branch.name.startswith(_PREFIX) and branch.created_at < before:
                    workspace.delete_branch(branch.name, of_a_run=True)
        except Conflict as problem:
            # They stay until the hold is lifted, and tests go on.
            if problem.specific_code != LEGAL_HOLD:
                raise

    # Keeping

    def keep(self, access: Access, named: str, run_id: str, name: str) -> KeptTest:
        """Keeps a run as a test: its inputs, the outputs that stand in, and what must come out again."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        run = self._run_of(access, card, run_id)
        if run.status is not Status.done:
            raise Conflict("Only a run that ended well can be kept as a test.")
        if len(self.kept(access, named)) >= _MOST_TESTS:
            raise Conflict(f"A playbook has at most {_MOST_TESTS} tests; delete one first.")
        request = self._runs.request(access.scope, run.id)
        rehearsal = Rehearsal.of(request.grant) or Rehearsal()
        found = asyncio.run(self._flow_runner.outputs(access.scope, run.id))
        recorded = {key: each.value for key, each in found.items() if each.state == "done"}
        outcome = self._runs.outcome(access.scope, run.id) or {}
        values = {
            "id": self._ids.new("tst"),
            "name": name[:200],
            "inputs": request.inputs,
            "created_by": access.user_id,
            "created_at": self._clock.now(),
        }
        details = {
            "playbook_id": card.id,
            "rehearsal": replace(rehearsal, recorded=recorded, breakpoints=frozenset()).to_json(),
            "expected": {"output": outcome.get("output")},
        }
        with self._database.write(access.scope) as tx:
            tx.execute(sa.insert(tables.tests).values(**values, **details))
        return KeptTest(**values)

    def kept(self, access: Access, named: str) -> list[KeptTest]:
        card = self._library.get(access, named)
        return [_kept(row) for row in self._rows(access.scope, card)]

    def forget(self, access: Access, named: str, test_id: str) -> None:
        access.require(Role.editor)
        card = self._library.get(access, named)
        if test_id not in {row.id for row in self._rows(access.scope, card)}:
            raise NotFound("There is no such test.")
        with self._database.write(access.scope) as tx:
            tx.execute(sa.delete(tables.tests).where(_T.id == test_id))

    def checked(self, access: Access, card: Card, revision: Revision) -> list[Finding]:
        """Runs every kept test against a revision; says what comes out otherwise."""
        return [self._check(access, card, revision, row) for row in self._rows(access.scope, card)]

    def _check(self, access: Access, card: Card, revision: Revision, row: sa.Row[Any]) -> Finding:
        rehearsal = Rehearsal.of({"test": row.rehearsal}) or Rehearsal()
        # A model's answer and a person's are those of the run that was kept.
        rehearsal = replace(rehearsal, spend=False, ask=False)
        try:
            request = self._request(access, card, revision, row.inputs, rehearsal)
            run, ended = asyncio.run(
                self._runs.start_and_drive(access.scope, access.user_id, request)
            )
        except Invalid as problem:
            return Finding("test", "failed", f"“{row.name}”: {problem.message}")
        if run.status is not Status.done:
            error = (ended or {}).get("error") or {}
            said = error.get("message", f"it is {run.status.value}")
            return Finding("test", "failed", f"“{row.name}”: the run did not end well: {said}")
        now, before = (ended or {}).get("output"), row.expected.get("output")
        if canonical(now) == canonical(before):
            return Finding("test", "passed", f"“{row.name}”: the same output as before.")
        told = f"it gave {_short(before)} and now gives {_short(now)}."
        return Finding("test", "failed", f"“{row.name}”: {told}")

    def _rows(self, scope: Scope, card: Card) -> Sequence[sa.Row[Any]]:
        statement = sa.select(tables.tests).where(_T.playbook_id == card.id).order_by(_T.id)
        with self._database.read(scope) as tx:
            return tx.rows(statement)


def _result(key: str, now: NodeOutput, before: NodeOutput | None, branch: str) -> NodeResult:
    # A test works on a branch of its own: that its name differs says nothing.
    spelled = canonical(now.value).replace(branch, MAIN)
    return NodeResult(
        key=key,
        state=now.state,
        output=now.value,
        before=before.value if before is not None else None,
        was_there=before is not None,
        differs=before is not None and spelled != canonical(before.value),
    )


def _kept(row: sa.Row[Any]) -> KeptTest:
    return KeptTest(**{name: getattr(row, name) for name in KeptTest.__dataclass_fields__})


def _require_nodes(request: RunRequest, names: Sequence[str]) -> None:
    known = {node.id for node in load_flow(request.document).nodes}
    for name in names:
        if plain_path(name).partition("/")[0] not in known:
            raise Invalid(f"The flow has no step {name[:60]!r}.")


def _cut(document: Json, until: str) -> Json:
    """The flow as far as one node: the node, and what it needs."""
    nodes = {node["id"]: node for node in document["nodes"]}
    if until not in nodes:
        raise Invalid(f"The flow has no step {until[:60]!r}.")
    wanted, open_ends = {until}, [until]
    while open_ends:
        node = nodes[open_ends.pop()]
        for need in node.get("needs", ()):
            name = str(need).partition(".")[0]
            if name not in wanted:
                wanted.add(name)
                open_ends.append(name)
    kept = []
    for name, node in nodes.items():
        if name in wanted:
            goes_to = node.get("on_error")
            leads_out = isinstance(goes_to, dict) and goes_to.get("goto") not in wanted
            kept.append({**node, "on_error": "fail"} if leads_out else node)
    return {key: value for key, value in document.items() if key != "outputs"} | {"nodes": kept}


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"
