"""Tools of skills: `skill.<name>.<script>` runs a script in the sandbox, `skill.read` opens a skill and its files."""

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic import Field

from steward.agents.skills.changes import text_of
from steward.agents.skills.model import SKILL_FILE, TOOL_WORD, Script, Skill
from steward.agents.skills.prompts import reference_of, skill_text
from steward.agents.skills.registry import Skills
from steward.broker import TARGET, Arguments, Effects, Outcome, Risk, Tool, ToolContext
from steward.core import Conflict, NotFound
from steward.runs import Json
from steward.store import Scope
from steward.tools import sandboxed_tool

READ: Final = f"{TOOL_WORD}.read"


class SkillFile(Arguments):
    skill: Annotated[str, TARGET] = Field(
        min_length=1, max_length=64, description="Name of an enabled skill."
    )
    path: Annotated[str, TARGET] = Field(
        SKILL_FILE,
        min_length=1,
        max_length=200,
        description="A file of it, such as references/rules.md; unset: its instructions.",
    )


class ScriptTools:
    """Provides the broker with the tools of a project's enabled skills."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def find(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:
        if name == READ:
            return self._reading()
        skill_name, script_name = _parts(name)
        if pin is None:
            skill = self._skills.open(scope, skill_name)
        else:
            skill = self._skills.pinned(scope, skill_name, pin["version"])
            if skill.digest != pin["digest"]:
                raise Conflict(
                    f"The skill {skill_name!r} is not what it was when this call was planned. "
                    "Start the run again.",
                    code="tool-changed",
                )
        for script in skill.document.scripts:
            if script.stem == script_name:
                return script_tool(skill, script)
        known = ", ".join(skill.tool_names) or "none"
        raise NotFound(f"The skill {skill_name!r} has no tool {name!r}. It has: {known}.")

    def listed(self, scope: Scope) -> Iterator[Tool[Any]]:
        enabled = [each for each in self._skills.listed(scope) if each.enabled]
        if enabled:
            yield self._reading()
        for each in enabled:
            skill = self._skills.get(scope, each.name, each.version)
            for script in skill.document.scripts:
                yield script_tool(skill, script)

    def _reading(self) -> Tool[Any]:
        async def run(context: ToolContext, arguments: SkillFile) -> Outcome:
            skill = await asyncio.to_thread(self._skills.open, context.scope, arguments.skill)
            text = (
                skill_text(skill)
                if arguments.path == SKILL_FILE
                else reference_of(skill, arguments.path)
            )
            return Outcome(
                {"skill": skill.name, "version": skill.version, "text": text},
                f"{arguments.path} of the skill {skill.name}",
                sources=(f"skill:{skill.name}@{skill.version}",),
            )

        return Tool(
            name=READ,
            title="Read a skill",
            description="Reads the instructions of a skill, or a file that they mention.",
            arguments=SkillFile,
            risk=Risk.read,
            run=run,
            effects=Effects(reads=True),
            idempotent=True,
            pin={"tool": READ},
        )


def script_tool(skill: Skill, script: Script) -> Tool[Any]:
    """One script of one version as a tool."""
    name = script.tool(skill.name)
    return sandboxed_tool(
        name=name,
        title=f"{skill.name}: {script.stem.replace('_', ' ').replace('-', ' ')}",
        description=script.description,
        arguments=script.arguments,
        risk=script.risk,
        code=text_of(skill.files[script.path]) or "",
        summary=f"{script.stem} of the skill {skill.name}",
        source=f"skill:{skill.name}@{skill.version}",
        pin={"skill": skill.name, "version": skill.version, "digest": skill.digest},
    )


def _parts(name: str) -> tuple[str, str]:
    word, _, rest = name.partition(".")
    skill, _, script = rest.partition(".")
    if word != TOOL_WORD or not skill or not script:
        raise NotFound(
            f"{name!r} is not a tool of a skill; those are called skill.<name>.<script>."
        )
    return skill, script
