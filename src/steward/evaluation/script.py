"""Models of a case: answers written into the suite or recorded in a run's capsule, played role by role."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from steward.agents import Contract
from steward.core import Invalid, Misconfigured
from steward.models import (
    Backend,
    Call,
    Failed,
    Lineup,
    ModelAnswer,
    OnDelta,
    Patience,
    Request,
    Role,
    Text,
    Usage,
    unique_models,
)
from steward.runs import is_reference, unpack
from steward.store import Scope

SCRIPT_ENDED: Final = "script-ended"


class ScriptedCall(Contract):
    tool: str = Field(min_length=1, max_length=120)
    arguments: dict[str, Any] = Field(default_factory=dict)


class OrText(Contract):
    """What can also be written as a bare text, in suites and in their schema."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler(core_schema)]}


class Line(OrText):
    """One answer of a model: text, a plan, calls of tools, or a failure."""

    text: str = ""
    plan: dict[str, Any] | None = Field(None, description="Said as JSON, as planners do.")
    calls: list[ScriptedCall] = Field(default=[], max_length=20)
    fails: str | None = Field(None, description="No answer, with this code.")

    @model_validator(mode="before")
    @classmethod
    def _bare_text(cls, value: Any) -> Any:
        return {"text": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_thing(self) -> "Line":
        if sum([bool(self.text or self.calls), self.plan is not None, self.fails is not None]) > 1:
            raise ValueError("an answer is text with calls, or a plan, or a failure")
        return self


Lines = Annotated[list[Line], Field(max_length=200)]


class Script(Contract):
    """What each role's model says, in order; a role without answers has no model."""

    planner: Lines = Field(default=[])
    operator: Lines = Field(default=[])
    explainer: Lines = Field(default=[])
    recorded: str | None = Field(
        None, description="A capsule or test file whose models' answers are played again."
    )

    @model_validator(mode="after")
    def _not_both(self) -> "Script":
        if self.recorded is not None and (self.planner or self.operator or self.explainer):
            raise ValueError("answers are either recorded or written here")
        return self


class Player:
    """Answers one role from a list; says so when the list was too short or too long."""

    settings = ""
    may_see_rows = True
    in_stages = False
    # Nothing gets better by asking a script again.
    patience = Patience(attempts=1)

    def __init__(self, role: Role, answers: Sequence[Line | ModelAnswer]) -> None:
        self._role = role
        self._left = list(answers)
        self._said = 0
        self.missing = 0

    @property
    def model(self) -> str:
        return f"script:{self._role.value}"

    @property
    def left(self) -> int:
        return len(self._left)

    def quote(self, input_tokens: int, output_tokens: int) -> Decimal | None:  # noqa: ARG002
        return None

    async def answer(self, request: Request, on_delta: OnDelta) -> ModelAnswer:  # noqa: ARG002
        if not self._left:
            self.missing += 1
            raise Failed(Misconfigured("The script has no answer left.", code=SCRIPT_ENDED))
        line = self._left.pop(0)
        if isinstance(line, ModelAnswer):
            return line
        if line.fails is not None:
            raise Failed(Misconfigured(f"The script says {line.fails}.", code=line.fails))
        text = json.dumps(line.plan) if line.plan is not None else line.text
        parts: list[Text | Call] = [Text(text)] if text else []
        for call in line.calls:
            self._said += 1
            name = f"call-{self._role.value}-{self._said}"
            parts.append(Call(name, call.tool, call.arguments))
        finish = "tool-calls" if line.calls else "stop"
        return ModelAnswer(tuple(parts), self.model, finish, Usage(requests=1))


class Cast:
    """The models of an evaluation's installation: those of the case that is on, or configured ones."""

    def __init__(self, configured: Lineup | None = None, scope: Scope | None = None) -> None:
        """`scope` is the project whose secrets hold the keys of the configured models."""
        self._configured = configured
        self._scope = scope
        self._players: dict[Role, Player] = {}

    @property
    def is_online(self) -> bool:
        return self._configured is not None

    def play(self, answers: Mapping[Role, Sequence[Line | ModelAnswer]]) -> None:
        self._players = {role: Player(role, said) for role, said in answers.items() if said}

    def complaints(self) -> list[str]:
        """What was wrong with the length of the script."""
        found = []
        for role, player in self._players.items():
            if player.missing:
                found.append(
                    f"the {role.value} asked {player.missing} times after its script ended"
                )
            elif player.left:
                found.append(f"the {role.value} never asked for its last {player.left} answers")
        return found

    def names(self, scope: Scope | None, role: Role) -> Sequence[str]:  # noqa: ARG002
        if self._configured is not None:
            return self._configured.names(self._scope, role)
        return [self._players[role].model] if role in self._players else []

    def backends(self, scope: Scope | None, role: Role) -> Sequence[Backend]:  # noqa: ARG002
        if self._configured is not None:
            return self._configured.backends(self._scope, role)
        return [self._players[role]] if role in self._players else []

    def every(self, scope: Scope | None) -> Sequence[Backend]:
        if self._configured is not None:
            return self._configured.every(self._scope)
        return unique_models(each for role in Role for each in self.backends(scope, role))


def answers_of(
    script: Script | None, folder: Path | None
) -> dict[Role, Sequence[Line | ModelAnswer]]:
    if script is None:
        return {}
    if script.recorded is not None:
        return recorded_answers(read_beside(folder, script.recorded))
    return {role: getattr(script, role.value) for role in Role}


def recorded_answers(content: bytes) -> dict[Role, Sequence[Line | ModelAnswer]]:
    """What models answered in a run, by role, in order."""
    capsule = unpack(content)
    found: dict[Role, list[Line | ModelAnswer]] = {role: [] for role in Role}
    for entry in capsule.entries:
        asked, result = entry.data.get("request"), entry.data.get("result")
        if not isinstance(asked, dict) or not {"role", "messages"} <= asked.keys():
            continue
        if is_reference(result):
            result = json.loads(capsule.payload(result["$blob"]))
        if isinstance(result, dict) and "parts" in result:
            found[Role(asked["role"])].append(ModelAnswer.from_json(result))
    return dict(found)


def read_beside(folder: Path | None, name: str) -> bytes:
    """A file next to a suite, and nowhere else."""
    if folder is None:
        raise Invalid("Only a suite in a file can name other files.")
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise Invalid(f"{name!r} is outside the folder of the suite.")
    if not path.is_file():
        raise Invalid(f"There is no file {name!r} beside the suite.")
    return path.read_bytes()
