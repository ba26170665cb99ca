"""Waits for some time or until a moment; the run is parked meanwhile."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar, Literal

from pydantic import model_validator

from steward.flows.node import (
    NODES,
    Duration,
    JsonSchema,
    Node,
    Place,
    Starter,
    TextTemplate,
    Valued,
    seconds_of,
)
from steward.runs import Json, Status, StepFailed


@NODES.register("wait")
class WaitNode(Node):
    type: Literal["wait"]
    duration: Duration | None = None
    until: TextTemplate | None = None

    group: ClassVar = "Logic"
    starters: ClassVar = (Starter("Wait", {"duration": "1h"}),)

    @model_validator(mode="after")
    def _one_of_both(self) -> "WaitNode":
        if (self.duration is None) == (self.until is None):
            raise ValueError("a wait has either a `duration` or an `until`")
        return self

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return {
            "type": "object",
            "properties": {"until": {"type": "string"}},
            "additionalProperties": False,
        }

    def stand_in(self, at: Place) -> Valued | None:
        return Valued({"until": at.filled(self.until).value if self.until else ""})

    async def run(self, at: Place) -> Valued:
        if self.duration is not None:
            moment = await at.execution.now(f"{at.key}:began", of=at.key) + seconds_of(
                self.duration
            )
        else:
            moment = _moment(at.key, at.filled(self.until).value)
        spelled = moment.isoformat().replace("+00:00", "Z")
        await at.execution.wait(
            at.key,
            {"kind": "wait", "until": spelled},
            status=Status.blocked,
            reason=f"until {moment:%Y-%m-%d %H:%M} UTC",
            expires_at=moment,
        )
        return Valued({"until": spelled})


def _moment(key: str, text: Json) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        found = None
    if found is None or found.tzinfo is None:
        raise StepFailed(
            key,
            "not-a-moment",
            "A wait ends at a moment with a time zone, such as 2026-03-02T09:00:00Z.",
        )
    return found.astimezone(UTC)
