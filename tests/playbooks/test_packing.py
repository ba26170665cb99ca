"""Playbooks in a zip: the export comes back as it was, and a zip made to harm is refused whole."""

import io
import stat
import struct
from collections.abc import Callable
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from steward.core.errors import StewardError
from steward.playbooks import Change
from steward.playbooks.exchange import SourceFile
from steward.playbooks.packing import packed, unpacked
from tests.cli.fixtures import filled, started_home, terminal
from tests.cli.terminal import Terminal
from tests.playbooks.conftest import ASKING, Room

__all__ = ["filled", "started_home", "terminal"]
OTHER = ASKING.replace("id: monthly-costs", "id: yearly-costs").replace(
    "folder: Finance/Monthly\n", ""
)


def zipped(*files: tuple[str | ZipInfo, str | bytes]) -> bytes:
    whole = io.BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return whole.getvalue()


def test_what_is_exported_is_imported_once(room: Room) -> None:
    exchange, access = room.playbooks.exchange, room.editor.access
    for text in (ASKING, OTHER):
        room.playbooks.library.create(access, text)
    whole = packed(exchange.files(access))
    assert packed(exchange.files(access)) == whole, "the same playbooks give the same bytes"
    sources = unpacked(whole)
    assert [each.name for each in sources] == [
        "Finance/Monthly/monthly-costs.yaml",
        "yearly-costs.yaml",
    ]
    again = exchange.bring_in_all(access, sources)
    assert [each.change for each in again] == [Change.unchanged, Change.unchanged]
    elsewhere = room.stranger.access
    taken = exchange.bring_in_all(elsewhere, sources, mine=True, trial=True)
    assert [each.change for each in taken] == [Change.refused, Change.refused], "the ids are taken"


COMMENTED = """\
# Why it is here
format: 1
id: commented
name: Commented  # short
# what it may cost
budget: {usd: 1}
graph:
  nodes:
    # first we look
    - {id: look, type: tool, tool: list_datasets}
"""


def test_comments_come_and_go_with_the_files(room: Room) -> None:
    exchange, access = room.playbooks.exchange, room.editor.access
    first = exchange.bring_in_all(access, [SourceFile("commented.yaml", COMMENTED)])
    assert [each.change for each in first] == [Change.created]
    [(name, text)] = exchange.files(access)
    address = room.editor.user.email
    said = f"name: Commented  # short\nowner: {address}\n# what it may cost\n"
    assert text == COMMENTED.replace("name: Commented  # short\n# what it may cost\n", said)
    again = exchange.bring_in_all(access, [SourceFile(name, text)])
    assert [each.change for each in again] == [Change.unchanged]
    assert exchange.files(access) == [(name, text)]
    card = room.playbooks.library.get(access, "commented")
    assert room.playbooks.library.revision_of(access.scope, card, 1).source == COMMENTED


def test_what_is_no_playbook_is_left_alone() -> None:
    whole = zipped(
        ("README.md", "read me"),
        ("__MACOSX/a.yaml", "no"),
        (".git/config.yaml", "no"),
        ("a/", ""),
        ("a/b.yml", ASKING),
    )
    assert [(each.name, each.text) for each in unpacked(whole)] == [("a/b.yml", ASKING)]


def _link() -> bytes:
    entry = ZipInfo("a.yaml")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return zipped((entry, "/etc/passwd"))


def _secret() -> bytes:
    whole = bytearray(zipped(("a.yaml", ASKING)))
    at = whole.index(b"PK\x01\x02")
    whole[at + 8] |= 1
    return bytes(whole)


def _lying() -> bytes:
    """Says that its file has ten bytes."""
    whole = bytearray(zipped(("a.yaml", "#" * 5_000_000)))
    at = whole.index(b"PK\x01\x02")
    struct.pack_into("<I", whole, at + 24, 10)
    return bytes(whole)


def _other_packing() -> bytes:
    whole = io.BytesIO()
    with ZipFile(whole, "w", ZIP_BZIP2) as archive:
        archive.writestr("a.yaml", ASKING)
    return whole.getvalue()


def _twice() -> bytes:
    with pytest.warns(UserWarning, match="Duplicate"):
        return zipped(("a.yaml", ASKING), ("a.yaml", OTHER))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: zipped(("../a.yaml", ASKING)), "leads out of its folder"),
        (lambda: zipped(("x/../../a.yaml", ASKING)), "leads out of its folder"),
        (lambda: zipped(("/etc/a.yaml", ASKING)), "leads out of its folder"),
        (lambda: zipped(("C:a.yaml", ASKING)), "leads out of its folder"),
        (lambda: zipped(("..\\a.yaml", ASKING)), "leads out of its folder"),
        (lambda: zipped(("a?b.yaml", ASKING)).replace(b"a?b", b"a\0b"), "leads out of its folder"),
        (_link, "is a link"),
        (_secret, "has a password"),
        (_other_packing, "packed in a way"),
        (_twice, "two files"),
        (lambda: zipped(("bomb.yaml", "a" * 30_000_000)), "too large"),
        (_lying, "cannot be read"),
        (lambda: zipped(*((f"{i}/", "") for i in range(4_001))), "entries"),
        (lambda: zipped(("a.yaml", b"\xff\xfe\x00")), "UTF-8"),
        (lambda: zipped(("a.txt", ASKING)), "no playbook in the zip"),
        (lambda: zipped(("a.yaml", ASKING))[:-30], "cannot be read"),
        (lambda: b"PK\x03\x04" + b"\x00" * 100, "cannot be read"),
        (lambda: b"", "cannot be read"),
    ],
)
def test_a_zip_made_to_harm_is_refused(make: Callable[[], bytes], said: str) -> None:
    with pytest.raises(StewardError, match=said):
        unpacked(make())


def test_a_zip_in_the_terminal(filled: Terminal) -> None:
    place = filled.home.parent / "given.zip"
    place.write_bytes(zipped(("a.yaml", ASKING), ("b.yaml", "format: 1\na: b: c\n")))
    refused = filled.run("playbooks", "import", str(place), code=1)
    assert "line 2" in refused.out
    assert "Nothing was imported" in refused.err
    assert "No playbooks" in filled.run("playbooks", "list").out
    place.write_bytes(zipped(("a.yaml", ASKING), ("b.yaml", OTHER)))
    assert filled.run("playbooks", "import", str(place), "--trial").out.count("created") == 2
    assert filled.run("playbooks", "import", str(place)).out.count("created") == 2
    out = filled.home.parent / "out.zip"
    filled.run("playbooks", "export", str(out))
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert filled.run("playbooks", "import", str(out)).out.count("unchanged") == 2
