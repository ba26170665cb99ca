"""Wheels for tests, made of texts."""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from steward.plugins import pack_folder, write_package

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/plugins/acme-invoices"


def example() -> bytes:
    return pack_folder(EXAMPLE)[1]


def scaffold(folder: Path, *kinds: str, name: str = "acme-tax", **changes: str) -> bytes:
    """A fresh package with these kinds; `changes` are texts by the stem of their file."""
    made = write_package(name, folder, kinds or ("sandboxed_tool",))
    for stem, text in changes.items():
        path = next(made.rglob(f"{stem}.*"))
        path.write_text(text)
    return pack_folder(made)[1]


def rewritten(wheel: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """The same archive with other files, and a RECORD that no longer fits."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    return zipped(files)


def zipped(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()
