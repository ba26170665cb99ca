"""Archives: hostile ones are refused whole, good ones come back byte for byte, the same bytes every time."""

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.agents.skills.archives import (
    MOST_ARCHIVE_BYTES,
    MOST_MEMBERS,
    pack,
    read_folder,
    skills_in,
    unpack,
)
from steward.agents.skills.paths import MOST_FILE_BYTES, safe_files, safe_path
from steward.core.errors import Invalid, StewardError, TooLarge
from tests.agents.skills.folders import greeting


class Member(zipfile.ZipInfo):
    """A member that is written as it is, whatever its name looks like."""

    def is_dir(self) -> bool:
        return False


def zipped(
    *members: tuple[str, bytes],
    mode: int = stat.S_IFREG | 0o644,
    compression: int = zipfile.ZIP_STORED,
) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members:
            info = Member("x")
            # The constructor would tidy the name up.
            info.filename = name
            info.external_attr = mode << 16
            info.compress_type = compression
            archive.writestr(info, content)
    return target.getvalue()


_PART = st.text(st.sampled_from("abcXYZ019_é-"), min_size=1, max_size=8).filter(
    lambda part: part[0] != "-" and part.lower() not in {"con", "nul"}
)
_PATHS = st.lists(_PART, min_size=1, max_size=4).map("/".join)
_FILES = st.dictionaries(_PATHS, st.binary(max_size=200), max_size=8)


def kept(files: dict[str, bytes]) -> dict[str, bytes] | None:
    try:
        return safe_files(files)
    except Invalid:
        return None


@given(_FILES)
def test_what_is_packed_comes_back(files: dict[str, bytes]) -> None:
    good = kept(files)
    if good is None:
        return
    first = pack(good)
    assert pack(dict(reversed(good.items()))) == first
    assert unpack(first) == good


_EVIL_PARTS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "a",
        "A",
        "a ",
        "a.",
        "CON",
        "nul.md",
        "C:",
        "..\\x",
        "a\\b",
        "/",
        "\x01",
        "é",
        "ﬁ",
    ]
)
_EVIL = st.one_of(
    st.lists(_EVIL_PARTS, min_size=1, max_size=9).map("/".join),
    _PATHS.map(lambda path: "../" + path),
    _PATHS.map(lambda path: "/" + path),
    st.text(min_size=1, max_size=20).filter(
        lambda t: not any(0xD800 <= ord(c) <= 0xDFFF for c in t)
    ),
)


@given(
    names=st.lists(_EVIL, min_size=1, max_size=6),
    mode=st.sampled_from([0, stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR, stat.S_IFCHR, stat.S_IFIFO]),
    compression=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]),
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_nothing_that_comes_out_leads_anywhere(
    names: list[str], mode: int, compression: int
) -> None:
    content = zipped(*((name, b"x") for name in names), mode=mode, compression=compression)
    try:
        files = unpack(content)
    except StewardError:
        return
    root = Path("/nowhere/skill")
    for path in files:
        assert (root / path).resolve().is_relative_to(root)
        assert safe_path(path) == path
    folded = {path.casefold() for path in files}
    assert len(folded) == len(files)
    if mode in {stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO}:
        assert files == {}


@given(st.binary(max_size=300), st.integers(0, 10_000), st.integers(0, 255))
def test_damaged_archives_are_refused_in_our_words(noise: bytes, at: int, byte: int) -> None:
    content = bytearray(pack(greeting(), "greeting"))
    content[at % len(content)] = byte
    for damaged in (noise, bytes(content), bytes(content[: at % len(content)])):
        try:
            unpack(damaged)
        except StewardError:
            continue


@pytest.mark.parametrize(
    "name",
    [
        *("", "../SKILL.md", "/etc/passwd", "a/../../b", "C:/x", "a\\..\\b", "a:stream", "aux.md"),
        *("a/b./c", "x/" * 7 + "y", "a" * 201, "__MACOSX/../../x", ".git/../../x", " a", "a\nb"),
    ],
)
def test_names_that_lead_elsewhere(name: str) -> None:
    with pytest.raises(Invalid):
        unpack(zipped((name, b"x")))


def test_links_devices_and_passwords() -> None:
    for mode in (stat.S_IFLNK | 0o777, stat.S_IFCHR | 0o600, stat.S_IFIFO | 0o600):
        with pytest.raises(Invalid, match="link or a device"):
            unpack(zipped(("a", b"/etc/passwd"), mode=mode))
    content = bytearray(zipped(("a", b"x")))
    central = content.index(b"PK\x01\x02")
    content[central + 8] |= 1
    with pytest.raises(Invalid, match="password"):
        unpack(bytes(content))


@pytest.mark.parametrize(
    "names",
    [("a.md", "A.md"), ("x/a", "X/b"), ("a", "a/b"), ("ﬁ.md", "fi.md"), ("a.md", "a.md")],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_some_machine_takes_for_one(names: tuple[str, ...]) -> None:
    with pytest.raises(Invalid):
        unpack(zipped(*((name, b"x") for name in names)))


def test_bombs() -> None:
    large = zipped(("a", b"\0" * (MOST_FILE_BYTES + 1)), compression=zipfile.ZIP_DEFLATED)
    assert len(large) < 10_000
    with pytest.raises(TooLarge):
        unpack(large)
    many = [(f"f{n}", b"\0" * MOST_FILE_BYTES) for n in range(40)]
    with pytest.raises(TooLarge):
        unpack(zipped(*many, compression=zipfile.ZIP_DEFLATED))
    with pytest.raises(TooLarge, match="entries"):
        unpack(zipped(*((f"f{n}", b"") for n in range(MOST_MEMBERS + 1))))
    with pytest.raises(TooLarge):
        unpack(b"x" * (MOST_ARCHIVE_BYTES + 1))


def test_a_size_that_lies_is_not_believed() -> None:
    content = bytearray(
        zipped(("a", b"\0" * (MOST_FILE_BYTES * 3)), compression=zipfile.ZIP_DEFLATED)
    )
    central = content.index(b"PK\x01\x02")
    content[central + 24 : central + 28] = struct.pack("<I", 10)
    with pytest.raises(StewardError):
        unpack(bytes(content))


def test_skills_are_found_wherever_their_folder_is() -> None:
    files = {f"repo-main/skills/greeting/{path}": each for path, each in greeting().items()}
    files |= {"repo-main/README.md": b"x", "repo-main/skills/other/SKILL.md": b"y"}
    found = dict(skills_in(files))
    assert set(found) == {"greeting", "other"}
    assert found["greeting"] == safe_files(greeting())
    assert [name for name, _ in skills_in(greeting())] == [None]
    with pytest.raises(Invalid, match=r"no SKILL\.md"):
        skills_in({"a.md": b"x"})


def test_a_skill_inside_a_skill_belongs_to_it() -> None:
    files = {**greeting(), "assets/example/SKILL.md": b"x"}
    ((name, inside),) = skills_in(files)
    assert (name, set(inside)) == (None, set(files))


def test_a_folder_on_disk_without_its_junk_and_its_links(tmp_path: Path) -> None:
    home = tmp_path / "greeting"
    for path, content in greeting().items():
        target = home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (home / ".git").mkdir()
    (home / ".git/config").write_text("x")
    (home / ".DS_Store").write_text("x")
    assert read_folder(home) == [("greeting", safe_files(greeting()))]
    (home / "references/passwd").symlink_to("/etc/passwd")
    with pytest.raises(Invalid, match="is a link"):
        read_folder(home)
