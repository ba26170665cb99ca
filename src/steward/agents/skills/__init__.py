"""Skills: instructions with references and scripts, found in three stages, versioned per project."""

from steward.agents.skills._rows import Listed, Version
from steward.agents.skills.archives import read_folder
from steward.agents.skills.builtin import builtin_skills
from steward.agents.skills.changes import FileChange
from steward.agents.skills.check import Checked, check
from steward.agents.skills.model import Fault, Origin, Script, Skill, SkillCard, SkillDocument
from steward.agents.skills.prompts import catalogue_text, reference_of, skill_text, tools_for
from steward.agents.skills.registry import Skills
from steward.agents.skills.scripts import ScriptTools

__all__ = [
    "Checked",
    "Fault",
    "FileChange",
    "Listed",
    "Origin",
    "Script",
    "ScriptTools",
    "Skill",
    "SkillCard",
    "SkillDocument",
    "Skills",
    "Version",
    "builtin_skills",
    "catalogue_text",
    "check",
    "read_folder",
    "reference_of",
    "skill_text",
    "tools_for",
]
