"""A project as files: read from a folder without leaving it, told apart by kind, written so that Git shows what changed."""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from steward.core import Invalid, NotFound, Problem, StewardError, TooLarge, dump_yaml, read_yaml
from steward.playbooks import decoded, read_bytes, write_private
from steward.projects.kinds import Kind
from steward.projects.parts import Part

MAIN_FILE: Final = "steward.yaml"
MOST_FILES: Final = 4_000
LARGEST_FILE: Final = 1_600_000
LARGEST_FOLDER: Final = 8_000_000
"""Bytes of all files together."""
_PATH: Final = re.compile(r"[^\x00-\x1f\x7f\\:]{1,300}")
_LAYOUT: Final = ".layout.json"
_MAIN_FIELDS: Final = frozenset({"format", "deploy"})

Files = Mapping[str, str]


def read_files(folder: Path, kinds: Sequence[Kind]) -> dict[str, str]:
    """The texts of a folder's files by their paths; never through a link, and never more than a project can be."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}.")
    found: dict[str, str] = {}
    size = 0
    for path in _walked(folder, kinds):
        name = path.relative_to(folder).as_posix()
        content = read_bytes(path, LARGEST_FILE)
        size += len(content)
        if len(content) > LARGEST_FILE or size > LARGEST_FOLDER or len(found) >= MOST_FILES:
            raise TooLarge(
                f"{name} is too large: a file has at most {LARGEST_FILE:,} bytes, and a project "
                f"{MOST_FILES:,} files with {LARGEST_FOLDER:,} bytes."
            )
        try:
            found[name] = decoded(content, "file of a project")
        except StewardError as problem:
            raise Invalid(f"{name}: {problem.message}") from None
    return found


def _walked(folder: Path, kinds: Sequence[Kind]) -> Iterator[Path]:
    """Files in the folders of the kinds; other folders, and names that begin with a dot, are somebody else's."""
    main = folder / MAIN_FILE
    if os.path.lexists(main):
        yield _inside(folder, main)
    open_folders = [folder / kind.folder for kind in kinds]
    while open_folders:
        place = open_folders.pop(0)
        if not os.path.lexists(place):
            continue
        _inside(folder, place)
        for entry in sorted(os.scandir(place), key=lambda each: each.name):
            path = Path(entry.path)
            if entry.name.startswith("."):
                continue
            if stat.S_ISDIR(entry.stat(follow_symlinks=False).st_mode):
                open_folders.append(path)
            else:
                yield _inside(folder, path)


def _inside(folder: Path, path: Path) -> Path:
    if path.is_symlink():
        name = path.relative_to(folder).as_posix()
        raise Invalid(f"{name} is a link. Replace it by the file or folder itself.")
    return path


def read_parts(files: Files, kinds: Sequence[Kind]) -> dict[tuple[str, str], Part]:
    """What the files say, by kind and name; Invalid names everything wrong with them, each with its file."""
    if MAIN_FILE not in files:
        raise Invalid(
            f"This is not a project: the file {MAIN_FILE} is missing. 'steward export' writes one."
        )
    found: dict[tuple[str, str], Part] = {}
    problems: list[Problem] = []
    for path in sorted(files):
        try:
            part = _read_part(path, files, kinds)
            if part is None:
                continue
            if part.key in found:
                other = found[part.key].path
                raise Invalid(f"{other} is the same {part.label} already. Remove one of the two.")
            found[part.key] = part
        except (StewardError, RecursionError) as problem:
            said = (
                problem.message if isinstance(problem, StewardError) else "it is nested too deeply"
            )
            problems.append(Problem(path, said))
    if not problems:
        try:
            found = _with_deployments(found, _deployed(files[MAIN_FILE]), kinds)
        except StewardError as problem:
            problems.append(Problem(MAIN_FILE, problem.message))
    refuse(problems)
    return found


def refuse(problems: Sequence[Problem]) -> None:
    """Refuses a folder with all that is wrong in it, if anything is."""
    if problems:
        shown = "\n".join(f"{each.pointer}: {each.message}" for each in problems[:20])
        more = f"\nand {len(problems) - 20} more" if len(problems) > 20 else ""
        count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise Invalid(
            f"Nothing was changed: the files have {count}.\n{shown}{more}",
            code="project-invalid",
            problems=problems,
        )


