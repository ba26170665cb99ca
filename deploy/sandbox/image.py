"""Builds the image in which containers run Steward's sandbox, from this very interpreter: no registry.

Run it with the interpreter that Steward is installed in:

    python deploy/sandbox/image.py | docker import --change "ENV PATH=/usr/local/bin" - steward-runner

The image holds the interpreter, the libraries that code may use, the sandbox room of Steward and the
shared libraries of all of them; no shell, no package manager, no other program.
"""

import argparse
import compileall
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# What code may import, and what the runner itself needs; their own requirements follow by themselves.
LIBRARIES = ("altair", "duckdb", "numpy", "pandas", "polars", "pyarrow", "pydantic")
RUNNER = ("pydantic-settings", "pytz", "sqlglot", "tzdata")
ROOMS = ("core", "sandbox")
LEFT_OUT = (
    *("test", "tests", "idlelib", "ensurepip", "lib2to3", "tkinter", "turtledemo"),
    *("site-packages", "__pycache__", "config-*", "*.a", "pip"),
)
FOLDERS = ("proc", "sys", "dev", "tmp", "etc", "scratch", "request")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def build(stage: Path) -> None:
    """Lays out the whole file system below a folder."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = stage / "usr/local/lib" / version
    packages = library / "site-packages"
    standard = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}))
    shutil.copytree(standard, library, ignore=shutil.ignore_patterns(*LEFT_OUT))
    # Some systems keep compiled modules apart.
    compiled = Path(sysconfig.get_path("platstdlib", vars={"platbase": sys.base_prefix}))
    if not (library / "lib-dynload").exists():
        shutil.copytree(compiled / "lib-dynload", library / "lib-dynload")
    programs = stage / "usr/local/bin"
    programs.mkdir(parents=True)
    interpreter = programs / version
    shutil.copy2(Path(sys.executable).resolve(), interpreter)
    interpreter.chmod(0o755)
    (programs / "python").symlink_to(version)
    packages.mkdir()
    for name in sorted(required(LIBRARIES + RUNNER)):
        _install(name, packages)
    _steward(packages / "steward")
    _shared_libraries(stage)
    for folder in FOLDERS:
        (stage / folder).mkdir(exist_ok=True)
    zones = Path("/usr/share/zoneinfo")
    if zones.is_dir():
        shutil.copytree(zones, stage / "usr/share/zoneinfo", symlinks=True)
    _readable(stage)
    # Compiled here with the names the files have in the image; a read-only root could not keep it.
    compileall.compile_dir(library, quiet=2, stripdir=str(stage), prependdir="/", force=True)


def required(names: tuple[str, ...]) -> set[str]:
    """Distributions with everything they need that is installed here."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            # A requirement of other systems or versions.
            continue
        found.add(name)
        for need in needs:
            match = _NAME.match(need)
            if match and "extra ==" not in need:
                pending.append(match.group())
    return found


def _install(name: str, packages: Path) -> None:
    for file in importlib.metadata.files(name) or []:
        source = Path(str(file.locate()))
        outside = ".." in file.parts or "__pycache__" in file.parts
        if outside or {"test", "tests"} & set(file.parts) or not source.is_file():
            continue
        target = packages / str(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _steward(target: Path) -> None:
    found = importlib.util.find_spec("steward")
    if found is None or found.origin is None:
        raise SystemExit("Steward is not installed for this interpreter.")
    source = Path(found.origin).parent
    target.mkdir()
    shutil.copy2(source / "__init__.py", target)
    for room in ROOMS:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source / room, target / room, ignore=ignore)


def _shared_libraries(stage: Path) -> None:
    """All of them in one folder that every loader searches, and the loader where programs expect it."""
    place = stage / "usr/lib"
    place.mkdir(parents=True)
    (stage / "lib").symlink_to("usr/lib")
    inside = {path.name for path in stage.rglob("*.so*")}
    seen: set[str] = set()
    for binary in _binaries(stage):
        for name, path in _needs(binary):
            if path.startswith(str(stage)) or name in seen or name in inside:
                continue
            seen.add(name)
            if name.startswith("/"):
                loader = stage / name.lstrip("/")
                if loader.parent.resolve() != place.resolve():
                    loader.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(Path(path).resolve(), loader)
            else:
                shutil.copy2(Path(path).resolve(), place / name)


def _binaries(stage: Path) -> Iterator[Path]:
    for path in stage.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as opened:
                if opened.read(4) == b"\x7fELF":
                    yield path


def _needs(binary: Path) -> Iterator[tuple[str, str]]:
    """Names and places of the libraries that the loader would load; the loader by its own path."""
    asked = ["ldd", str(binary)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - files of our own
    for line in done.stdout.splitlines():
        words = line.split()
        if "=>" in words and len(words) > 2 and words[2].startswith("/"):
            yield (words[0], words[2])
        elif words and words[0].startswith("/"):
            yield (words[0], words[0])


def _readable(stage: Path) -> None:
    for path in stage.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def pack(stage: Path, out: BinaryIO) -> None:
    """Everything belongs to root, so nothing in the image can be changed by the code it runs."""

    def owned(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        return entry

    with tarfile.open(fileobj=out, mode="w|") as archive:
        for path in sorted(stage.iterdir()):
            archive.add(path, arcname=path.name, filter=owned)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--output", type=Path, help="a tar file instead of standard output")
    chosen = parser.parse_args()
    if chosen.output is None and sys.stdout.isatty():
        raise SystemExit("The image is a tar file: pipe it to `docker import -`, or name --output.")
    with tempfile.TemporaryDirectory(prefix="steward-image-") as folder:
        build(Path(folder))
        if chosen.output is None:
            pack(Path(folder), sys.stdout.buffer)
        else:
            with chosen.output.open("wb") as out:
                pack(Path(folder), out)


if __name__ == "__main__":
    main()
