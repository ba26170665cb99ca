"""Deciding about approvals, edits included: an edited call is checked and dry-run before anybody approves it."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from steward.broker.approvals import Approval, Approvals, Verdict
from steward.broker.grants import Grant
from steward.broker.plans import facts_of, validated
from steward.broker.rulebook import Rulebook
from steward.broker.tool import ToolContext
from steward.broker.toolbox import Toolbox
from steward.core.errors import Denied
from steward.identity import Access, Role
from steward.runs import Json, Runs


class Deciding:
    def __init__(
        self,
        approvals: Approvals,
        runs: Runs,
        tools: Toolbox,
        rulebook: Rulebook,
        services: Mapping[str, Any],
    ) -> None:
        self._approvals = approvals
        self._runs = runs
        self._tools = tools
        self._rulebook = rulebook
        self._services = services

    async def decide(
        self, access: Access, approval_id: str, verdict: Verdict, arguments: Json = None
    ) -> Approval:
        """Records a verdict; with `arguments`, about the call as it would be with them."""
        if arguments is not None and verdict.approve:
            if access.role is Role.runner:
                # With arguments of their own a call would be theirs, and no longer the playbook's.
                raise Denied("Runners approve a call as it is, or reject it.")
            found = await asyncio.to_thread(self._approvals.get, access, approval_id)
            verdict = replace(verdict, body=await self._edited(access, found, arguments))
        return await asyncio.to_thread(self._approvals.decide, access, approval_id, verdict)

    async def _edited(self, access: Access, found: Approval, arguments: Json) -> Json:
        tool = await asyncio.to_thread(
            self._tools.get, access.scope, found.tool, found.body.get("pin")
        )
        checked = validated(tool, arguments)
        run = await asyncio.to_thread(self._runs.get, access.scope, found.run_id)
        asked = await asyncio.to_thread(self._runs.request, access.scope, found.run_id)
        settings = await asyncio.to_thread(self._rulebook.settings, access.scope)
        context = ToolContext(
            scope=access.scope,
            run_id=run.id,
            author=run.created_by,
            branch=Grant.from_json(asked.grant).branch,
            services=self._services,
            settings=settings.tools,
        )
        preview = await tool.dry_run(context, checked) if tool.dry_run else None
        return {
            **found.body,
            "arguments": checked.model_dump(mode="json"),
            **facts_of(tool, checked).to_json(),
            "payload": asdict(preview)["payload"] if preview else None,
        }
