"""Skills: instructions with references and scripts, found in three stages, versioned per project."""

from steward.agents.skills._rows import Listed, Version
from steward.agents.skills.archives import MOST_ARCHIVE_BYTES, read_folder, skills_in, unpack
from steward.agents.skills.builtin import builtin_skills
from steward.agents.skills.changes import FileChange, text_of
from steward.agents.skills.check import Checked, check
from steward.agents.skills.model import (
    SKILL_FILE,
    Origin,
    Script,
    Skill,
)
from steward.agents.skills.paths import is_junk
from steward.agents.skills.prompts import skill_text, tools_for
from steward.agents.skills.registry import Skills
from steward.agents.skills.scripts import ScriptTools

__all__ = [
    "MOST_ARCHIVE_BYTES",
    "SKILL_FILE",
    "Checked",
    "FileChange",
    "Listed",
    "Origin",
    "Script",
    "ScriptTools",
    "Skill",
    "Skills",
    "Version",
    "builtin_skills",
    "check",
    "is_junk",
    "read_folder",
    "skill_text",
    "skills_in",
    "text_of",
    "tools_for",
    "unpack",
]
