"""Tools of skills: `skill.<name>.<script>` runs a script in the sandbox, `skill.read` opens a skill and its files."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import Field

from steward.agents.skills.changes import text_of
from steward.agents.skills.model import SKILL_FILE, TOOL_WORD, Script, Skill
from steward.agents.skills.prompts import reference_of, skill_text
from steward.agents.skills.registry import Skills
from steward.broker.declared import arguments_of
from steward.broker.roles import TARGET
from steward.broker.tool import Arguments, Cost, Effects, Outcome, Risk, Tool, ToolContext
from steward.core.errors import Conflict, NotFound
from steward.runs import Json
from steward.store import Scope
from steward.tools.execute_python import ExecutePython
from steward.tools.execute_python import run as run_python

READ: Final = f"{TOOL_WORD}.read"
DATASET: Final = "dataset"
"""The format of a text argument that names a dataset."""
# After the script, so that its lines keep their numbers.
_CALL: Final = '\n\nimport json\nresult = main(json.loads(parameters["arguments"]), con)\n'
_MOST_ROWS: Final = 1_000


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
    code = (text_of(skill.files[script.path]) or "") + _CALL
    inputs = _dataset_fields(script.arguments)

    async def run(context: ToolContext, arguments: Arguments) -> Outcome:
        given = arguments.model_dump(mode="json")
        asked = ExecutePython(
            code=code, parameters={"arguments": json.dumps(given)}, limit=_MOST_ROWS
        )
        names = _named(given, inputs)
        # No datasets means none here, and not all of the branch.
        done = await run_python(context, asked.model_copy(update={"datasets": names}))
        value = done.value["result"]
        return replace(
            done,
            value=value,
            summary=f"{script.stem} of the skill {skill.name}",
            sources=(*done.sources, f"skill:{skill.name}@{skill.version}"),
            # It says no more than the arguments did, unless it read rows.
            trusted=not names,
        )

    return Tool(
        name=name,
        title=f"{skill.name}: {script.stem.replace('_', ' ').replace('-', ' ')}",
        description=script.description,
        arguments=arguments_of(script.arguments, name),
        risk=script.risk,
        run=run,
        effects=Effects(reads=bool(inputs)),
        # A sandbox leaves nothing behind, so that a second time is as good as the first.
        idempotent=True,
        timeout=timedelta(minutes=10),
        attempts=2,
        estimate=lambda context, arguments: _cost(context, arguments, inputs),
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


def _dataset_fields(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that name datasets: texts of format `dataset`, or lists of them."""
    fields = schema.get("properties", {})
    return tuple(name for name, each in fields.items() if _is_dataset(each))


def _is_dataset(field: Any) -> bool:
    if not isinstance(field, Mapping):
        return False
    return field.get("format") == DATASET or _is_dataset(field.get("items"))


def _named(given: Mapping[str, Any], fields: Iterable[str]) -> list[str]:
    names: dict[str, None] = {}
    for field in fields:
        value = given.get(field)
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                names[name] = None
    return list(names)


def _cost(context: ToolContext, arguments: Arguments, fields: tuple[str, ...]) -> Cost:
    names = set(_named(arguments.model_dump(mode="json"), fields))
    place = context.services["workbench"].datasets.workspace(
        context.scope, context.author, context.run_id
    )
    known = [each for each in place.datasets(context.branch) if each.name in names]
    return Cost(bytes=sum(each.bytes for each in known))
