"""The one door. Whatever touches data, a sandbox or the world outside is a call that takes these thirteen steps.

 1 resolve the tool: the run's token must name it        8 verify the hash again, record the intent
 2 validate the arguments                                9 execute within limits
 3 decide by policy                                     10 record outcome, commits, inverse
 4 reserve budget                                       11 settle the budget
 5 dry-run: a preview and a diff                        12 label the output, redact it
 6 wait for an approval bound to the payload's hash     13 tell whoever listens
 7 undo window for external sends

Steps 1 to 5 are one journal entry (`<key>/plan`), 6 and 7 are waits, 8 to 12 are the entries of the effect (`<key>`).
So a replay takes the same way through the same record, and nothing is decided twice.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeVar

from steward.broker.approval_model import NOT_ENOUGH
from steward.broker.approvals import UNDO_WINDOW, Approvals, Needs
from steward.broker.budgets import Budgets
from steward.broker.call_costs import CallCosts
from steward.broker.call_planning import CallPlanner, within_time
from steward.broker.grants import Grant, TokenDesk
from steward.broker.holdings import HELD
from steward.broker.labels import Labels
from steward.broker.limits import Foresight
from steward.broker.people import People
from steward.broker.plans import (
    Labelled,
    Plan,
    cost_from_json,
    cost_to_json,
    labels_after_edit,
    refusal,
    validated,
)
from steward.broker.policy_text import PolicyVerdict
from steward.broker.rehearsal import Rehearsal, happens, stood_in
from steward.broker.rulebook import ProjectSettings, Rulebook
from steward.broker.samples import sample
from steward.broker.tool import Cost, Notebook, Outcome, Risk, Tool
from steward.broker.toolbox import Toolbox
from steward.core import Bug, Clock, Conflict, Denied, Invalid, NotFound, fault
from steward.runs import (
    Effect,
    EntryType,
    Execution,
    Found,
    Json,
    OpenWait,
    Parked,
    Reconciled,
    Retries,
    Run,
    Status,
    StepFailed,
    Ticket,
    digest,
)
from steward.store import Scope, Transaction
from steward.trace import within_call
from steward.versions import Versions, on_ticket, unsealed

T = TypeVar("T")
ASK_HUMAN: Final = "ask_human"
"""The one tool that is a wait and not a function: the broker answers it with what a person says."""
DECRYPT: Final = "decrypt_columns"
"""The tool whose rules also say who may read and bring back versions from before a column was encrypted."""
UNTRUSTED: Final = "read untrusted content"
_MAYBE_DONE: Final = "Steward was interrupted when it did this before, so it may have happened once. It is not tried again."


Foresee = Callable[[Execution, str, int], Awaitable[Foresight | None]]
"""What so many items below a key will cost, by what they did cost in past runs; None where nobody knows."""


class Broker:
    def __init__(
        self,
        tools: Toolbox,
        planner: CallPlanner,
        rulebook: Rulebook,
        approvals: Approvals,
        budgets: Budgets,
        tokens: TokenDesk,
        clock: Clock,
        versions: Versions,
        undo_window: timedelta = UNDO_WINDOW,
    ) -> None:
        self.tools = tools
        self._planner = planner
        self._rulebook = rulebook
        self._approvals = approvals
        self._tokens = tokens
        self._clock = clock
        self._versions = versions
        self._spending = CallCosts(budgets)
        self._people = People(approvals, tools, undo_window)

    async def begin(self, execution: Execution) -> None:
        """Before a program's first call in each pass: its budget exists. Changes nothing the second time."""
        if not execution.replaying:
            await self._spending.begin(execution)

    async def call(
        self,
        execution: Execution,
        key: str,
        tool_name: str,
        arguments: Json,
        provenance: Mapping[str, Labels] | None = None,
        *,
        asked_for: bool = False,
        doubts: Sequence[str] = (),
        seen: bool = False,
        accept_failure: bool = False,
    ) -> Labelled:
        """The value of a tool call, after everything that has to happen before and after it.

        `asked_for` and `doubts` are findings of who enforces a plan, never a model's word: that a person named where
        this goes, or what a person who is asked should look at. `seen` says that the person who makes the call has
        looked at a preview of exactly this: it is made again only for somebody else who must approve it. With
        `accept_failure` the answer of a service that reports an error is a value like any other.
        """
        labels = provenance or {}
        was_planned = execution.has_begun(f"{key}/plan")
        plan = await self._plan(
            execution,
            key,
            "plan",
            tool_name,
            arguments,
            labels,
            asked_for=asked_for,
            doubts=doubts,
            seen=seen,
        )
        rehearsal = Rehearsal.of(execution.request.grant)
        if rehearsal is not None:
            stand_in = self._stand_in(execution.run.scope, rehearsal, key, plan)
            if stand_in is not None:
                return await self._rehearsed(execution, key, plan, stand_in)
        try:
            await self._spending.afford(execution, key, plan)
            if tool_name == ASK_HUMAN:
                said = await self._people.answer(execution, key, plan)
                return Labelled(said, Labels(("person",), trusted=True), key=key)
            plan, approval_id = await self._let_through(
                execution, key, plan, labels, was_planned=was_planned
            )
            tool = self.tools.planned(plan)
            outcome = await self._perform(
                execution, key, tool, plan, approval_id, accept_failure=accept_failure
            )
        except StepFailed as failure:
            if failure.code != "budget-exceeded":
                await self._spending.release(execution, key)
            raise
        labelled = self._labelled(execution, key, plan, outcome)
        # Journals of earlier releases do not say it.
        if said := outcome.get("failure"):
            details = {"status": said["status"]} if said["status"] else None
            raise StepFailed(key, said["code"], said["message"], details)
        return labelled

    def _stand_in(self, scope: Scope, rehearsal: Rehearsal, key: str, plan: Plan) -> Json:
        """What a test gets in place of the call; None where the call happens on the branch of the test."""
        tool = self.tools.planned(plan)
        is_known, value = rehearsal.mock(key)
        if is_known:
            return stood_in(tool, plan, value)
        if plan.tool == ASK_HUMAN and rehearsal.ask:
            return None
        if plan.tool != ASK_HUMAN and happens(tool, plan):
            return None
        is_known, value = rehearsal.record(key)
        return stood_in(tool, plan, value if is_known else self._made_up(scope, plan))

    def _made_up(self, scope: Scope, plan: Plan) -> Json:
        """A value as the tool gives it, by its schema; where nobody knows that, a note that nothing was done."""
        pin = plan.pinned["pin"] if plan.pinned is not None else None
        try:
            schema = self.tools.get(scope, plan.tool, pin).gives
        except (NotFound, Denied, Invalid, Conflict):
            # A journal is read long after a tool is gone.
            schema = None
        return sample(schema) if schema else {"not_done": plan.tool}

    async def _rehearsed(
        self, execution: Execution, key: str, plan: Plan, outcome: Json
    ) -> Labelled:
        async def perform() -> Json:
            return outcome

        await self._spending.release(execution, key)
        found = await execution.step(key, plan.body, perform, type=EntryType.call_done)
        return self._labelled(execution, key, plan, found)

    def forbidden(self, run: Run, grant: Json) -> frozenset[str]:
        """Tools that policy refuses this run whatever the arguments; a plan need not name them."""
        return self._planner.forbidden(run, Grant.from_json(grant))

    async def afford(
        self,
        execution: Execution,
        key: str,
        what: str,
        estimate: Cost,
        price: Callable[[], Decimal] = Decimal,
    ) -> None:
        """Sets budget aside for something that is no tool, such as a request to a model; asks where it lacks.

        `price` gives its dollars at most. They are recorded as found: a replay elsewhere knows no prices.
        """
        wanted = cost_to_json(estimate)

        async def reserve() -> Json:
            cost = replace(estimate, usd=await asyncio.to_thread(price))
            return {
                "over": await self._spending.reserve(execution, key, cost),
                "cost": cost_to_json(cost),
            }

        found = await execution.step(
            f"{key}/budget/reserve",
            {"for": what, "cost": wanted},
            reserve,
            type=EntryType.budget_reserved,
            of=key,
        )
        plan = Plan(what, {}, {}, {}, None, {}, found.get("cost", wanted), found["over"])
        await self._spending.afford(execution, key, plan)

    async def spent(self, execution: Execution, key: str, cost: Cost) -> None:
        """Counts what it really took."""

        async def settle() -> Json:
            self._spending.settle(execution, key, cost)
            return None

        await execution.step(
            f"{key}/budget/settle",
            {"cost": cost_to_json(cost)},
            settle,
            type=EntryType.budget_settled,
            of=key,
        )

    async def set_aside(
        self, execution: Execution, key: str, parts: int, what: str, foresee: Foresee
    ) -> bool:
        """Holds budget for everything below a key before any of it begins, and asks where it lacks.

        False where nothing is known of what it will cost. A journal that began without it goes on without it.
        """
        at = f"{key}{HELD}"
        step = f"{at}/budget/reserve"
        if not execution.has_begun(step):
            if execution.replaying or execution.has_begun_below(key):
                return False
            ahead = await foresee(execution, key, parts)
            if ahead is None:
                return False
        else:
            ahead = None

        async def reserve() -> Json:
            if ahead is None:
                raise Bug(f"Nothing was foreseen for {key}.")
            over = await self._spending.hold(execution, at, ahead)
            return {
                "over": over and ahead.breach_of(over, what),
                "cost": cost_to_json(ahead.cost),
                "runs": ahead.runs,
                "agents": {name: cost_to_json(cost) for name, cost in ahead.agents.items()},
            }

        found = await execution.step(
            step, {"for": "items", "parts": parts}, reserve, type=EntryType.budget_reserved, of=key
        )
        # Journals of earlier releases do not say who uses it.
        agents = {name: cost_from_json(cost) for name, cost in found.get("agents", {}).items()}
        known = Foresight(cost_from_json(found["cost"]), parts, found["runs"], agents)
        plan = Plan(what, {}, {}, {}, None, {}, found["cost"], found["over"])
        await self._spending.afford(execution, at, plan, known)
        execution.holdings[at] = (execution.run.id, at)
        return True

    async def give_back(self, execution: Execution, key: str) -> None:
        """Frees what was held for everything below a key and not used."""
        at = f"{key}{HELD}"
        execution.holdings.pop(at, None)
        await self._spending.release(execution, at)

    def forget_held(self, execution: Execution) -> None:
        """Frees what a cancelled run held, in the transaction that ends it."""
        self._spending.forget_held(execution)

    def forget_lost(self, tx: Transaction, run: Run) -> None:
        """Frees what a run that was set aside had set aside, in the transaction that ends it."""
        self._spending.forget_lost(tx, run)

    async def approve_together(
        self,
        execution: Execution,
        key: str,
        tool_name: str,
        calls: Sequence[tuple[Json, Mapping[str, Labels]]],
    ) -> None:
        """Asks once for a declared list of calls that will follow; each is shown, hashed and checked by itself."""
        if Rehearsal.of(execution.request.grant) is not None:
            return
        plans = [
            await self._plan(
                execution,
                key,
                f"batch/{number}/plan",
                tool_name,
                arguments,
                labels,
                of=f"{key}/batch/{number}",
                ahead=True,
            )
            for number, (arguments, labels) in enumerate(calls)
        ]
        asked = [plan for plan in plans if plan.decision["outcome"] == PolicyVerdict.ask.value]
        if asked:
            await self._people.approve_together(execution, key, asked)

    # Steps 1 to 5

    async def _plan(
        self,
        execution: Execution,
        call_key: str,
        stage: str,
        tool_name: str,
        arguments: Json,
        provenance: Mapping[str, Labels],
        *,
        of: str | None = None,
        ahead: bool = False,
        asked_for: bool = False,
        doubts: Sequence[str] = (),
        seen: bool = False,
    ) -> Plan:
        """`ahead` looks at a call that comes later by itself: nothing is set aside for it yet."""
        key = f"{call_key}/{stage}"
        labels = {name: label.to_json() for name, label in sorted(provenance.items())}

        async def perform() -> Json:
            planned = await self._planned(
                execution,
                None if ahead else call_key,
                tool_name,
                arguments,
                provenance,
                asked_for=asked_for,
                doubts=doubts,
                seen=seen,
            )
            return dict(vars(planned))

        asked = {"tool": tool_name, "arguments": arguments, "provenance": labels}
        if asked_for:
            asked["asked_for"] = True
        if seen:
            asked["seen"] = True
        found = await execution.step(
            key,
            asked,
            perform,
            type=EntryType.call_planned,
            of=of or call_key,
            interruptible=True,
            lazily=partial(self._goes_on, execution),
        )
        plan = Plan(**found)
        if plan.decision["outcome"] == PolicyVerdict.deny.value:
            raise StepFailed(key, "denied", refusal(plan.tool, plan.decision))
        return plan

    async def _planned(
        self,
        execution: Execution,
        call_key: str | None,
        tool_name: str,
        arguments: Json,
        provenance: Mapping[str, Labels],
        *,
        asked_for: bool,
        doubts: Sequence[str],
        seen: bool,
    ) -> Plan:
        notebook = execution.notebook_at(call_key) if call_key is not None else None
        planning = self._planner.plan(
            execution.run,
            _grant(execution),
            partial(self._granted, execution, tool_name, notebook),
            arguments,
            provenance,
            read_untrusted=UNTRUSTED in execution.marks,
            asked_for=asked_for,
            doubts=doubts,
            seen=seen,
            notebook=notebook,
        )
        plan = await self._watched(execution, call_key or "", planning, stoppable=False)
        outcome = plan.decision["outcome"]
        if outcome == PolicyVerdict.deny.value or call_key is None:
            return plan
        waits = outcome == PolicyVerdict.ask.value or tool_name == ASK_HUMAN
        estimate = cost_from_json(plan.estimate)
        over = await self._spending.reserve(execution, call_key, estimate, waits=waits)
        return replace(plan, over_budget=over)

    def _goes_on(self, execution: Execution, planned: Json) -> bool:
        """Whether the intent of a direct call follows its plan at once, so that one write serves both."""
        plan = Plan(**planned)
        return (
            _grant(execution).direct
            and plan.decision["outcome"] in {PolicyVerdict.allow.value, PolicyVerdict.dry_run.value}
            and plan.over_budget is None
            and _is_effect(self.tools.planned(plan))
        )

    def _granted(
        self, execution: Execution, tool_name: str, notebook: Notebook | None
    ) -> Tool[Any]:
        claims = self._tokens.current(execution)
        tool = self.tools.get(execution.run.scope, tool_name)
        claims.refuse_unless_covered(tool_name, tool.risk)
        _grant(execution).fixed.refuse_other_code(tool.pin)
        if tool.direct_only and not _grant(execution).direct:
            raise Denied(f"{tool.title} is for people to do by hand, not for flows and agents.")
        if tool.memory_only and notebook is None:
            raise Denied(f"{tool.title} is for agents that have a memory.")
        return tool

    # Steps 6 and 7

    async def _let_through(
        self,
        execution: Execution,
        key: str,
        plan: Plan,
        labels: Mapping[str, Labels],
        *,
        was_planned: bool,
    ) -> tuple[Plan, str | None]:
        """The call as it may happen, after people were asked and the window closed; with the approval it needs.

        Rules and people may change while a run waits. What the rules then ask of people is asked, as often as it
        takes; what they forbid is found at the effect.
        """

        async def replan(stage: str, before: Plan, arguments: Json, editor: str | None) -> Plan:
            given = labels
            if editor is not None:
                known = before.provenance["arguments"].items()
                given = {name: Labels.from_json(label) for name, label in known}
                given = labels_after_edit(before.arguments, arguments, given, editor)
            return await self._plan(execution, key, stage, before.tool, arguments, given)

        turn = ""
        for again in itertools.count(1):
            approval_id = None
            if plan.decision["outcome"] == PolicyVerdict.ask.value:
                plan, approval_id = await self._people.approved(execution, key, turn, plan, replan)
            tool = self.tools.planned(plan)
            if tool.risk is Risk.external_send:
                await self._people.window_closed(execution, key, turn, tool)
            turn = f"again-{again}/"
            stage = f"{turn}edited/again"
            if not execution.has_begun(f"{key}/{stage}"):
                settled = execution.replaying or execution.has_begun(key) or not was_planned
                if settled or not await asyncio.to_thread(
                    self._must_ask, execution, plan, approval_id
                ):
                    break
            plan = await self._plan_again(execution, key, stage, plan)
        return plan, approval_id

    def _must_ask(self, execution: Execution, plan: Plan, approval_id: str | None) -> bool:
        """Whether the rules of this moment ask people who did not approve the call."""
        run = execution.run
        _, decision = self._planner.decide_again(run, _grant(execution), plan)
        if decision.verdict is not PolicyVerdict.ask:
            return False
        needs = Needs.of(decision)
        return approval_id is None or self._approvals.needs_another(run.scope, approval_id, needs)

    async def _plan_again(self, execution: Execution, key: str, stage: str, plan: Plan) -> Plan:
        known = plan.provenance
        labels = {name: Labels.from_json(each) for name, each in known["arguments"].items()}
        return await self._plan(
            execution,
            key,
            stage,
            plan.tool,
            plan.arguments,
            labels,
            asked_for=known.get("asked_for", False),
            doubts=known.get("doubts", ()),
        )

    async def _watched(
        self, execution: Execution, key: str, work: Awaitable[T], *, stoppable: bool
    ) -> T:
        """Work that reports how far it is; see `Execution.working`."""
        async with execution.working(key, stoppable=stoppable):
            return await work

    # Steps 8 to 12

    async def _perform(
        self,
        execution: Execution,
        key: str,
        tool: Tool[Any],
        plan: Plan,
        approval_id: str | None,
        *,
        accept_failure: bool,
    ) -> Json:
        arguments = validated(tool, plan.arguments)
        was_interrupted = execution.has_begun(key)
        looked: list[ProjectSettings] = []

        async def look(ticket: Ticket | None) -> None:
            used_by = ticket.idempotency_key if ticket else digest([execution.run.id, key])
            looking = asyncio.to_thread(
                self._second_look, execution, tool, plan, approval_id, used_by
            )
            looked.append(await _allowed(looking, was_interrupted=was_interrupted))

        async def run(ticket: Ticket | None) -> Json:
            if not looked:
                # This is another try, and time has passed.
                await look(ticket)
            settings = looked.pop()
            started = self._clock.monotonic()
            notebook = execution.notebook_at(key)
            context = self._planner.context(
                execution.run, _grant(execution), settings, ticket, key, notebook
            )
            # Only what can be looked up afterwards is stopped on its way.
            stoppable = ticket is not None and tool.reconcile is not None
            with (
                on_ticket(
                    ticket.idempotency_key if ticket else None,
                    execution.run.id,
                    execution.refuse_unless_driving,
                ),
                within_call(execution.run.root_id, execution.run.id, key),
                unsealed(allowed=DECRYPT in (tool.name, *plan.body.get("acts_as", ()))),
            ):
                work = self._watched(
                    execution, key, tool.run(context, arguments), stoppable=stoppable
                )
                try:
                    outcome: Outcome = await within_time(tool, work, is_effect=ticket is not None)
                except Parked as parked:
                    # A tool that waits for another run says so; it is called again once that is over.
                    waiting = OpenWait(Status.blocked, parked.reason, None, parked.request)
                    execution.open_waits[key] = waiting
                    raise
            fault("broker.executed")
            spent = self._clock.monotonic() - started
            failure = None if accept_failure else outcome.failure
            return await self._settled(execution, key, replace(outcome, failure=failure), spent)

        if not _is_effect(tool):
            retries = Retries(attempts=tool.attempts)
            return await execution.step(
                key,
                plan.body,
                lambda: run(None),
                retries,
                type=EntryType.call_done,
                interruptible=True,
            )

        async def reconcile(ticket: Ticket) -> Reconciled:
            if tool.reconcile is None:
                raise StepFailed(key, "bug", "This tool cannot look what happened.")
            settings = await asyncio.to_thread(self._rulebook.settings, execution.run.scope)
            context = self._planner.context(execution.run, _grant(execution), settings, ticket)
            found = await tool.reconcile(context, arguments, ticket)
            if found.found is Found.happened:
                cost = cost_from_json(found.result["cost"])
                self._spending.settle(execution, key, cost)
            return found

        effect = Effect(
            run,
            reconcile if tool.reconcile is not None else None,
            idempotent=tool.idempotent,
            retries=Retries(attempts=tool.attempts),
            is_last=_grant(execution).direct,
            check=look,
        )
        outcome = await execution.effect(key, plan.body, effect)
        if isinstance(outcome, dict) and "labels" in outcome:
            return outcome
        # A person looked and says that it happened; nobody knows what it cost.
        await self._spending.release(execution, key)
        return _as_told(outcome)

    def _second_look(
        self,
        execution: Execution,
        tool: Tool[Any],
        plan: Plan,
        approval_id: str | None,
        used_by: str,
    ) -> ProjectSettings:
        """The last look before a call happens: token, policy, author and approver as they are at this moment."""
        run = execution.run
        self._tokens.current(execution).refuse_unless_covered(tool.name, tool.risk)
        settings, decision = self._planner.decide_again(run, _grant(execution), plan)
        if decision.verdict is PolicyVerdict.deny:
            raise Denied(refusal(plan.tool, decision.to_json()))
        asks = decision.verdict is PolicyVerdict.ask
        if approval_id is not None:
            fault("broker.approved")
            # What is about to happen, not what the record calls it.
            body = {**plan.body, "run": run.id, "tool": tool.name, "arguments": plan.arguments}
            needs = Needs.of(decision) if asks else None
            self._approvals.redeem(run.scope, approval_id, body, used_by, needs)
        elif asks:
            raise Denied(
                f"The policy has just changed: {tool.title} needs an approval now. "
                "Start it again to ask for one.",
                code=NOT_ENOUGH,
            )
        return settings

    async def _settled(
        self, execution: Execution, key: str, outcome: Outcome, seconds: float
    ) -> Json:
        cost = Cost(
            outcome.cost.usd,
            outcome.cost.tokens,
            outcome.cost.rows,
            outcome.cost.bytes,
            outcome.cost.seconds or round(seconds, 3),
        )
        self._spending.settle(execution, key, cost)
        if outcome.commits:
            self._hold(execution, outcome.commits)
        return {
            "value": outcome.value,
            "summary": outcome.summary,
            "artifacts": [asdict(item) for item in outcome.artifacts],
            "commits": list(outcome.commits),
            "inverse": outcome.inverse,
            "labels": Labels(outcome.sources, trusted=outcome.trusted).to_json(),
            "cost": cost_to_json(cost),
            **({"failure": outcome.failure.to_json()} if outcome.failure else {}),
        }

    def _labelled(self, execution: Execution, key: str, plan: Plan, outcome: Json) -> Labelled:
        # A tool cannot launder what went into it.
        given = [Labels.from_json(each) for each in plan.provenance["arguments"].values()]
        labels = Labels.from_json(outcome["labels"]).joined(*given)
        if not labels.trusted:
            execution.marks.add(UNTRUSTED)
        return Labelled(
            outcome["value"],
            labels,
            outcome["summary"],
            tuple(outcome["artifacts"]),
            tuple(outcome["commits"]),
            key,
        )

    def _hold(self, execution: Execution, commits: tuple[str, ...]) -> None:
        """Retention keeps what a run refers to: it must stay undoable."""
        versions, run_id = self._versions, execution.run.id
        execution.take_along(lambda tx: versions.pin_within(tx, "run", run_id, commits=commits))


async def _allowed(
    looking: Awaitable[ProjectSettings], *, was_interrupted: bool
) -> ProjectSettings:
    """What the second look finds; where it refuses, people are told whether anything was done."""
    try:
        return await looking
    except Denied as refused:
        done = _MAYBE_DONE if was_interrupted else "Nothing was done."
        raise Denied(f"{refused.message} {done}", code=refused.specific_code) from refused


def _is_effect(tool: Tool[Any]) -> bool:
    """Whether a call changes something, so that it is intended, done and recorded; others are plain steps."""
    return tool.effects.writes or not tool.risk.at_most(Risk.compute)


def _grant(execution: Execution) -> Grant:
    return Grant.from_json(execution.request.grant)


def _as_told(value: Json) -> Json:
    return {
        "value": value,
        "summary": "It happened, as a person found out",
        "artifacts": [],
        "commits": [],
        "inverse": None,
        "labels": Labels(("person",)).to_json(),
        "cost": cost_to_json(Cost()),
    }
