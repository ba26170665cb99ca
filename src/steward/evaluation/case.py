"""What a case is: named, of one kind, and able to judge itself on a stage."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, StringConstraints

from steward.agents import Contract
from steward.core import Registry
from steward.evaluation.script import Script
from steward.evaluation.stage import Stage

CaseId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
ToolName = Annotated[str, Field(min_length=1, max_length=120)]
DatasetName = Annotated[str, Field(min_length=1, max_length=200)]
Message = Annotated[str, Field(min_length=1, max_length=10_000)]


@dataclass
class Findings:
    """What came of a case: nothing wrong means passed."""

    problems: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """What was seen, the same at every run of the same code."""

    def expect(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)


class Case(Contract, ABC):
    """Base of every kind; a kind is one file in `kinds/`."""

    kind: ClassVar[str]
    id: CaseId
    title: str = Field("", max_length=200)
    script: Script | None = Field(
        None, description="What models say; unset: no model, rules plan. Not used with --online."
    )
    online: bool = Field(True, description="Whether it means anything with another model.")

    @abstractmethod
    def judge(self, stage: Stage, findings: Findings) -> None:
        """Plays the case and notes what did not hold."""


KINDS: Final[Registry[type[Case]]] = Registry("evaluation")


@cache
def load_kinds() -> Registry[type[Case]]:
    KINDS.load_package("steward.evaluation.kinds")
    KINDS.load_entry_points()
    return KINDS
