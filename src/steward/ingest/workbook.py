"""What a spreadsheet file says beside its values: macros, error cells, formulas never computed."""

import html
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from steward.core import Invalid, TooLarge
from steward.ingest.findings import Note
from steward.ingest.options import Limits

_PART = 4 << 20
_CHUNK = 1 << 20
_OVERLAP = 1 << 14
_SHEET = re.compile(rb'<(?:\w{1,20}:)?sheet\b[^<>]*?\bname="([^"]*)"[^<>]*?\br:id="([^"]*)"')
_RELATION = re.compile(rb"<Relationship\b[^<>]*>")
_ERROR_CELL = re.compile(rb'<c\b[^<>]*?\bt="e"[^<>]*>')
_REFERENCE = re.compile(rb'\br="([A-Z]{1,3}[0-9]{1,7})"')
_NOT_COMPUTED = re.compile(
    rb"<c\b[^<>]*><f\b(?:[^<>]*/>|[^<>]*>[^<]{0,8192}</f>)(?:<v ?/>|<v></v>)?</c>"
)


@dataclass(frozen=True)
class Oddities:
    errors: int = 0
    not_computed: int = 0
    first: tuple[str, ...] = ()

    def notes(self) -> tuple[Note, ...]:
        notes = []
        if self.errors:
            where = ", ".join(self.first)
            message = (
                f"{self.errors} cells hold an error such as #N/A or #DIV/0! (first: {where}); "
                "they are read as null."
            )
            notes.append(Note("error-cells", message))
        if self.not_computed:
            message = (
                f"{self.not_computed} formulas have no computed value and are read as null; "
                "open and save the file in a spreadsheet program to compute them."
            )
            notes.append(Note("formulas-not-computed", message))
        return tuple(notes)


def check_package(path: Path, name: str, limits: Limits) -> tuple[Note, ...]:
    """Refuses a workbook that would unpack beyond the limits; notes what is ignored in it."""
    if not zipfile.is_zipfile(path):
        return ()
    packed = max(path.stat().st_size, 1)
    with zipfile.ZipFile(path) as archive:
        total = sum(info.file_size for info in archive.infolist())
        names = archive.namelist()
    if total > limits.unpacked_mb << 20 or (
        total > limits.unpack_free_mb << 20 and total > packed * limits.unpack_ratio
    ):
        raise TooLarge(
            f"{name!r} unpacks to {total >> 20:,} MB; it is refused as a likely bomb.",
            code="archive-bomb",
        )
    if "EncryptedPackage" in names:
        raise Invalid(
            f"{name!r} is protected by a password. Save it again without one.", code="encrypted"
        )
    if any(member.endswith("vbaProject.bin") for member in names):
        return (Note("macros", "The workbook contains macros; they are ignored and never run."),)
    return ()


def oddities(path: Path, sheet: str) -> Oddities:
    """Error cells and uncomputed formulas of one sheet; the reader shows both as empty."""
    if not zipfile.is_zipfile(path):
        return Oddities()
    with zipfile.ZipFile(path) as archive:
        member = _member(archive, sheet)
        return _searched(archive, member) if member else Oddities()


def _member(archive: zipfile.ZipFile, sheet: str) -> str | None:
    try:
        listing = _read(archive, "xl/workbook.xml")
        relations = _read(archive, "xl/_rels/workbook.xml.rels")
    except (KeyError, zipfile.BadZipFile, OSError, RuntimeError):
        return None
    targets = {}
    for relation in _RELATION.findall(relations):
        key = re.search(rb'\bId="([^"]*)"', relation)
        target = re.search(rb'\bTarget="([^"]*)"', relation)
        if key and target:
            targets[key[1]] = target[1].decode("utf-8", "replace")
    for name, key in _SHEET.findall(listing):
        if html.unescape(name.decode("utf-8", "replace")) == sheet and key in targets:
            place = targets[key].lstrip("/")
            member = place if place.startswith("xl/") else f"xl/{place}"
            return member if member in archive.namelist() else None
    return None


def _read(archive: zipfile.ZipFile, member: str) -> bytes:
    with archive.open(member) as file:
        return file.read(_PART)


def _searched(archive: zipfile.ZipFile, member: str) -> Oddities:
    errors = not_computed = 0
    first: list[str] = []
    rest = b""
    try:
        with archive.open(member) as file:
            while data := file.read(_CHUNK):
                text = rest + data
                # What ends in the overlap is counted with the next piece.
                end = max(text.rfind(b"</c>") + 4, len(text) - _OVERLAP)
                piece, rest = text[:end], text[end:]
                for match in _ERROR_CELL.finditer(piece):
                    errors += 1
                    reference = _REFERENCE.search(match[0])
                    if reference and len(first) < 5:
                        first.append(reference[1].decode())
                not_computed += sum(1 for _ in _NOT_COMPUTED.finditer(piece))
    except (zipfile.BadZipFile, OSError, RuntimeError, EOFError):
        return Oddities(errors, not_computed, tuple(first))
    return Oddities(errors, not_computed, tuple(first))
