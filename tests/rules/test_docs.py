"""What the documentation says exists: commands, options, links, settings."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from scripts.docs_site import BESIDE
from scripts.generate import commands
from steward.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINKED = [*PAGES, ROOT / "deploy/README.md", ROOT / "web/README.md"]
KNOWN = dict(commands(get_command(app), "steward"))


def _shell_lines(text: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    inline = re.findall(r"`([^`\n]+)`", text)
    return [line.strip() for block in blocks for line in block.splitlines()] + inline


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_pages_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in _shell_lines(page.read_text()):
        words = shlex.split(line.partition(" #")[0], posix=True) if line.count('"') % 2 == 0 else []
        words = [word for word in words if not re.match(r"^[A-Z_]+=", word)]
        if len(words) > 1 and words[0] == "make":
            assert words[1] in targets, line
        if len(words) > 1 and Path(words[0]).name == "steward":
            _check_steward(words[1:], line)


def _check_steward(words: list[str], line: str) -> None:
    names = [word for word in words if re.fullmatch(r"[a-z-]+", word)]
    for length in (2, 1):
        path = " ".join(["steward", *names[:length]])
        if path in KNOWN:
            options = {opt for p in KNOWN[path].params for opt in p.opts} | {"--help"}
            used = {word for word in words if word.startswith("--")}
            assert used <= options, line
            return
    # `steward user` names a group; `steward --install-completion` is the shell's own.
    assert any(known.startswith(f"steward {words[0]}") for known in KNOWN) or words[0].startswith(
        "--"
    ), line


def _without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """As repositories show them: small letters, hyphens for spaces, no other marks; a number for one that was there."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+)$", text, re.MULTILINE):
        given = re.search(r"\{ *#(\S+) *\}$", heading)
        if given:
            found.add(given[1])
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while (name := f"{slug}-{number}" if number else slug) in found:
            number += 1
        found.add(name)
    return found


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_their_anchors_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", _without_code(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        if anchor:
            assert anchor in _anchors(there), target


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r'"([\w/-]+\.md)"', (ROOT / "docs/zensical.toml").read_text())
    pages = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted([*pages, *BESIDE.values()])


def test_variables_in_the_pages_are_settings() -> None:
    reference = (ROOT / "docs/reference/settings.md").read_text()
    for page in PAGES:
        for variable in re.findall(r"STEWARD_[A-Z_]+[A-Z]", page.read_text()):
            assert f"`{variable}`" in reference, f"{page.name}: {variable}"
