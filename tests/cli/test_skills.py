"""`steward skills`: check on disk, add, show, switch and export."""

from pathlib import Path

from tests.agents.skills.folders import SKILL, greeting
from tests.cli.terminal import Terminal


def written(folder: Path, **changes: str) -> Path:
    for path, content in greeting(**changes).items():
        target = folder / "greeting" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder / "greeting"


def test_a_skill_from_disk_to_a_zip_and_back(filled: Terminal, tmp_path: Path) -> None:
    home = written(tmp_path)
    assert filled.run("skills", "check", str(home)).out == "Valid.\n"
    assert filled.run("skills", "add", str(home)).out == "greeting: version 1\n"
    again = filled.run("skills", "add", str(home), "--json", code=1).json()
    assert again["error"]["code"] == "skill-exists"
    listed = {each["name"]: each for each in filled.run("skills", "list", "--json").json()}
    assert listed["greeting"]["origin"] == "project"
    assert listed["chart-choice"]["origin"] == "builtin"
    shown = filled.run("skills", "show", "greeting", "references/words.md").out
    assert shown == "Hello, welcome.\n"
    archive = tmp_path / "greeting.zip"
    filled.run("skills", "export", "greeting", str(archive))
    assert filled.run("skills", "add", str(archive), "--replace").out == "greeting: version 1\n"
    assert filled.run("skills", "disable", "greeting").out == "greeting is off.\n"
    assert filled.run("skills", "enable", "greeting").out == "greeting is on.\n"


def test_mistakes_are_told_with_file_and_line(filled: Terminal, tmp_path: Path) -> None:
    home = written(tmp_path, SKILL_dot_md=SKILL.replace("risk: compute", "risk: grave"))
    said = filled.run("skills", "check", str(home), code=1).err
    assert "greeting/SKILL.md:9: greet.py: the risk is one of read" in said
