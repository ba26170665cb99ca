"""Asks a person: a form made from a JSON Schema; the run waits without holding anything."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.broker import Rehearsal, first_problem, sample
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
from steward.runs import Status, StepFailed

_MOST_TRIES: Final = 20


@NODES.register("question")
class QuestionNode(Node):
    type: Literal["question"]
    question: TextTemplate = Field(min_length=1, max_length=5_000)
    form: JsonSchema = Field(
        {"type": "string"}, description="JSON Schema of the answer; becomes the form."
    )
    to: list[str] = Field([], max_length=50, description="Who is asked; nobody: every operator.")
    expires_in: Duration | None = None
    expired: Literal["fail", "default"] = Field(
        "fail", description="What happens when nobody answers in time."
    )
    default: Any = None

    group: ClassVar = "People"
    starters: ClassVar = (Starter("Ask a question", {"question": "What should happen next?"}),)

    def output_schema(self, tool_outputs: Mapping[str, JsonSchema]) -> JsonSchema | None:  # noqa: ARG002
        return self.form

    def schemas(self) -> Iterator[tuple[str, JsonSchema]]:
        yield "/form", self.form

    def stand_in(self, at: Place) -> Valued | None:
        is_known, said = Rehearsal.answer(at.execution.request.grant, at.key)
        if is_known:
            return Valued(said)
        return Valued(self.default if self.default is not None else sample(self.form))

    async def run(self, at: Place) -> Valued:
        asked = {"kind": "question", "form": self.form, "to": self.to}
        asked["question"] = at.filled(self.question).value
        expires_at = None
        if self.expires_in is not None:
            expires_at = await at.execution.now(f"{at.key}:asked", of=at.key) + seconds_of(
                self.expires_in
            )
        wrong: str | None = None
        for attempt in range(1, _MOST_TRIES + 1):
            key = at.key if attempt == 1 else f"{at.key}:again#{attempt}"
            request = asked if wrong is None else {**asked, "wrong": wrong}
            said = await at.execution.wait(
                key,
                request,
                status=Status.blocked,
                reason=f"a question: {self.title or self.id}",
                of=at.key,
                expires_at=expires_at,
            )
            if said.get("expired"):
                return self._unanswered(at.key)
            wrong = first_problem(self.form, said.get("answer"))
            if wrong is None:
                return Valued(said.get("answer"))
        raise StepFailed(at.key, "no-answer", f"The question {self.id!r} got no valid answer.")

    def _unanswered(self, key: str) -> Valued:
        if self.expired == "default":
            return Valued(self.default)
        raise StepFailed(key, "expired", f"Nobody answered the question {self.id!r} in time.")
