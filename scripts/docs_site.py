"""Builds the documentation site from `docs/`: staged with the pages beside it, made by Zensical, then made fit for
Steward's content security policy, which allows no script inside a page.
"""

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src/steward/api/docs"
BESIDE = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "deploy/README.md": "project/deploy.md",
}
"""Pages of the repository that are not in `docs/`, and their place in the site."""

_LINK = re.compile(r"(\]\()([^)\s:#]+)((?:#[^)\s]*)?\))")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_ITEM = re.compile(r"(?:[-*]|\d+\.)\s+")
_NAMED_FENCE = re.compile(r"(```\w+) file=(\S+)")
_PACKED = (".html", ".js", ".css", ".json", ".svg", ".xml")


class NotBuilt(Exception):
    """The generator refused; its own words follow."""


def build(output: Path = OUTPUT) -> None:
    """The whole site in one folder, which is replaced only when everything has worked."""
    with tempfile.TemporaryDirectory(prefix="steward-docs-") as folder:
        place = Path(folder)
        stage(place / "docs")
        shutil.copy(ROOT / "docs/zensical.toml", place / "zensical.toml")
        _generate(place)
        site = place / "site"
        # It is shown at any address, so its own addresses begin at the top: there the web app is.
        lost = site / "404.html"
        lost.write_text(re.sub(r'([=:]|URL\()"/(?!/)', r'\1"/docs/', lost.read_text()))
        for page in site.rglob("*.html"):
            up = "../" * (len(page.relative_to(site).parts) - 1) if page != lost else "/docs/"
            page.write_text(_move_scripts_out(page.read_text(), up, site))
        for path in sorted(site.rglob("*")):
            if path.suffix in _PACKED:
                packed = path.with_name(path.name + ".gz")
                packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(site, output)


def stage(target: Path) -> None:
    """The sources as the site has them: pages from elsewhere in place, and every link led to where it went."""
    shutil.copytree(ROOT / "docs", target, ignore=shutil.ignore_patterns("*.toml"))
    for source, place in BESIDE.items():
        path = target / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(fit_generator(_lead(ROOT / source, Path(place), BESIDE)))
    for path in (ROOT / "docs").rglob("*.md"):
        inside = path.relative_to(ROOT / "docs")
        (target / inside).write_text(fit_generator(_lead(path, inside, BESIDE)))


def _lead(source: Path, place: Path, moved: Mapping[str, str]) -> str:
    """The page's text with links that fit its place. The generator refuses those that lead out of the site."""

    def follow(found: re.Match[str]) -> str:
        target = (source.parent / found[2]).resolve()
        if not target.is_relative_to(ROOT):
            return found[0]
        inside = str(target.relative_to(ROOT))
        there = moved.get(inside) or inside.removeprefix("docs/")
        if there == inside:
            return found[0]
        up = "../" * (len(place.parts) - 1)
        return f"{found[1]}{up}{there}{found[3]}"

    return _LINK.sub(follow, source.read_text())


def fit_generator(text: str) -> str:
    """The same page for a generator that wants four spaces for each level of a list and empty lines around items."""
    lines: list[str] = []
    levels: list[int] = []  # columns at which the text of each open item begins
    fenced = apart = False
    for line in text.splitlines():
        words = line.lstrip()
        column = len(line) - len(words)
        item = None if fenced else _ITEM.match(words)
        if words and not fenced:
            inside = bool(levels)
            while levels and column < levels[-1]:
                levels.pop()
            if item and lines and lines[-1] and (apart or not inside):
                lines.append("")
            apart = apart and bool(levels or item)
        apart = apart or not words
        shift = 4 * len(levels) - levels[-1] if levels else 0
        lines.append(" " * max(0, column + shift) + words if words else "")
        if item:
            levels.append(column + len(item[0]))
        if words.startswith("```"):
            fenced = not fenced
            lines[-1] = _NAMED_FENCE.sub(r'\1 title="\2"', lines[-1])
    return "\n".join(lines) + "\n"


def _generate(place: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=place,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode or not (place / "site/index.html").is_file():
        raise NotBuilt(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout))


def _move_scripts_out(page: str, up: str, site: Path) -> str:
    """Each script inside the page becomes a file beside the other assets, named by what is in it."""

    def move(found: re.Match[str]) -> str:
        name = f"assets/inline/{hashlib.sha256(found[1].encode()).hexdigest()[:16]}.js"
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(found[1])
        return f'<script src="{up}{name}"></script>'

    return _INLINE.sub(move, page)


def main() -> int:
    try:
        build()
    except NotBuilt as failure:
        sys.stderr.write(f"The documentation could not be built:\n{failure}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
