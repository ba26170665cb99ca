"""Finds the character encoding of a text file from windows spread over it."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

import chardet

from steward.ingest.findings import Encoding, Note

_HEAD = 1 << 20
_WINDOW = 1 << 16
_WINDOWS = 48
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SINGLE_BYTE = re.compile(
    r"^(iso-?8859|windows-?125|cp125|cp\d{3}$|mac|koi8|latin|tis-620|hp-?roman)", re.IGNORECASE
)
_BAD = re.compile(rb"[\x80-\xff]+")
_UTF7 = re.compile(rb"\+[A-Za-z0-9/]{3,}-")


def find_encoding(path: Path) -> tuple[Encoding, tuple[Note, ...]]:
    """The encoding of a text, and what a person should check about it."""
    (head, _), *rest = spread = tuple(_windows(path))
    windows = [window for window, _ in rest]
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name, "The file begins with a byte order mark.", True), ()
    wide = _wide(head)
    if wide:
        return Encoding(wide, "Every other byte is zero."), ()
    sample = b"\n".join((head, *windows))
    if sample.isascii():
        return _ascii(head)
    good, bad = _utf8_characters(spread)
    if not bad:
        return Encoding("utf-8", "Every character looked at is valid UTF-8."), ()
    if good > bad:
        message = "Most characters are valid UTF-8, some bytes are not: their records are rejected."
        return Encoding("utf-8", message), (Note("damaged-encoding", message),)
    return _guess(sample)


def _windows(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Pieces of a file, and whether each ends before the file does."""
    size = path.stat().st_size
    with path.open("rb") as file:
        yield file.read(_HEAD), size > _HEAD
        if size > _HEAD:
            step = max((size - _HEAD) // _WINDOWS, _WINDOW)
            for position in range(_HEAD, size, step):
                file.seek(position)
                window = file.read(_WINDOW)
                # A window begins after a line end, so that no character is cut at its start.
                yield window[window.find(b"\n") + 1 :], position + len(window) < size


def _wide(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: western text leaves a zero in every other byte."""
    sample = head[: 4096 - 4096 % 4]
    zeros = [sample[offset::4].count(0) for offset in range(4)]
    quarter = max(len(sample) // 4, 1)
    share = [count / quarter for count in zeros]
    if min(share[1], share[2], share[3]) > 0.7 > share[0]:
        return "utf-32-le"
    if min(share[0], share[1], share[2]) > 0.7 > share[3]:
        return "utf-32-be"
    if min(share[1], share[3]) > 0.4 > max(share[0], share[2]):
        return "utf-16-le"
    if min(share[0], share[2]) > 0.4 > max(share[1], share[3]):
        return "utf-16-be"
    return None


def _ascii(head: bytes) -> tuple[Encoding, tuple[Note, ...]]:
    found = Encoding("utf-8", "Every byte looked at is ASCII.")
    if _UTF7.search(head) and chardet.detect(head[:_WINDOW])["encoding"] == "utf-7":
        message = "The text may be UTF-7; it is kept as written. Declare utf-7 to decode it."
        return found, (Note("maybe-utf-7", message),)
    return found, ()


def _utf8_characters(windows: tuple[tuple[bytes, bool], ...]) -> tuple[int, int]:
    """How many characters beyond ASCII are valid UTF-8, and how many runs of bytes are not."""
    good = bad = 0
    for window, cut in windows:
        for run in _BAD.finditer(window):
            try:
                good += len(run[0].decode("utf-8"))
            except UnicodeDecodeError:
                # A window may end within a character.
                if not cut or run.end() < len(window) or len(run[0]) > 3:
                    bad += 1
    return good, bad


def _guess(sample: bytes) -> tuple[Encoding, tuple[Note, ...]]:
    lines = [line for line in sample.splitlines() if not line.isascii()]
    text = b"\n".join(lines)[:_HEAD]
    name = chardet.detect(text)["encoding"]
    reason = "The bytes beyond ASCII are typical of it."
    if name is None or _western(text, name) or not _decodes(text, name):
        name = next(known for known in ("cp1252", "latin-1") if _decodes(text, known))
        reason = "Single bytes beyond ASCII stand among western letters."
    message = f"The file is no UTF-8; it is read as {name}. Declare the encoding if texts look odd."
    return Encoding(name, reason), (Note("guessed-encoding", message),)


def _western(text: bytes, guess: str) -> bool:
    """Accents stand alone among ASCII letters; other alphabets come in runs."""
    if not _SINGLE_BYTE.match(guess):
        return False
    runs = [len(run[0]) for run in _BAD.finditer(text)]
    return bool(runs) and sum(runs) / len(runs) < 1.6 and _decodes(text, "cp1252")


def _decodes(text: bytes, name: str) -> bool:
    try:
        text.decode(name)
    except (UnicodeDecodeError, LookupError):
        return False
    return True
