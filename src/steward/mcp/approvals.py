"""Approvals as questions to the person at the client, where the client can ask; they stay in the inbox as well."""

import asyncio
import json
from typing import Any, Final

import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from steward.app import Steward
from steward.broker import Approval, Verdict, disarmed
from steward.identity import Access
from steward.mcp.caller import Context
from steward.runs import Run, Status

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Decision",
            "enum": ["approve", "reject"],
            "description": "You decide about exactly what is shown.",
        },
        "reason": {"type": "string", "title": "Reason", "description": "Why you reject it."},
    },
    "required": ["decision"],
}
_LONGEST_ARGUMENTS: Final = 4_000
_NO_REASON: Final = "Rejected at the MCP client."


class ApprovalQuestions:
    def __init__(self, steward: Steward) -> None:
        self._steward = steward

    async def pending(self, access: Access, run: Run) -> Approval | None:
        """What the run waits for, if this person may decide it."""
        if run.status is not Status.waiting_for_approval:
            return None
        approvals = self._steward.governing.approvals
        found = await asyncio.to_thread(approvals.listed, access, mine=True, run_id=run.id, limit=1)
        return found[0] if found else None

    async def decide(self, access: Access, approval: Approval, answer: types.ElicitResult) -> bool:
        """Records what the person answered; False where they did not decide."""
        content = answer.content or {}
        wanted = str(content.get("decision", "")) if answer.action == "accept" else answer.action
        if wanted not in {"approve", "reject", "decline"}:
            return False
        reason = str(content.get("reason") or "")[:1000]
        verdict = Verdict(wanted == "approve", approval.body_hash, reason)
        if not verdict.approve and not reason:
            verdict = Verdict(approve=False, body_hash=approval.body_hash, reason=_NO_REASON)
        await self._steward.governing.deciding.decide(access, approval.id, verdict)
        return True


def can_ask(context: Context) -> bool:
    """Whether the client shows forms to its person."""
    known = context.session.client_capabilities
    asks = known.elicitation if known is not None else None
    if asks is None:
        return False
    # A client of before there were modes names none and means forms.
    return asks.form is not None or asks.url is None


def asks_by_result(context: Context) -> bool:
    """Whether a question is the result of the request, which the client sends again with the answer."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def question_about(approval: Approval) -> types.ElicitRequestFormParams:
    return types.ElicitRequestFormParams(message=_message(approval), requested_schema=SCHEMA)


def _message(approval: Approval) -> str:
    preview = approval.preview if isinstance(approval.preview, dict) else {}
    arguments = json.dumps(approval.body.get("arguments"), ensure_ascii=False, indent=2)
    if len(arguments) > _LONGEST_ARGUMENTS:
        arguments = (
            f"{arguments[:_LONGEST_ARGUMENTS]}\n[cut here; the inbox of Steward shows all of it]"
        )
    lines = [
        f"Steward asks for approval: {approval.title} ({approval.risk}).",
        str(preview.get("summary") or ""),
        str(preview.get("irreversible") or ""),
        f"Why it asks: {approval.reason}" if approval.reason else "",
        *(f"Look at this: {doubt}" for doubt in approval.doubts),
        f"Arguments:\n{arguments}",
        f"Code of what you see: {approval.body_hash[:8]}",
    ]
    # What data or a model wrote must not hide anything from the person who decides.
    return disarmed("\n\n".join(line for line in lines if line), approval.body_hash)
