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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from steward.broker.approvals import UNDO_WINDOW, Approvals, Ask
from steward.broker.budgets import Budget, BudgetExceeded, Budgets
from steward.broker.grants import TokenDesk
from steward.broker.groups import Groups
from steward.broker.labels import Labels
from steward.broker.policy import (
    Amounts,
    Asker,
    Origin,
    Question,
    Resource,
    decide,
)
from steward.broker.policy_text import Verdict
from steward.broker.rulebook import Rulebook
from steward.broker.tokens import Claims
from steward.broker.tool import (
    Arguments,
    Cost,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
)
from steward.core.clock import Clock
from steward.core.errors import Denied, Invalid, Problem
from steward.core.faults import fault
from steward.core.plugins import Registry
from steward.data.versions import on_ticket
from steward.identity import Role
from steward.runs import (
    Effect,
    Execution,
    Found,
    Json,
    Reconciled,
    Retries,
    Status,
    StepFailed,
    Ticket,
    digest,
)

ASK_HUMAN: Final = "ask_human"
"""The one tool that is a wait and not a function: the broker answers it with what a person says."""
UNTRUSTED: Final = "read untrusted content"
_LONGEST_REASON: Final = 200


@dataclass(frozen=True)
class Labelled:
    """The value of a call, and what is known of where it comes from."""

    value: Json
    labels: Labels
    summary: str = ""
    artifacts: tuple[Json, ...] = ()
    commits: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class Plan:
    """A call that was checked and looked at, and has not happened yet."""

    tool: str
    arguments: Json
    body: Json
    decision: Json
    preview: Json
    provenance: Json
    estimate: Json
    over_budget: Json


