"""Playbooks in one zip: packed the same each time, and unpacked in memory without trusting what the zip says."""

import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from steward.core import Invalid, TooLarge
from steward.playbooks.documents import LARGEST, decoded
from steward.playbooks.exchange import ENDINGS, MOST_FILES, SourceFile
from steward.playbooks.layout_files import ENDING, layout_name, read_layout

LARGEST_ZIP: Final = 20_000_000
"""Bytes of a zip as it is given."""
_MOST_ENTRIES: Final = 2 * MOST_FILES
_LARGEST_WHOLE: Final = 100_000_000
_LARGEST_FILE: Final = LARGEST * 4 + 4
_LONGEST_NAME: Final = 400
_PRIVATE: Final = 0o600 << 16
_FOREIGN: Final = "__MACOSX/"
"""What one system adds to its zips beside the files."""


def is_zip(content: bytes) -> bool:
    return content.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def packed(files: Iterable[tuple[str, str]]) -> bytes:
    """A zip of texts by their paths; the same texts give the same bytes."""
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        for path, text in files:
            entry = ZipInfo(path)
            entry.external_attr = _PRIVATE
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, text)
    return whole.getvalue()


def unpacked(content: bytes) -> list[SourceFile]:
    """The YAML files of a zip by their paths, with the drawings beside them; other files are left alone, and nothing is
    written anywhere."""
    if len(content) > LARGEST_ZIP:
        raise TooLarge(f"A zip of playbooks has at most {LARGEST_ZIP:,} bytes.")
    try:
        with ZipFile(BytesIO(content)) as archive:
            texts = list(_texts(archive))
    # The library raises these at zips that are cut off, damaged, or made to confuse it.
    except (BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as problem:
        raise Invalid(
            f"The zip cannot be read: {str(problem) or type(problem).__name__}."
        ) from None
    drawn = {each.name: each.text for each in texts if _is_drawing(each.name)}
    found = [each for each in texts if not _is_drawing(each.name)]
    if not found:
        raise Invalid("There is no playbook in the zip: none of its files ends with .yaml.")
    return [_with_drawing(each, drawn.get(layout_name(each.name))) for each in found]


def _is_drawing(name: str) -> bool:
    return name.lower().endswith(ENDING)


def _with_drawing(source: SourceFile, text: str | None) -> SourceFile:
    if text is None:
        return source
    try:
        return replace(source, layout=read_layout(text, layout_name(source.name)))
    except Invalid as problem:
        return replace(source, unreadable=problem.message)


def _texts(archive: ZipFile) -> Iterator[SourceFile]:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise Invalid(f"The zip has {len(entries):,} entries; {_MOST_ENTRIES:,} are allowed.")
    seen: set[str] = set()
    whole = 0
    for entry in entries:
        _refuse_tricks(entry)
        if not _is_wanted(entry):
            continue
        if entry.filename in seen:
            raise Invalid(f"The zip has two files {entry.filename!r}.")
        seen.add(entry.filename)
        if sum(not _is_drawing(each) for each in seen) > MOST_FILES:
            raise Invalid(f"The zip has more than {MOST_FILES:,} playbooks.")
        # What it says about its size may be a lie, so that no more is read than a playbook can have.
        with archive.open(entry) as file:
            text = file.read(_LARGEST_FILE + 1)
        whole += len(text)
        if len(text) > _LARGEST_FILE or whole > _LARGEST_WHOLE:
            raise TooLarge(
                f"{entry.filename} is too large for a playbook, or all of them together."
            )
        yield SourceFile(entry.filename, _decoded(entry, text))


def _refuse_tricks(entry: ZipInfo) -> None:
    name = entry.orig_filename
    parts = name.rstrip("/").split("/")
    if (
        not name.isprintable()
        or len(name) > _LONGEST_NAME
        or name.startswith("/")
        or any(part in {"", ".", ".."} for part in parts)
        or "\\" in name
        or name[1:2] == ":"
    ):
        raise Invalid(f"The zip has a file {name[:100]!r}, which leads out of its folder.")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise Invalid(f"{name} in the zip is a link; put the file itself there.")
    if entry.flag_bits & 0x1:
        raise Invalid(f"{name} in the zip has a password; make one without.")
    if entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise Invalid(f"{name} in the zip is packed in a way that is not read here.")


def _is_wanted(entry: ZipInfo) -> bool:
    name = entry.filename
    hidden = any(part.startswith(".") for part in name.split("/"))
    return (
        name.lower().endswith((*ENDINGS, ENDING)) and not hidden and not name.startswith(_FOREIGN)
    )


def _decoded(entry: ZipInfo, content: bytes) -> str:
    try:
        return decoded(content)
    except Invalid as problem:
        raise Invalid(f"{entry.filename}: {problem.message}") from None
