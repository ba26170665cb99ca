"""Uploads go on where they stopped, keep to their caps, and die of old age."""

import hashlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core import MovableClock
from steward.core.errors import Conflict, Invalid, NotFound, TooLarge
from steward.data.ingest.uploads import UploadLimits, Uploads, safe_name


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def uploads(tmp_path: Path, clock: MovableClock) -> Uploads:
    limits = UploadLimits(bytes=1000, sessions=3, idle=timedelta(hours=5))
    return Uploads(tmp_path / "uploads", clock, limits)


def test_an_upload_in_pieces(uploads: Uploads) -> None:
    upload = uploads.start("täble.csv", size=6)
    assert (upload.offset, upload.name, upload.finished) == (0, "täble.csv", False)
    assert uploads.append(upload.id, 0, [b"ab", b"c"]).offset == 3
    assert uploads.append(upload.id, 3, [b"def"]).offset == 6
    path = uploads.finish(upload.id, hashlib.sha256(b"abcdef").hexdigest())
    assert path.read_bytes() == b"abcdef"
    assert path.name == "täble.csv"
    assert uploads.get(upload.id).finished
    assert uploads.finish(upload.id) == path


def test_a_wrong_offset_says_the_right_one(uploads: Uploads) -> None:
    upload = uploads.start("a.csv")
    uploads.append(upload.id, 0, [b"abc"])
    for offset in (0, 2, 4):
        with pytest.raises(Conflict, match="3 bytes have arrived") as conflict:
            uploads.append(upload.id, offset, [b"x"])
        assert conflict.value.specific_code == "upload-offset"
    assert uploads.get(upload.id).offset == 3


def test_what_arrived_before_a_broken_line_is_kept(uploads: Uploads) -> None:
    def breaking() -> Iterator[bytes]:
        yield b"abc"
        raise ConnectionError

    upload = uploads.start("a.csv")
    with pytest.raises(ConnectionError):
        uploads.append(upload.id, 0, breaking())
    assert uploads.get(upload.id).offset == 3


def test_caps(uploads: Uploads) -> None:
    with pytest.raises(TooLarge):
        uploads.start("a.csv", size=1001)
    upload = uploads.start("a.csv")
    uploads.append(upload.id, 0, [b"x" * 900])
    with pytest.raises(TooLarge):
        uploads.append(upload.id, 900, [b"x" * 50, b"x" * 51])
    assert uploads.get(upload.id).offset == 950
    announced = uploads.start("b.csv", size=2)
    with pytest.raises(TooLarge, match="announced"):
        uploads.append(announced.id, 0, [b"abc"])
    uploads.start("c.csv")
    with pytest.raises(TooLarge, match="Too many"):
        uploads.start("d.csv")


def test_a_file_that_differs_or_is_short_is_refused(uploads: Uploads) -> None:
    upload = uploads.start("a.csv", size=3)
    uploads.append(upload.id, 0, [b"ab"])
    with pytest.raises(Conflict, match="2 of 3 bytes"):
        uploads.finish(upload.id)
    uploads.append(upload.id, 2, [b"c"])
    with pytest.raises(Invalid, match="differs"):
        uploads.finish(upload.id, "0" * 64)
    with pytest.raises(Invalid, match="64 hexadecimal"):
        uploads.finish(upload.id, "beef")
    uploads.finish(upload.id)
    with pytest.raises(Conflict, match="finished"):
        uploads.append(upload.id, 3, [b"d"])


def test_one_writer_at_a_time(uploads: Uploads) -> None:
    upload = uploads.start("a.csv")

    def meanwhile() -> Iterator[bytes]:
        yield b"a"
        with pytest.raises(Conflict, match="Another request"):
            uploads.append(upload.id, 1, [b"b"])
        yield b"c"

    assert uploads.append(upload.id, 0, meanwhile()).offset == 2


def test_abandoned_uploads_expire_by_the_clock(uploads: Uploads, clock: MovableClock) -> None:
    old, touched = uploads.start("a.csv"), uploads.start("b.csv")
    clock.advance(hours=4)
    uploads.append(touched.id, 0, [b"x"])
    assert uploads.expire() == ()
    clock.advance(hours=2)
    assert uploads.expire() == (old.id,)
    with pytest.raises(NotFound):
        uploads.get(old.id)
    assert uploads.get(touched.id).offset == 1
    uploads.abandon(touched.id)
    with pytest.raises(NotFound):
        uploads.append(touched.id, 1, [b"y"])


def test_ids_cannot_lead_elsewhere(uploads: Uploads, tmp_path: Path) -> None:
    (tmp_path / "uploads").mkdir(exist_ok=True)
    (tmp_path / "precious").mkdir()
    for evil in ("../precious", "upload_../../precious", "", "upload_x", "/etc"):
        with pytest.raises(NotFound):
            uploads.get(evil)
        uploads.abandon(evil)
    assert (tmp_path / "precious").exists()


def test_the_length_on_the_disk_is_the_truth_after_a_kill(
    tmp_path: Path, clock: MovableClock
) -> None:
    folder = tmp_path / "uploads"
    uploads = Uploads(folder, clock)
    upload = uploads.start("a.csv")
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from steward.core import SystemClock\n"
        "from steward.data.ingest.uploads import Uploads\n"
        "def chunks():\n"
        "    yield b'x' * 300_000\n"
        "    yield b'y' * 300_000\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "Uploads(Path(sys.argv[1]), SystemClock()).append(sys.argv[2], 0, chunks())\n"
    )
    died = subprocess.run([sys.executable, "-c", code, str(folder), upload.id], check=False)
    assert died.returncode == -signal.SIGKILL
    there = uploads.get(upload.id).offset
    sent = b"x" * 300_000 + b"y" * 300_000
    assert 0 < there <= len(sent)
    assert uploads.append(upload.id, there, [sent[there:], b"z"]).offset == len(sent) + 1
    digest = hashlib.sha256(sent + b"z").hexdigest()
    assert uploads.finish(upload.id, digest).stat().st_size == len(sent) + 1


def test_a_kill_between_moving_the_file_and_saying_so(tmp_path: Path, clock: MovableClock) -> None:
    uploads = Uploads(tmp_path / "uploads", clock)
    upload = uploads.start("a.csv")
    uploads.append(upload.id, 0, [b"abc"])
    place = tmp_path / "uploads" / upload.id
    (place / "file").mkdir()
    (place / "content").replace(place / "file/a.csv")
    with pytest.raises(Conflict, match="finished"):
        uploads.append(upload.id, 3, [b"d"])
    assert uploads.get(upload.id).offset == 3
    assert uploads.finish(upload.id).read_bytes() == b"abc"


@pytest.mark.parametrize(
    ("given_name", "safe"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("C:\\data\\table.csv", "table.csv"),
        ("a\0b\n.csv", "ab.csv"),
        ("CON", "_CON"),
        ("nul.csv", "_nul.csv"),
        ("..", "file"),
        ("", "file"),
        (" . ", "file"),
        ("what?.csv", "what_.csv"),
        ("exe\u202etxt.csv", "exetxt.csv"),
        ("naïve.csv", "naïve.csv"),
    ],
)
def test_names_are_made_safe(given_name: str, safe: str) -> None:
    assert safe_name(given_name) == safe


@given(name=st.text(max_size=400))
def test_any_name_becomes_one_that_a_file_can_have(name: str) -> None:
    safe = safe_name(name)
    assert safe
    assert safe not in (".", "..")
    assert len(safe.encode()) <= 181
    assert Path(safe).name == safe
    assert safe.isprintable()
    assert safe_name(safe) == safe