class Broker:
    def __init__(
        self,
        tools: Registry[Tool[Any]],
        rulebook: Rulebook,
        groups: Groups,
        approvals: Approvals,
        budgets: Budgets,
        tokens: TokenDesk,
        clock: Clock,
        services: Mapping[str, Any],
        undo_window: timedelta = UNDO_WINDOW,
    ) -> None:
        self.tools = tools
        self._rulebook = rulebook
        self._groups = groups
        self._approvals = approvals
        self._budgets = budgets
        self._tokens = tokens
        self._clock = clock
        self._services = services
        self._window = undo_window

    async def begin(self, execution: Execution) -> None:
        """Before a program's first call in each pass: its budget exists. Changes nothing the second time."""
        if execution.replaying:
            return
        run = execution.run
        limits = {
            name: value for name, value in execution.request.budget.items() if name != "on_breach"
        }
        await asyncio.to_thread(self._budgets.open, run, Budget.parse(limits))

    async def call(
        self,
        execution: Execution,
        key: str,
        tool_name: str,
        arguments: Json,
        provenance: Mapping[str, Labels] | None = None,
    ) -> Labelled:
        """The value of a tool call, after everything that has to happen before and after it."""
        labels = provenance or {}
        plan = await self._plan(execution, key, "plan", tool_name, arguments, labels)
        try:
            plan = await self._afford(execution, key, plan)
            if tool_name == ASK_HUMAN:
                return await self._ask_human(execution, key, plan)
            approval_id: str | None = None
            if plan.decision["outcome"] == Verdict.ask.value:
                plan, approval_id = await self._approved(execution, key, plan, labels)
            tool = self.tools.get(tool_name)
            if tool.risk is Risk.external_send:
                await self._window_closed(execution, key, tool)
            outcome = await self._perform(execution, key, tool, plan, approval_id)
        except StepFailed as failure:
            if failure.code != "budget-exceeded":
                await self._release(execution, key)
            raise
        return self._labelled(execution, key, plan, outcome)

    async def approve_together(
        self,
        execution: Execution,
        key: str,
        tool_name: str,
        calls: Sequence[tuple[Json, Mapping[str, Labels]]],
    ) -> None:
        """Asks once for a declared list of calls that will follow; each is shown, hashed and checked by itself."""
        plans = [
            await self._plan(
                execution, key, f"batch/{number}/plan", tool_name, arguments, labels, ahead=True
            )
            for number, (arguments, labels) in enumerate(calls)
        ]
        asked = [plan for plan in plans if plan.decision["outcome"] == Verdict.ask.value]
        if asked:
            await self._approved_batch(execution, f"{key}/approval/batch", asked)

    async def _approved_batch(
        self, execution: Execution, wait_key: str, plans: Sequence[Plan]
    ) -> None:
        run, first = execution.run, plans[0]
        tool = self.tools.get(first.tool)
        bodies = [plan.body for plan in plans]
        sources = sorted({source for plan in plans for source in plan.provenance["sources"]})
        summaries = [plan.preview["summary"] if plan.preview else tool.title for plan in plans]
        ask = Ask(
            run_id=run.id,
            wait_key=wait_key,
            tool=tool.name,
            title=f"{tool.title}: {len(plans)} calls",
            risk=tool.risk.value,
            body={"run": run.id, "tool": tool.name, "calls": [digest(body) for body in bodies]},
            preview={"summary": f"{len(plans)} calls", "details": {"calls": summaries}},
            provenance={
                "trusted": all(plan.provenance["trusted"] for plan in plans),
                "untrusted_arguments": any(p.provenance["untrusted_arguments"] for p in plans),
                "sources": sources,
                "arguments": {},
            },
            rules=first.decision["rules"],
            approvers=sorted({name for plan in plans for name in plan.decision["approvers"]}),
            reason=first.decision["reason"],
            requested_by=run.created_by,
            batch=bodies,
        )
        asked = await self._put_to_people(execution, wait_key, ask)
        await self._answered(execution, wait_key, asked, ask.body)

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
        ahead: bool = False,
    ) -> Plan:
        """`ahead` looks at a call that comes later by itself: nothing is set aside for it yet."""
        key = f"{call_key}/{stage}"
        labels = {name: label.to_json() for name, label in sorted(provenance.items())}

        async def perform() -> Json:
            reserved_for = None if ahead else call_key
            return await self._planned(execution, reserved_for, tool_name, arguments, provenance)

        asked = {"tool": tool_name, "arguments": arguments, "provenance": labels}
        found = await execution.step(key, asked, perform)
        plan = Plan(**found)
        if plan.decision["outcome"] == Verdict.deny.value:
            raise StepFailed(key, "denied", _refusal(plan))
        return plan

    async def _planned(
        self,
        execution: Execution,
        call_key: str | None,
        tool_name: str,
        arguments: Json,
        provenance: Mapping[str, Labels],
    ) -> Json:
        claims = await asyncio.to_thread(self._tokens.current, execution)
        tool = self._resolved(claims, tool_name)
        checked = validated(tool, arguments)
        context = self._context(execution, claims)
        estimate = tool.estimate(context, checked) if tool.estimate else Cost()
        origin = _origin(provenance, read_untrusted=UNTRUSTED in execution.marks)
        question = await asyncio.to_thread(
            self._question, execution, claims, tool, checked, origin, estimate
        )
        policies = await asyncio.to_thread(
            self._rulebook.in_force, execution.run.scope, claims.playbook
        )
        decision = decide(policies, question)
        preview = None
        harmless = decision.verdict is Verdict.allow and tool.risk.at_most(Risk.compute)
        if decision.verdict is not Verdict.deny and tool.dry_run is not None and not harmless:
            preview = await self._within(tool, tool.dry_run(context, checked))
        over = None
        if decision.verdict is not Verdict.deny and call_key is not None:
            over = await self._reserve(execution, call_key, estimate)
        return asdict(
            Plan(
                tool=tool_name,
                arguments=checked.model_dump(mode="json"),
                body=_body(execution, tool, checked, claims, preview),
                decision=decision.to_json(),
                preview=asdict(preview) if preview else None,
                provenance={
                    "trusted": not (origin.untrusted_arguments or origin.read_untrusted),
                    "untrusted_arguments": origin.untrusted_arguments,
                    "sources": list(origin.sources),
                    "arguments": {name: label.to_json() for name, label in provenance.items()},
                },
                estimate=_plain_cost(estimate),
                over_budget=over,
            )
        )

    def _resolved(self, claims: Claims, tool_name: str) -> Tool[Any]:
        tool = self.tools.get(tool_name)
        claims.refuse_unless_covered(tool_name, tool.risk)
        return tool

    def _question(
        self,
        execution: Execution,
        claims: Claims,
        tool: Tool[Any],
        arguments: Arguments,
        origin: Origin,
        estimate: Cost,
    ) -> Question:
        run = execution.run
        role = self._groups.role(run.scope, run.created_by)
        destination = tool.destination(arguments) if tool.destination else None
        resource = Resource("destination", destination) if destination else Resource()
        return Question(
            asker=Asker(
                run.created_by,
                # Somebody who left the project may look at what they started, and no more.
                role if role is not None else Role.viewer,
                self._groups.of(run.scope, run.created_by),
            ),
            scope=run.scope,
            tool=tool.name,
            risk=tool.risk,
            resource=resource,
            effects=tool.effects,
            playbook=claims.playbook,
            branch=claims.branch,
            destination=destination,
            safe_mode=self._rulebook.settings(run.scope).safe_mode,
            origin=origin,
            amounts=Amounts(estimate.rows, estimate.bytes, estimate.usd),
        )

    def _context(
        self, execution: Execution, claims: Claims, ticket: Ticket | None = None
    ) -> ToolContext:
        run = execution.run
        return ToolContext(
            scope=run.scope,
            run_id=run.id,
            author=run.created_by,
            branch=claims.branch,
            services=self._services,
            settings=self._rulebook.settings(run.scope).tools,
            ticket=ticket,
        )

    async def _within(self, tool: Tool[Any], work: Any) -> Any:
        try:
            async with asyncio.timeout(tool.timeout.total_seconds()):
                return await work
        except TimeoutError:
            seconds = tool.timeout.total_seconds()
            raise Denied(
                f"{tool.title} took longer than the allowed {seconds:g} seconds.", code="timeout"
            ) from None

    # Step 4 and what follows when it does not suffice

    async def _reserve(self, execution: Execution, key: str, estimate: Cost) -> Json:
        try:
            await asyncio.to_thread(self._budgets.reserve, execution.run, key, estimate)
        except BudgetExceeded as breach:
            return breach.to_json()
        return None

    async def _afford(self, execution: Execution, key: str, plan: Plan) -> Plan:
        """Asks for a larger budget until the call fits or somebody ends it."""
        over, attempt = plan.over_budget, 0
        while over is not None:
            if execution.request.budget.get("on_breach", "ask") == "abort":
                raise StepFailed(key, "budget-exceeded", over["message"])
            wait_key = f"{key}/budget/{attempt}"
            answer = await execution.wait(
                wait_key,
                {"kind": "budget", "breach": over, "tool": plan.tool},
                status=Status.blocked,
                reason=over["message"][:_LONGEST_REASON],
            )
            if answer.get("decision") != "raise":
                raise StepFailed(key, "budget-exceeded", over["message"])
            over = await self._reserve_more(execution, key, wait_key, plan, over, answer)
            attempt += 1
        return plan

    async def _reserve_more(
        self, execution: Execution, key: str, wait_key: str, plan: Plan, over: Json, answer: Json
    ) -> Json:
        granted = Budget.parse(answer.get("limits", {}))

        async def again() -> Json:
            raise_limit = partial(
                self._budgets.raise_limit, execution.run, granted, at=over["run_id"]
            )
            await asyncio.to_thread(raise_limit)
            return {"over": await self._reserve(execution, key, _cost(plan.estimate))}

        asked = {"estimate": plan.estimate, "limits": answer.get("limits", {})}
        found = await execution.step(f"{wait_key}/reserve", asked, again)
        return found["over"]

    # Step 6

    async def _approved(
        self,
        execution: Execution,
        key: str,
        plan: Plan,
        provenance: Mapping[str, Labels],
    ) -> tuple[Plan, str]:
        attempt = 0
        while True:
            wait_key = f"{key}/approval/{attempt}"
            asked = await self._requested(execution, wait_key, plan)
            if asked["covered"]:
                return plan, asked["approval_id"]
            answer = await self._answered(execution, wait_key, asked, plan.body)
            if not answer["edited"]:
                return plan, asked["approval_id"]
            edited = answer["body"]["arguments"]
            plan = await self._plan(
                execution, key, f"edited/{attempt}", plan.tool, edited, provenance
            )
            if digest(plan.body) == answer["body_hash"]:
                return plan, asked["approval_id"]
            # The world moved between the edit and now; what would happen must be seen again.
            attempt += 1

    async def _requested(self, execution: Execution, wait_key: str, plan: Plan) -> Json:
        run = execution.run
        tool = self.tools.get(plan.tool)
        ask = Ask(
            run_id=run.id,
            wait_key=wait_key,
            tool=plan.tool,
            title=plan.preview["summary"] if plan.preview else tool.title,
            risk=tool.risk.value,
            body=plan.body,
            preview=plan.preview,
            provenance=plan.provenance,
            rules=plan.decision["rules"],
            approvers=plan.decision["approvers"],
            reason=plan.decision["reason"],
            requested_by=run.created_by,
        )
        return await self._put_to_people(execution, wait_key, ask)

    async def _put_to_people(self, execution: Execution, wait_key: str, ask: Ask) -> Json:
        """Puts a request into the inbox, unless an earlier approval of this run covers it."""
        scope = execution.run.scope

        async def request() -> Json:
            found = await asyncio.to_thread(self._approvals.covering, scope, ask)
            covered = found is not None
            if found is None:
                found = await asyncio.to_thread(self._approvals.ask, scope, ask)
            return {
                "approval_id": found.id,
                "title": found.title,
                "expires_at": found.expires_at.isoformat(),
                "covered": covered,
            }

        return await execution.step(f"{wait_key}/request", {"body": ask.body}, request)

    async def _answered(self, execution: Execution, wait_key: str, asked: Json, body: Json) -> Json:
        """The approval that somebody gave; a refusal or silence fails the call."""
        key = wait_key.partition("/approval/")[0]
        answer = await execution.wait(
            wait_key,
            {"kind": "approval", "approval_id": asked["approval_id"], "body": body},
            status=Status.waiting_for_approval,
            reason=f"approval: {asked['title']}"[:_LONGEST_REASON],
            expires_at=datetime.fromisoformat(asked["expires_at"]),
        )
        if answer.get("expired"):
            await self._expire(execution, wait_key, asked["approval_id"])
            raise StepFailed(key, "approval-expired", "Nobody approved this in time.")
        if answer["decision"] != "approved":
            said = f": {answer['reason']}" if answer.get("reason") else ""
            raise StepFailed(key, "rejected", f"This was rejected{said}")
        return answer

    async def _expire(self, execution: Execution, wait_key: str, approval_id: str) -> None:
        async def mark() -> Json:
            await asyncio.to_thread(self._approvals.expire, execution.run.scope, approval_id)
            return None

        await execution.step(f"{wait_key}/expired", {"approval_id": approval_id}, mark)

    async def _ask_human(self, execution: Execution, key: str, plan: Plan) -> Labelled:
        question = plan.arguments
        answer = await execution.wait(
            f"{key}/answer",
            {"kind": "question", **question},
            status=Status.blocked,
            reason=f"question: {question.get('question', '')}"[:_LONGEST_REASON],
        )
        return Labelled(answer.get("answer"), Labels(("person",), trusted=True), key=key)

    # Step 7

    async def _window_closed(self, execution: Execution, key: str, tool: Tool[Any]) -> None:
        begun = await execution.now(f"{key}/window/begun")
        answer = await execution.wait(
            f"{key}/window",
            {"kind": "undo_window", "tool": tool.name},
            status=Status.blocked,
            reason=f"{tool.title} goes out in a moment",
            expires_at=begun + self._window,
        )
        if answer.get("decision") == "undone":
            raise StepFailed(key, "taken-back", "The message was taken back before it was sent.")

    # Steps 8 to 12

    async def _perform(
        self,
        execution: Execution,
        key: str,
        tool: Tool[Any],
        plan: Plan,
        approval_id: str | None,
    ) -> Json:
        arguments = validated(tool, plan.arguments)

        async def run(ticket: Ticket | None) -> Json:
            claims = await asyncio.to_thread(self._tokens.current, execution)
            self._resolved(claims, tool.name)
            if approval_id is not None:
                fault("broker.approved")
                await asyncio.to_thread(
                    self._approvals.redeem,
                    execution.run.scope,
                    approval_id,
                    plan.body,
                    ticket.idempotency_key if ticket else digest([execution.run.id, key]),
                )
            started = self._clock.monotonic()
            context = self._context(execution, claims, ticket)
            with on_ticket(ticket.idempotency_key if ticket else None, execution.run.id):
                outcome: Outcome = await self._within(tool, tool.run(context, arguments))
            fault("broker.executed")
            spent = self._clock.monotonic() - started
            return await self._settled(execution, key, outcome, spent)

        if tool.risk.at_most(Risk.compute) and not tool.effects.writes:
            retries = Retries(attempts=tool.attempts)
            return await execution.step(key, plan.body, lambda: run(None), retries)

        async def reconcile(ticket: Ticket) -> Reconciled:
            if tool.reconcile is None:
                raise StepFailed(key, "bug", "This tool cannot look what happened.")
            claims = await asyncio.to_thread(self._tokens.current, execution)
            context = self._context(execution, claims, ticket)
            found = await tool.reconcile(context, arguments, ticket)
            if found.found is Found.happened:
                cost = _cost(found.result["cost"])
                await asyncio.to_thread(self._budgets.settle, execution.run, key, cost)
            return found

        effect = Effect(
            run,
            reconcile if tool.reconcile is not None else None,
            idempotent=tool.idempotent,
            retries=Retries(attempts=tool.attempts),
        )
        return await execution.effect(key, plan.body, effect)

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
        await asyncio.to_thread(self._budgets.settle, execution.run, key, cost)
        if outcome.commits:
            await asyncio.to_thread(self._hold, execution, outcome.commits)
        return {
            "value": outcome.value,
            "summary": outcome.summary,
            "artifacts": [asdict(item) for item in outcome.artifacts],
            "commits": list(outcome.commits),
            "inverse": outcome.inverse,
            "labels": Labels(outcome.sources, trusted=outcome.trusted).to_json(),
            "cost": _plain_cost(cost),
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
        run = execution.run
        self._services["workbench"].versions.pin(run.scope, "run", run.id, commits=commits)

    async def _release(self, execution: Execution, key: str) -> None:
        """Gives back what was reserved for a call that did not happen."""

        async def settle() -> Json:
            await asyncio.to_thread(self._budgets.release, execution.run, key)
            return None

        await execution.step(f"{key}/release", {}, settle)


def validated(tool: Tool[Any], arguments: Json) -> Arguments:
    """The arguments as the tool declares them, or every mistake in them at once."""
    try:
        found: Arguments = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        problems = [
            Problem("/" + "/".join(str(part) for part in item["loc"]), item["msg"])
            for item in error.errors(include_url=False, include_input=False)
        ]
        listed = "; ".join(f"{p.pointer}: {p.message}" for p in problems[:5])
        raise Invalid(
            f"The arguments of {tool.name} are not valid: {listed}",
            code="invalid-arguments",
            problems=problems,
        ) from None
    return found


def _body(
    execution: Execution,
    tool: Tool[Any],
    arguments: Arguments,
    claims: Claims,
    preview: Preview | None,
) -> Json:
    """What exactly will happen: this is shown, hashed, approved and checked again."""
    return {
        "run": execution.run.id,
        "tool": tool.name,
        "arguments": arguments.model_dump(mode="json"),
        "branch": claims.branch,
        "destination": tool.destination(arguments) if tool.destination else None,
        "payload": preview.payload if preview else None,
    }


def _origin(provenance: Mapping[str, Labels], *, read_untrusted: bool) -> Origin:
    sources = sorted({source for label in provenance.values() for source in label.sources})
    untrusted = any(not label.trusted for label in provenance.values())
    return Origin(untrusted, read_untrusted, tuple(sources))


def _refusal(plan: Plan) -> str:
    rules = [rule["id"] for rule in plan.decision["rules"] if rule["id"]]
    reason = plan.decision["reason"] or "No policy allows this."
    named = f" (rule {', '.join(rules)})" if rules else ""
    return f"{plan.tool} was refused: {reason}{named}"


def _plain_cost(cost: Cost) -> Json:
    return {
        "usd": str(cost.usd),
        "tokens": cost.tokens,
        "rows": cost.rows,
        "bytes": cost.bytes,
        "seconds": cost.seconds,
    }


def _cost(data: Json) -> Cost:
    return Cost(Decimal(data["usd"]), data["tokens"], data["rows"], data["bytes"], data["seconds"])
