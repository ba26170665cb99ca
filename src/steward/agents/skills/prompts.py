"""What prompts get of skills, stage by stage, and how a skill narrows the tools of who uses it."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from steward.agents.skills.changes import text_of
from steward.agents.skills.model import Skill
from steward.core import Invalid, NotFound

MOST_PROMPT_BYTES: Final = 16 * 1024
"""The most of a reference that goes into a prompt."""


def tools_for(skill: Skill, tools: Iterable[str]) -> tuple[str, ...]:
    """Those of the given tools that remain while the skill is used: what it allows, and its own scripts.

    It narrows and never widens: a script that is not among `tools` is not added.
    """
    allowed = skill.document.allowed_tools
    given = tuple(dict.fromkeys(tools))
    if allowed is None:
        return given
    patterns = (*allowed, *skill.tool_names)
    return tuple(tool for tool in given if any(fnmatchcase(tool, each) for each in patterns))


def skill_text(skill: Skill) -> str:
    """The second stage: the instructions, and what else can be had of the skill."""
    parts = [f"# Skill: {skill.name}", skill.body]
    if skill.references:
        listed = "\n".join(f"- {path}" for path in skill.references)
        parts.append(f"Files of this skill, to be read when they are needed:\n{listed}")
    if skill.tool_names:
        listed = "\n".join(
            f"- {script.tool(skill.name)}: {script.description}"
            for script in skill.document.scripts
        )
        parts.append(f"Tools of this skill:\n{listed}")
    return "\n\n".join(part for part in parts if part)


def reference_of(skill: Skill, path: str, *, limit: int = MOST_PROMPT_BYTES) -> str:
    """A file of a skill as a prompt takes it."""
    content = skill.files.get(path)
    if content is None:
        known = ", ".join(skill.references[:20]) or "none"
        raise NotFound(f"The skill {skill.name!r} has no file {path[:200]!r}. It has: {known}.")
    text = text_of(content)
    if text is None:
        raise Invalid(f"{path} of the skill {skill.name!r} is not a text; it cannot be read here.")
    encoded = text.encode()
    if len(encoded) <= limit:
        return text
    notice = f"\n[cut here; the file has {len(encoded):,} bytes]"
    room = max(0, limit - len(notice.encode()))
    return encoded[:room].decode("utf-8", "ignore") + notice
