"""Policy cases: what is decided about a call, and that a call which is denied or asked about does not happen."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from steward.broker import DEFAULT_PRESET, PRESETS
from steward.core import Denied
from steward.evaluation.case import KINDS, Case, Findings, ToolName
from steward.evaluation.stage import Stage
from steward.identity import Access, Role

RoleName = Annotated[
    str,
    AfterValidator(lambda name: Role[name].name if name in Role.__members__ else _unknown(name)),
    WithJsonSchema({"enum": list(Role.__members__)}),
]


def _unknown(name: str) -> str:
    raise ValueError(f"there is no role {name!r}; there are {', '.join(Role.__members__)}")


class PolicyCase(Case):
    kind: ClassVar[str] = "policy"
    tool: ToolName
    verdict: Literal["allow", "dry_run", "ask", "deny"]
    role: RoleName = Field("operator", description="Who calls.")
    preset: str = Field(
        DEFAULT_PRESET, description="The project's policy, by the name of a preset."
    )
    policy: str | None = Field(None, description="Or the policy's text, in Cedar.")
    safe_mode: bool = False
    arguments: dict[str, Any] | None = Field(
        None, description="Makes the call for real; unset: it is only judged."
    )
    destination: str | None = Field(None, description="To whom a judged call would send.")
    untrusted_arguments: bool = Field(False, description="Whether outsiders wrote its arguments.")
    read_untrusted: bool = Field(False, description="Whether outsiders' text was read before.")

    @model_validator(mode="after")
    def _known_preset(self) -> "PolicyCase":
        if self.preset not in PRESETS:
            raise ValueError(f"there is no preset {self.preset!r}; there are {', '.join(PRESETS)}")
        return self

    def judge(self, stage: Stage, findings: Findings) -> None:
        who = stage.site.people[self.role]
        if self.arguments is None:
            verdict, reason = self._judged(stage, who)
        else:
            verdict, reason = self._called(stage, who, self.arguments, findings)
        findings.facts |= {"verdict": verdict, "reason": reason}
        said = f"the verdict was {verdict} ({reason}), not {self.verdict}"
        findings.expect(verdict == self.verdict, said)

    @property
    def _text(self) -> str:
        return self.policy if self.policy is not None else PRESETS[self.preset]

    def _judged(self, stage: Stage, who: Access) -> tuple[str, str]:
        found = stage.site.judging.check(
            stage.site.access,
            self.tool,
            user_id=who.user_id,
            destination=self.destination,
            untrusted_arguments=self.untrusted_arguments,
            read_untrusted=self.read_untrusted,
            safe_mode=self.safe_mode,
            text=self._text,
        )
        return str(found["outcome"]), str(found["reason"])

    def _called(
        self, stage: Stage, who: Access, arguments: dict[str, Any], findings: Findings
    ) -> tuple[str, str]:
        before = stage.state()
        with stage.ruled(self._text, safe_mode=self.safe_mode):
            try:
                run = stage.call(self.tool, arguments, by=who, decide="wait")
            except Denied as denied:
                return "deny", denied.message
            call = stage.calls(run)[0]
            stage.cancel(run)
        if call.decision is None:
            return "deny" if call.state == "denied" else "error", str(
                (call.error or {}).get("message")
            )
        verdict = str(call.decision["outcome"])
        if verdict in {"ask", "deny"}:
            findings.expect(call.state != "done", f"the call is {call.state}")
            findings.expect(stage.state() == before, "data changed although nobody allowed it")
        return verdict, str(call.decision["reason"])


KINDS.add("policy", PolicyCase)
