"""What a skill is: instructions with a name and a description, and the files and scripts beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from steward.broker import Risk
from steward.core import Invalid, Problem

SKILL_FILE: Final = "SKILL.md"
SCRIPTS_KEY: Final = "steward.scripts"
TOOL_WORD: Final = "skill"
"""Tools of skills are called `skill.<name>.<script>`."""


class Origin(StrEnum):
    builtin = "builtin"
    project = "project"


@dataclass(frozen=True)
class Fault:
    """Something wrong, or odd, at a place of a skill's folder."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line is not None else self.path
        return f"{where}: {self.message}"


@dataclass(frozen=True)
class Script:
    """A script that the skill declares as a tool."""

    file: str
    description: str
    risk: Risk
    arguments: Mapping[str, Any]
    """JSON Schema; text arguments of format `dataset` name the datasets it reads."""

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".py")

    @property
    def path(self) -> str:
        return f"scripts/{self.file}"

    def tool(self, skill: str) -> str:
        return f"{TOOL_WORD}.{skill}.{self.stem}"


@dataclass(frozen=True)
class SkillDocument:
    """SKILL.md, read."""

    name: str
    description: str
    body: str
    licence: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] | None = None
    """Names or patterns; None where the skill does not narrow anything."""
    scripts: tuple[Script, ...] = ()


@dataclass(frozen=True)
class SkillCard:
    """The first stage: all that a prompt says of a skill before somebody opens it."""

    name: str
    description: str
    origin: Origin


@dataclass(frozen=True)
class Skill:
    """The second stage: a version with its instructions, and the names of what lies beside them."""

    name: str
    version: int
    """0 for one that Steward brings along."""
    digest: str
    """Names the content exactly."""
    origin: Origin
    document: SkillDocument
    files: Mapping[str, bytes]

    @property
    def body(self) -> str:
        return self.document.body

    @property
    def description(self) -> str:
        return self.document.description

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(script.tool(self.name) for script in self.document.scripts)

    @property
    def references(self) -> tuple[str, ...]:
        """Files that may be read on demand."""
        return tuple(path for path in sorted(self.files) if path != SKILL_FILE)


def refused(faults: tuple[Fault, ...]) -> Invalid:
    """All faults in one error: the first ones as a sentence, each as a problem of its file."""
    said = "; ".join(str(fault) for fault in faults[:5])
    more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
    problems = [
        Problem(
            "/" + fault.path.replace("~", "~0").replace("/", "~1"),
            f"line {fault.line}: {fault.message}" if fault.line is not None else fault.message,
        )
        for fault in faults
    ]
    return Invalid(f"This is not a valid skill. {said}{more}", code="skill", problems=problems)
