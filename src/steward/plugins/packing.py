"""Wheels from folders: a plain Python package with a pyproject.toml, packed without any build tool.

The same files give the same bytes, so that a hash names a state of the code. Packages that need more than this are
built with the tools of their own; what they build is installed in the same way.
"""

import base64
import hashlib
import io
import stat
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from packaging.utils import canonicalize_name

from steward.agents.skills import is_junk
from steward.core import Invalid, NotFound

_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)
_MOST_FILES: Final = 1_000


def pack_folder(folder: Path) -> tuple[str, bytes]:
    """The file name and the bytes of a wheel made from a folder with a pyproject.toml."""
    project = _project(folder)
    name, version = str(project.get("name", "")), str(project.get("version", ""))
    if not name or not version:
        raise Invalid(f"{folder / 'pyproject.toml'} needs a name and a version under [project].")
    module = canonicalize_name(name).replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = dict(_code(folder, module))
    files[f"{info}/METADATA"] = _metadata(project).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: steward\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/entry_points.txt"] = _entry_points(project.get("entry-points", {})).encode()
    record = "".join(f"{path},{_hash(text)},{len(text)}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    return f"{module}-{version}-py3-none-any.whl", _zipped(files)


def _project(folder: Path) -> Mapping[str, Any]:
    try:
        text = (folder / "pyproject.toml").read_text()
    except OSError:
        raise NotFound(f"There is no pyproject.toml in {folder}.") from None
    try:
        found = tomllib.loads(text).get("project")
    except tomllib.TOMLDecodeError as problem:
        raise Invalid(f"{folder / 'pyproject.toml'} cannot be read: {problem}.") from None
    if not isinstance(found, dict):
        raise Invalid(f"{folder / 'pyproject.toml'} has no part [project].")
    return found


def _code(folder: Path, module: str) -> Iterator[tuple[str, bytes]]:
    base = next((each for each in (folder, folder / "src") if (each / module).is_dir()), None)
    if base is None:
        raise NotFound(f"There is no folder {module} in {folder} or {folder / 'src'}.")
    paths = sorted(path for path in (base / module).rglob("*") if path.is_file())
    if len(paths) > _MOST_FILES:
        raise Invalid(f"{base / module} has {len(paths):,} files; at most {_MOST_FILES:,} fit.")
    for path in paths:
        name = path.relative_to(base).as_posix()
        if path.is_symlink():
            raise Invalid(f"{name} is a link; put the file itself there.")
        if not is_junk(name):
            yield name, path.read_bytes()


def _metadata(project: Mapping[str, Any]) -> str:
    licence = project.get("license", "")
    licence = licence.get("text", "") if isinstance(licence, dict) else licence
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project.get('description', '')}",
        *([f"License-Expression: {licence}"] if licence else []),
        *([f"Requires-Python: {python}"] if (python := project.get("requires-python")) else []),
        *(f"Requires-Dist: {each}" for each in project.get("dependencies", [])),
    ]
    return "".join(f"{' '.join(str(line).split())}\n" for line in lines)


def _entry_points(groups: Mapping[str, Mapping[str, str]]) -> str:
    return "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items())
        for group, points in groups.items()
    )


def _hash(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"


def _zipped(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, _LONG_AGO)
            entry.create_system = 3
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content)
    return target.getvalue()
