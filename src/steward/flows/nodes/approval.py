"""A gate: somebody approves an exact payload, or refuses it."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from steward.broker import Rehearsal
from steward.flows.node import (
    NODES,
    Duration,
    JsonSchema,
    Node,
    Place,
    Starter,
    Template,
    TextTemplate,
    Valued,
    seconds_of,
)
from steward.runs import Status, StepFailed, digest


@NODES.register("approval")
class ApprovalNode(Node):
    """Without a node that needs its `rejected` port, a refusal fails the flow."""

    type: Literal["approval"]
    message: TextTemplate = Field(min_length=1, max_length=5_000)
    payload: Template = Field(None, description="What exactly is approved.")
    approvers: list[str] = Field(
        [], max_length=50, description="Who may decide; nobody: as policy says."
    )
    expires_in: Duration = "1h"
    review: bool = Field(
        False, description="The run shows as `reviewing`: its results are looked at."
    )
    shown: Template = Field(
        None, description="What to look at before deciding, beside the payload."
    )
    view: str = Field(
        "",
        max_length=60,
        pattern="^[a-z-]*$",
        description="Name of the component that shows it; unset, or not known: as data.",
    )
    edit: JsonSchema | None = Field(
        None, description="JSON Schema of a payload changed before approving; unset: as it is."
    )

    exits: ClassVar = ("approved", "rejected")
    group: ClassVar = "People"
    starters: ClassVar = (
        Starter(
            "Ask for approval",
            {"message": "Do you approve this?", "expires_in": "2d"},
            takes="payload",
        ),
    )

    def schemas(self) -> Iterator[tuple[str, JsonSchema]]:
        if self.edit is not None:
            yield "/edit", self.edit

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return {
            "type": "object",
            "properties": {
                "approved": {"type": "boolean"},
                "by": {"type": ["string", "null"]},
                "reason": {"type": ["string", "null"]},
                "payload": {},
            },
            "additionalProperties": False,
        }

    def stand_in(self, at: Place) -> Valued | None:
        payload = at.filled(self.payload)
        found = {"approved": True, "by": None, "reason": "A test approves by itself."}
        is_known, said = Rehearsal.answer(at.execution.request.grant, at.key)
        if is_known and isinstance(said, dict) and "approved" in said:
            found = {name: said.get(name) for name in found}
        port = "approved" if found["approved"] else "rejected"
        return Valued({**found, "payload": payload.value}, payload.labels, port)

    async def run(self, at: Place) -> Valued:
        payload = at.filled(self.payload)
        request = {
            "kind": "approval",
            "message": at.filled(self.message).value,
            "payload": payload.value,
            "body_hash": digest(payload.value),
            "approvers": self.approvers,
        }
        if self.shown is not None:
            request["shown"] = at.filled(self.shown).value
        if self.view:
            request["view"] = self.view
        if self.edit is not None:
            request["edit"] = self.edit
        asked = await at.execution.now(f"{at.key}:asked", of=at.key)
        said = await at.execution.wait(
            at.key,
            request,
            status=Status.reviewing if self.review else Status.waiting_for_approval,
            reason=f"an approval: {self.title or self.id}",
            expires_at=asked + seconds_of(self.expires_in),
        )
        approved = said.get("decision") == "approve"
        reason = "nobody decided in time" if said.get("expired") else said.get("reason")
        if not approved and "rejected" not in at.taken_ports:
            because = f": {reason}" if reason else ""
            raise StepFailed(at.key, "rejected", f"{self.title or self.id} was refused{because}.")
        found = {"approved": approved, "by": said.get("by"), "reason": reason}
        # Somebody may have changed the payload before approving it.
        found["payload"] = said.get("payload", payload.value)
        return Valued(found, payload.labels, "approved" if approved else "rejected")
