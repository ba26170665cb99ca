"""What a call waits for people to say: approvals of one payload or a list, answers, and the moment before a send."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from steward.broker.approval_model import needs_of
from steward.broker.approvals import Approvals, Ask, Needs, State
from steward.broker.plans import Plan, editors
from steward.broker.tool import Tool
from steward.broker.toolbox import Toolbox
from steward.runs import EntryType, Execution, Json, Status, StepFailed, digest

Replan = Callable[[str, Plan, Json, str | None], Awaitable[Plan]]
"""Plans a call again under the name of a stage: the plan before, the arguments now, who edited them."""
_LONGEST_REASON = 200


class People:
    def __init__(self, approvals: Approvals, tools: Toolbox, undo_window: timedelta) -> None:
        self._approvals = approvals
        self._tools = tools
        self._window = undo_window

    async def approved(
        self, execution: Execution, key: str, turn: str, plan: Plan, replan: Replan
    ) -> tuple[Plan, str]:
        """The plan as somebody approved it, and the approval to redeem for it.

        `turn` begins the names of what is recorded when people are asked about the same call another time.
        """
        attempt, before, editor = 0, None, None
        while True:
            wait_key = f"{key}/{turn}approval/{attempt}"
            ask = Ask.of(execution.run, wait_key, self._tools.planned(plan), plan)
            ask = replace(ask, asked_body=before, edited_by=editor)
            asked = await self._put_to_people(execution, key, wait_key, ask)
            if asked["covered"]:
                return plan, asked["approval_id"]
            answer = await self._answered(execution, key, wait_key, asked, plan.body)
            if not answer["edited"]:
                return plan, asked["approval_id"]
            # Records made before edits were decided by policy do not say for whom the approver spoke.
            editor = answer["by"] if "groups" in answer else None
            edited = answer["body"]["arguments"]
            before, plan = plan.body, await replan(f"{turn}edited/{attempt}", plan, edited, editor)
            if _is_approved(plan, answer):
                return plan, asked["approval_id"]
            # Others must approve the edit, or the world moved since: what would happen must be seen again.
            attempt += 1

    async def _put_to_people(self, execution: Execution, key: str, wait_key: str, ask: Ask) -> Json:
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

        return await execution.step(
            f"{wait_key}/request",
            {"body": ask.body},
            request,
            type=EntryType.approval_requested,
            of=key,
        )

    async def _answered(
        self, execution: Execution, key: str, wait_key: str, asked: Json, body: Json
    ) -> Json:
        """What somebody approved or edited; a refusal or silence fails the call."""
        answer = await execution.wait(
            wait_key,
            {"kind": "approval", "approval_id": asked["approval_id"], "body": body},
            status=Status.waiting_for_approval,
            reason=f"approval: {asked['title']}"[:_LONGEST_REASON],
            expires_at=datetime.fromisoformat(asked["expires_at"]),
            of=key,
        )
        if answer.get("expired"):
            await self._expire(execution, key, wait_key, asked["approval_id"])
            raise StepFailed(key, "approval-expired", "Nobody approved this in time.")
        if answer["decision"] not in {State.approved.value, State.edited.value}:
            said = f": {answer['reason']}" if answer.get("reason") else ""
            raise StepFailed(key, "rejected", f"This was rejected{said}")
        return answer

    async def _expire(
        self, execution: Execution, key: str, wait_key: str, approval_id: str
    ) -> None:
        async def mark() -> Json:
            await asyncio.to_thread(self._approvals.expire, execution.run.scope, approval_id)
            return None

        await execution.step(
            f"{wait_key}/expired",
            {"approval_id": approval_id},
            mark,
            type=EntryType.approval_expired,
            of=key,
        )

    async def answer(self, execution: Execution, key: str, plan: Plan) -> Json:
        """What a person says to a question."""
        question = plan.arguments
        answer = await execution.wait(
            f"{key}/answer",
            {"kind": "question", **question},
            status=Status.blocked,
            reason=f"question: {question.get('question', '')}"[:_LONGEST_REASON],
            of=key,
        )
        return answer.get("answer")

    async def window_closed(
        self, execution: Execution, key: str, turn: str, tool: Tool[Any]
    ) -> None:
        begun = await execution.now(f"{key}/{turn}window/begun", of=key)
        answer = await execution.wait(
            f"{key}/{turn}window",
            {"kind": "undo_window", "tool": tool.name},
            status=Status.blocked,
            reason=f"{tool.title} goes out in a moment",
            expires_at=begun + self._window,
            of=key,
        )
        if answer.get("decision") == "undone":
            raise StepFailed(key, "taken-back", "The message was taken back before it was sent.")

    async def approve_together(self, execution: Execution, key: str, plans: Sequence[Plan]) -> None:
        wait_key = f"{key}/approval/batch"
        run, first = execution.run, plans[0]
        tool = self._tools.planned(first)
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
                "doubts": _distinct(d for p in plans for d in p.provenance.get("doubts", ())),
            },
            rules=_distinct(rule for plan in plans for rule in plan.decision["rules"]),
            needs=_together([needs_of(plan) for plan in plans]),
            reason=" ".join(_distinct(plan.decision["reason"] for plan in plans)),
            requested_by=run.created_by,
            askers=frozenset({run.created_by}.union(*(editors(p.provenance) for p in plans))),
            batch=bodies,
        )
        asked = await self._put_to_people(execution, key, wait_key, ask)
        await self._answered(execution, key, wait_key, asked, ask.body)


def _is_approved(plan: Plan, answer: Json) -> bool:
    """Whether who approved an edit is who the edited call needs, under the same rules, for exactly this payload."""
    if answer["decision"] != State.approved.value or digest(plan.body) != answer["body_hash"]:
        return False
    if "groups" not in answer:
        return True
    needs = needs_of(plan)
    return (
        needs.approvers <= set(answer["groups"])
        and not needs.four_eyes
        and needs.policy == answer["policy"]
    )


def _together(needs: Sequence[Needs]) -> Needs:
    """What a list needs that is approved at once: everything that one of its calls needs."""
    policies = {each.policy for each in needs}
    return Needs(
        frozenset().union(*(each.approvers for each in needs)),
        any(each.four_eyes for each in needs),
        # Planned while the rules changed, the list is covered by no approval.
        policies.pop() if len(policies) == 1 else "",
    )


def _distinct(items: Iterable[Json]) -> list[Json]:
    found: list[Json] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found
