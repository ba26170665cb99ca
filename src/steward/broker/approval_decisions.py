"""Deciding about approvals, edits included: an edited call is planned and decided by policy before anybody approves it."""

import asyncio
from dataclasses import replace

from steward.broker.approvals import Approval, Approvals, Ask, Verdict
from steward.broker.call_planning import CallPlanner
from steward.broker.grants import Grant
from steward.broker.labels import Labels
from steward.broker.plans import labels_after_edit, refusal, validated
from steward.broker.policy_text import PolicyVerdict as Outcome
from steward.broker.toolbox import Toolbox
from steward.core import Denied
from steward.identity import Access, Role
from steward.runs import Json, Run, RunRequest, Runs, digest


class ApprovalDecisions:
    def __init__(
        self, approvals: Approvals, runs: Runs, tools: Toolbox, planner: CallPlanner
    ) -> None:
        self._approvals = approvals
        self._runs = runs
        self._tools = tools
        self._planner = planner

    async def decide(
        self, access: Access, approval_id: str, verdict: Verdict, arguments: Json = None
    ) -> Approval:
        """Records a verdict; with `arguments`, about the call as it would be with them.

        Where policy denies the edited call, nothing changes. Where it needs others than the editor, they are asked.
        """
        if arguments is not None and verdict.approve:
            if access.role is Role.runner:
                # With arguments of their own a call would be theirs, and no longer the playbook's.
                raise Denied("Runners approve a call as it is, or reject it.")
            found = await asyncio.to_thread(self._approvals.decidable, access, approval_id, verdict)
            edit = await self._edited(access, found, arguments)
            if found.batch or digest(edit.body) != found.body_hash:
                verdict = replace(verdict, edit=edit)
        return await asyncio.to_thread(self._approvals.decide, access, approval_id, verdict)

    async def _edited(self, access: Access, found: Approval, arguments: Json) -> Ask:
        def look() -> tuple[Run, RunRequest]:
            return self._runs.get(access.scope, found.run_id), self._runs.request(
                access.scope, found.run_id
            )

        run, request = await asyncio.to_thread(look)
        tool = await asyncio.to_thread(
            self._tools.get, access.scope, found.tool, found.body.get("pin")
        )
        typed = await asyncio.to_thread(self._runs.scrub, access.scope, arguments)
        wanted = validated(tool, typed).model_dump(mode="json")
        known = found.provenance
        labels = {name: Labels.from_json(each) for name, each in known["arguments"].items()}
        plan = await self._planner.plan(
            run,
            Grant.from_json(request.grant),
            lambda: tool,
            wanted,
            labels_after_edit(found.body["arguments"], wanted, labels, access.user_id),
            read_untrusted=known.get("read_untrusted", not known["trusted"]),
        )
        if plan.decision["outcome"] == Outcome.deny.value:
            raise Denied(f"With these arguments, {refusal(plan.tool, plan.decision)}")
        return Ask.of(run, found.wait_key, tool, plan)
