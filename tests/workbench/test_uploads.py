"""Uploads go on where they stopped, keep to their caps, live in the blob store, and die of old age."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core.errors import Conflict, NotFound, TooLarge
from steward.store import Scope
from steward.testing import Installation
from steward.workbench.uploads import UploadLimits, Uploads, safe_name

pytestmark = pytest.mark.every_database

LIMITS = UploadLimits(bytes=1000, sessions=3, idle=timedelta(hours=5))


def opened(installation: Installation, limits: UploadLimits = LIMITS) -> Uploads:
    """As any process of the installation has them."""
    steward = installation.steward
    return Uploads(steward.database, steward.workbench.versions, steward.clock, steward.ids, limits)


@pytest.fixture
def uploads(installation: Installation) -> Uploads:
    return opened(installation)


@pytest.fixture
def scope(installation: Installation) -> Scope:
    return installation.scope


def test_an_upload_in_pieces_becomes_one_file(
    installation: Installation, uploads: Uploads, scope: Scope
) -> None:
    upload = uploads.start(scope, "täble.csv", size=6)
    assert (upload.offset, upload.name, upload.finished) == (0, "täble.csv", False)
    assert uploads.append(scope, upload.id, 0, [b"ab", b"c"]).offset == 3
    # Another server takes the rest.
    assert opened(installation).append(scope, upload.id, 3, [b"def"]).offset == 6
    file = uploads.file(scope, upload.id)
    assert (file.path, file.bytes) == ("täble.csv", 6)
    assert file.digest == hashlib.sha256(b"abcdef").hexdigest()
    assert installation.steward.workbench.versions.local_file(file.digest).read_bytes() == b"abcdef"
    assert uploads.get(scope, upload.id).finished
    assert opened(installation).file(scope, upload.id) == file
    with pytest.raises(Conflict, match="finished"):
        uploads.append(scope, upload.id, 6, [b"g"])


def test_a_file_that_came_at_once_is_stored_once(
    installation: Installation, uploads: Uploads, scope: Scope
) -> None:
    blobs = installation.steward.blobs
    upload = uploads.take(scope, "a.csv", [b"a,b\n", b"1,2\n"])
    before = set(blobs.digests())
    assert uploads.file(scope, upload.id).digest in before
    assert set(blobs.digests()) == before


def test_an_empty_file_is_one_too(uploads: Uploads, scope: Scope) -> None:
    upload = uploads.start(scope, "empty.csv", size=0)
    assert uploads.file(scope, upload.id).bytes == 0


def test_a_wrong_offset_says_the_right_one(uploads: Uploads, scope: Scope) -> None:
    upload = uploads.take(scope, "a.csv", [b"abc"])
    for offset in (0, 2, 4):
        with pytest.raises(Conflict, match="3 bytes have arrived") as conflict:
            uploads.append(scope, upload.id, offset, [b"x"])
        assert conflict.value.specific_code == "upload-offset"
    assert uploads.get(scope, upload.id).offset == 3


def test_what_arrived_before_a_broken_line_is_kept(uploads: Uploads, scope: Scope) -> None:
    def breaking() -> Iterator[bytes]:
        yield b"abc"
        raise ConnectionError

    upload = uploads.start(scope, "a.csv")
    with pytest.raises(ConnectionError):
        uploads.append(scope, upload.id, 0, breaking())
    assert uploads.get(scope, upload.id).offset == 3


def test_of_two_requests_for_the_same_place_the_first_counts(
    installation: Installation, uploads: Uploads, scope: Scope
) -> None:
    upload = uploads.start(scope, "a.csv")

    def meanwhile() -> Iterator[bytes]:
        yield b"slow"
        opened(installation).append(scope, upload.id, 0, [b"fast!"])

    with pytest.raises(Conflict, match="5 bytes have arrived"):
        uploads.append(scope, upload.id, 0, meanwhile())
    file = uploads.file(scope, upload.id)
    assert file.digest == hashlib.sha256(b"fast!").hexdigest()


def test_caps(uploads: Uploads, scope: Scope) -> None:
    with pytest.raises(TooLarge):
        uploads.start(scope, "a.csv", size=1001)
    upload = uploads.take(scope, "a.csv", [b"x" * 900])
    with pytest.raises(TooLarge):
        uploads.append(scope, upload.id, 900, [b"x" * 50, b"x" * 51])
    assert uploads.get(scope, upload.id).offset == 950
    announced = uploads.start(scope, "b.csv", size=2)
    with pytest.raises(TooLarge, match="announced"):
        uploads.append(scope, announced.id, 0, [b"abc"])
    uploads.start(scope, "c.csv")
    with pytest.raises(TooLarge, match="Too many"):
        uploads.start(scope, "d.csv")


def test_a_file_that_is_short_is_not_read(uploads: Uploads, scope: Scope) -> None:
    upload = uploads.start(scope, "a.csv", size=3)
    uploads.append(scope, upload.id, 0, [b"ab"])
    with pytest.raises(Conflict, match="2 of 3 bytes"):
        uploads.file(scope, upload.id)


def test_uploads_that_rest_expire_and_their_bytes_are_swept(
    installation: Installation, uploads: Uploads, scope: Scope
) -> None:
    versions, clock = installation.steward.workbench.versions, installation.clock
    old = uploads.take(scope, "a.csv", [b"old bytes"])
    touched = uploads.start(scope, "b.csv")
    digest = uploads.file(scope, old.id).digest
    clock.advance(hours=4)
    uploads.append(scope, touched.id, 0, [b"x"])
    assert uploads.expire() == 0
    clock.advance(hours=2)
    assert uploads.expire() == 1
    with pytest.raises(NotFound):
        uploads.get(scope, old.id)
    assert uploads.get(scope, touched.id).offset == 1
    # What an upload still names stays, however long it rests there.
    for _ in range(2):
        clock.advance(days=2)
        versions.sweep()
    assert installation.steward.blobs.size(digest) is None
    assert uploads.file(scope, touched.id).bytes == 1
    uploads.abandon(scope, touched.id)
    with pytest.raises(NotFound):
        uploads.append(scope, touched.id, 1, [b"y"])


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
