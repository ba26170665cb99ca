"""What a file is, by its content; its name decides nothing and is only compared."""

import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from steward.core import Invalid, package_yaml
from steward.ingest.findings import Note

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Separators of fields and records are among the control characters that texts do use.
_CONTROLS = tuple(bytes((code,)) for code in (*range(9), *range(14, 27)) if code != 1)
_TAR_AT = 257
_HEAD = 4096


@dataclass(frozen=True)
class Detected:
    format: str
    """One of the formats, or `gzip`, `zip` or `zstd` for what has to be unpacked first."""
    notes: tuple[Note, ...] = ()


def detect(path: Path, name: str, declared: str | None = None) -> Detected:
    """The format of a file; refused with a reason when it is none that holds tables."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise Invalid(f"{name!r} is empty.", code="empty")
    found = _by_content(head, path, name, declared)
    if declared is not None and found not in ("gzip", "zip", "zstd"):
        return Detected(declared)
    ending = PurePosixPath(name.lower()).suffix
    promised = package_yaml("steward.ingest", "formats.yaml")["endings"]
    expected = next((kind for kind, endings in promised.items() if ending in endings), None)
    if expected is None or expected == found:
        return Detected(found)
    message = f"{name!r} is named like {expected} but holds {found}; it is read as what it holds."
    return Detected(found, (Note("mislabelled", message),))


def _by_content(head: bytes, path: Path, name: str, declared: str | None) -> str:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PARE"):
        raise _refused(name, "an encrypted Parquet file; decrypt it first")
    if head.startswith(b"SQLite format 3\x00"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_content(path, name)
    if head.startswith(_OLE):
        return "excel"
    if declared != "delimited":
        _refuse_known(head, name)
    return "json" if _looks_like_json(head) else "delimited"


def _refuse_known(head: bytes, name: str) -> None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for magic, what in package_yaml("steward.ingest", "formats.yaml")["refused"]:
        if start.startswith(magic.encode("latin-1")):
            raise _refused(name, what)
    if _is_binary(head):
        raise _refused(name, "binary data of an unknown kind")
    if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
        raise _refused(name, "a tar archive; use zip, gzip or zstd")


def _is_binary(head: bytes) -> bool:
    """Many control characters, and not the zeros of a text in wide characters."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    controls = sum(head.count(code) for code in _CONTROLS)
    zeros = head.count(0)
    wide = zeros > len(head) // 4 and min(head[0::2].count(0), head[1::2].count(0)) * 20 < zeros
    return not wide and controls > max(64, len(head) // 20)


def _refused(name: str, what: str) -> Invalid:
    return Invalid(f"{name!r} cannot be read as a table: it is {what}.", code="unsupported-format")


def _zip_content(path: Path, name: str) -> str:
    """Office files are zip archives with known members."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "[Content_Types].xml" in names and any(n.startswith("xl/") for n in names):
                return "excel"
            if "mimetype" in names:
                kind = _first_bytes(archive, "mimetype")
                if b"opendocument.spreadsheet" in kind:
                    return "excel"
                if b"opendocument" in kind:
                    raise _refused(name, "an OpenDocument file that is no spreadsheet")
            if "[Content_Types].xml" in names:
                raise _refused(name, "an Office document that is no spreadsheet")
    except (zipfile.BadZipFile, RuntimeError, OSError, ValueError) as problem:
        raise Invalid(
            f"{name!r} is a damaged zip archive; send it again.", code="damaged"
        ) from problem
    return "zip"


def _first_bytes(archive: zipfile.ZipFile, member: str) -> bytes:
    with archive.open(member) as file:
        return file.read(256)


def _looks_like_json(head: bytes) -> bool:
    """A brace or bracket followed by what JSON allows there; text may begin with either."""
    text = head
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if head.startswith(mark):
            text = head[2:].decode(encoding, "replace").encode()
    text = text.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] not in (b"{", b"["):
        return False
    following = text[1:].lstrip()[:1]
    if text[:1] == b"{":
        return following in (b'"', b"}", b"")
    return (
        following in (b"{", b"[", b"]", b'"', b"")
        or following in (b"-", b"t", b"f", b"n")
        or following.isdigit()
    )
