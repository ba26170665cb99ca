"""What a step has to work with, as it was when the step began: its tools, a skill, a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from steward.agents.operating.enforcement import is_left_open
from steward.agents.operating.job import Job
from steward.agents.operating.roster import Agent
from steward.agents.planning.plan import PlanStep
from steward.agents.skills import Skills
from steward.agents.skills.prompts import skill_text, tools_for
from steward.broker import Risk, Tool, Toolbox, validated, without_roles
from steward.core import Invalid, NotFound
from steward.models import ToolSpec
from steward.runs import Json
from steward.store import Scope

READ_SKILL: Final = "skill.read"
"""Whoever follows a skill may read its files; it is no part of a plan."""
MEMORY_TOOLS: Final = ("remember", "forget")
"""Whoever has a memory may call these; they are no part of a plan, nor of an agent's list of tools."""


@dataclass(frozen=True)
class Equipment:
    """A record of it is in the journal, so that a replay has the same."""

    tools: Mapping[str, Json]
    skill: str
    model: bool
    nonce: str
    roles: bool = False
    """Whether the schemas were recorded with roles; those of earlier releases were not."""
    tells_output: bool = False
    """Whether it is told the schema of its answer beside its tools; in earlier releases it learnt it from refusals."""
    marks_errors: bool = False
    """Whether the error of a planned call is shown as what others may have written; in earlier releases it was not."""

    def knows(self, tool: str) -> bool:
        return "risk" in self.tools.get(tool, {})

    def why_missing(self, tool: str) -> str:
        named: str | None = self.tools.get(tool, {}).get("missing")
        return named or f"{tool[:100]!r} is not a tool of this step."

    def risk(self, tool: str) -> Risk:
        return Risk(self.tools[tool]["risk"])

    def spends(self, tool: str) -> bool:
        return bool(self.tools[tool].get("spends", False))

    def schema(self, tool: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.tools[tool]["schema"]
        return found

    def spec(self, tool: str) -> ToolSpec:
        return ToolSpec(tool, self.tools[tool]["description"], without_roles(self.schema(tool)))

    def is_ready(self, step: PlanStep, tool: str) -> bool:
        """Whether the plan says all that the tool needs."""
        if not self.tools.get(tool, {}).get("ready"):
            return False
        takes = self.schema(tool).get("properties", {})
        return not is_left_open(step, self.risk(tool), takes, has_model=self.model)


def further_tools(agent: Agent, skill: str) -> tuple[str, ...]:
    """What an agent may call beyond the tools of its step: for the skill that it follows, and for its memory."""
    reading = (READ_SKILL,) if skill else ()
    return (*reading, *MEMORY_TOOLS) if agent.memory is not None else reading


def tools_and_skill(scope: Scope, tools: Toolbox, skills: Skills | None, job: Job) -> Json:
    """The step's tools by name, each with its facts or why it is missing, and the skill's text."""
    found: dict[str, Json] = {}
    for name in job.step.allowed:
        try:
            found[name] = _facts(tools.get(scope, name), job.step.arguments)
        except NotFound as missing:
            found[name] = {"missing": missing.message}
    told = ""
    names = [job.step.skill] if job.step.skill is not None else job.agent.skills
    if names and skills is not None:
        followed = [skills.open(scope, name) for name in names]
        told = "\n\n".join(skill_text(skill) for skill in followed)
        used = {name for skill in followed for name in tools_for(skill, found)}
        for name in set(found) - used:
            without = " and ".join(skill.name for skill in followed)
            verb = "does" if len(followed) == 1 else "do"
            found[name] = {"missing": f"The skill {without} {verb} not use {name}."}
        found[READ_SKILL] = {**_facts(tools.get(scope, READ_SKILL), {}), "ready": False}
    if job.agent.memory is not None:
        for name in MEMORY_TOOLS:
            found[name] = {**_facts(tools.get(scope, name), {}), "ready": False}
    return {
        "tools": found,
        "skill": told,
        "roles": True,
        "tells_output": True,
        "marks_errors": True,
    }


def with_present_roles(recorded: Json, tools: Toolbox) -> Json:
    """A record of before roles were declared, with the roles that installed tools declare now."""
    known = {
        name: {**facts, "schema": tools.installed.get(name).schema()}
        if "schema" in facts and name in tools.installed
        else facts
        for name, facts in recorded["tools"].items()
    }
    return {**recorded, "tools": known, "roles": True}


def _facts(tool: Tool[Any], arguments: Json) -> Json:
    try:
        validated(tool, arguments)
    except Invalid:
        ready = False
    else:
        ready = True
    return {
        "description": tool.description,
        "risk": tool.risk.value,
        "spends": tool.effects.spends,
        "schema": tool.schema(),
        "ready": ready,
    }
