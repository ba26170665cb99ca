"""A file of a skill, when an agent that follows the skill needs it."""

from typing import Protocol

from pydantic import Field

from steward.broker.tool import TOOLS, Arguments, Effects, Outcome, Risk, Tool, ToolContext
from steward.store import Scope
from steward.tools._calls import off_loop, service


class Shelf(Protocol):
    """The service `skills`."""

    def reference(self, scope: Scope, name: str, path: str) -> str: ...


class ReadSkillFile(Arguments):
    skill: str = Field(min_length=1, max_length=64, description="Name of the skill.")
    path: str = Field(min_length=1, max_length=300, description="A file of it, as its text lists.")


async def run(context: ToolContext, arguments: ReadSkillFile) -> Outcome:
    shelf: Shelf = service(context, "skills", "Reading a skill")
    text = await off_loop(shelf.reference, context.scope, arguments.skill, arguments.path)
    return Outcome(
        value={"skill": arguments.skill, "path": arguments.path, "text": text},
        summary=f"{arguments.path} of the skill {arguments.skill}",
        sources=(f"skill:{arguments.skill}",),
        # A skill can come from anybody's archive; whoever enabled it read no more than its name, perhaps.
        trusted=False,
    )


TOOLS.add(
    "read_skill_file",
    Tool(
        name="read_skill_file",
        title="Read a file of a skill",
        description="A reference or other text file of a skill, at most 16 KB of it.",
        arguments=ReadSkillFile,
        risk=Risk.read,
        run=run,
        effects=Effects(reads=True),
    ),
)
