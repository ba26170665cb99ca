"""Skills: instructions with references and scripts, found in three stages, versioned per project."""

from steward.agents.skills._rows import Listed
from steward.agents.skills.archives import MOST_ARCHIVE_BYTES, read_folder, skills_in, unpack
from steward.agents.skills.changes import text_of
from steward.agents.skills.check import Checked, check
from steward.agents.skills.model import SKILL_FILE, Origin, Skill
from steward.agents.skills.paths import is_junk
from steward.agents.skills.prompts import skill_text
from steward.agents.skills.registry import Skills
from steward.agents.skills.scripts import ScriptTools

__all__ = [
    "MOST_ARCHIVE_BYTES",
    "SKILL_FILE",
    "Checked",
    "Listed",
    "Origin",
    "ScriptTools",
    "Skill",
    "Skills",
    "check",
    "is_junk",
    "read_folder",
    "skill_text",
    "skills_in",
    "text_of",
    "unpack",
]