def _read_part(path: str, files: Files, kinds: Sequence[Kind]) -> Part | None:
    require_path(path)
    if path == MAIN_FILE:
        return None
    kind = next((each for each in kinds if path.startswith(f"{each.folder}/")), None)
    if kind is None:
        known = ", ".join(f"{each.folder}/" for each in kinds)
        raise Invalid(f"No part of a project has this place. Files are in {known}.")
    if path.endswith(_LAYOUT) and kind.name == "playbook":
        if not any(path.removesuffix(_LAYOUT) + each in files for each in kind.endings):
            raise Invalid("It is the drawing of a playbook that is not beside it. Remove it.")
        return None
    if not path.endswith(kind.endings):
        raise Invalid(f"A file in {kind.folder}/ ends with {kind.endings[0]}. Rename or move it.")
    return kind.read(path, files)


def require_path(path: str) -> None:
    """Refuses a path that could lead out of a folder, or that some file systems do not take."""
    parts = path.split("/")
    if not _PATH.fullmatch(path) or any(each.strip() in {"", ".", ".."} for each in parts):
        raise Invalid("This is no path in a folder: use names with / between them, without ..")


def _deployed(text: str) -> list[str]:
    main = read_yaml(text)
    if not isinstance(main, dict) or main.get("format") != 1 or main.keys() - _MAIN_FIELDS:
        raise Invalid("It has `format: 1` and, under `deploy`, the ids of playbooks to deploy.")
    named = main.get("deploy") or []
    if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
        raise Invalid("`deploy` is a list of ids of playbooks.")
    return named


def _with_deployments(
    found: dict[tuple[str, str], Part], named: list[str], kinds: Sequence[Kind]
) -> dict[tuple[str, str], Part]:
    kind = next(each for each in kinds if each.name == "playbook")
    for slug in named:
        part = found.get((kind.name, slug))
        if part is None:
            raise Invalid(f"`deploy` names the playbook {slug!r}, which has no file here.")
        found[part.key] = kind.part({**part.content, "deploy": True}, part.path)
    return found


def as_files(parts: Sequence[Part], kinds: Sequence[Kind]) -> dict[str, str]:
    """The files of these parts, in one order; two parts never share one."""
    by_name = {kind.name: kind for kind in kinds}
    deployed = sorted(each.name for each in parts if each.meaning.get("deployed"))
    found = {MAIN_FILE: dump_yaml({"format": 1, **({"deploy": deployed} if deployed else {})})}
    for part in parts:
        found |= by_name[part.kind].files(part)
    return dict(sorted(found.items()))


def write_files(
    folder: Path, parts: Sequence[Part], kinds: Sequence[Kind], *, prune: bool
) -> tuple[list[str], list[str]]:
    """Writes what the folder does not say yet; answers with what was written, and with files of things that are gone.

    A file that means the same already stays as somebody wrote it, where they put it.
    """
    before = read_files(folder, kinds) if folder.is_dir() else {}
    known = read_parts(before, kinds) if MAIN_FILE in before else {}
    placed = [_placed(part, known.get(part.key)) for part in parts]
    wanted = as_files(placed, kinds)
    same = {each.key for each in placed if _means_same(known.get(each.key), each)}
    kept = as_files([known[key] for key in sorted(same)], kinds)
    before_main = before.get(MAIN_FILE)
    if before_main is None or {*_deployed(before_main)} != {*_deployed(wanted[MAIN_FILE])}:
        del kept[MAIN_FILE]
    written = [name for name in wanted if name not in before or name not in kept]
    for name in written:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.parent.resolve().is_relative_to(folder.resolve()):
            raise Invalid(f"{name} would be outside of the folder: a folder on the way is a link.")
        if before.get(name) != wanted[name]:
            write_private(place, wanted[name].encode())
    gone = [name for name in before if name not in wanted]
    if prune:
        for name in gone:
            (folder / name).unlink()
    return [name for name in written if before.get(name) != wanted[name]], gone


def _placed(part: Part, there: Part | None) -> Part:
    return part if there is None else replace(part, path=there.path)


def _means_same(one: Part | None, other: Part) -> bool:
    """Apart from what the main file says of it."""
    names = {*(one.meaning if one else ()), *other.meaning} - {"deployed"}
    return one is not None and all(one.meaning.get(n) == other.meaning.get(n) for n in names)
