"""Both blob stores keep the same promises; each has a few of its own."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from steward.core.errors import Misconfigured, Unavailable
from steward.core.settings import BlobSettings
from steward.store import BlobStore, FileBlobs
from steward.testing.kits import BlobStoreKit

KEY = "key-0123456789"


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    """A real S3 protocol server, moto's, on a free port."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def _s3(endpoint: str, url: str, scratch: Path) -> BlobStore:
    from steward.store.s3 import S3Blobs

    settings = BlobSettings.model_validate(
        {"url": url, "endpoint": endpoint, "access_key_id": KEY, "secret_access_key": KEY}
    )
    return S3Blobs(settings, scratch)


def _bucket(endpoint: str) -> str:
    name = f"bucket-{uuid4().hex[:12]}"
    with urlopen(Request(f"{endpoint}/{name}", method="PUT")) as answer:
        assert answer.status == 200
    return name


class TestFileBlobs(BlobStoreKit):
    @pytest.fixture
    def store(self, tmp_path: Path) -> BlobStore:
        return FileBlobs(tmp_path / "blobs")


@pytest.mark.parametrize("prefix", ["", "/some/prefix"], ids=["bucket", "prefix"])
class TestS3Blobs(BlobStoreKit):
    @pytest.fixture
    def store(self, s3_endpoint: str, tmp_path: Path, prefix: str) -> BlobStore:
        return _s3(s3_endpoint, f"s3://{_bucket(s3_endpoint)}{prefix}", tmp_path / "scratch")


def test_nothing_is_left_beside_the_blobs(tmp_path: Path) -> None:
    store = FileBlobs(tmp_path)
    blob = store.put([b"kept"])
    with pytest.raises(ZeroDivisionError):
        store.put(bytes(1 // number) for number in (1, 0))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [blob.digest]


def test_blobs_are_not_writable_by_accident(tmp_path: Path) -> None:
    blob = (store := FileBlobs(tmp_path)).put([b"kept"])
    assert store.path(blob.digest).stat().st_mode & 0o777 == 0o440


def test_a_finished_file_is_taken_over(tmp_path: Path) -> None:
    store = FileBlobs(tmp_path / "blobs")
    digest = FileBlobs(tmp_path / "other").put([b"made elsewhere"]).digest
    for _ in range(2):
        file = tmp_path / "finished"
        file.write_bytes(b"made elsewhere")
        store.adopt(file, digest)
        assert not file.exists()
    assert b"".join(store.read(digest)) == b"made elsewhere"


def test_new_names_are_synced_with_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut after `put` must not lose the blob, nor the folders that lead to it."""
    synced: set[str] = set()
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.add(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    store = FileBlobs(tmp_path)
    target = store.path(store.put([b"durable"]).digest)
    assert {str(tmp_path), str(target.parent.parent), str(target.parent)} <= synced
    assert any("incoming-" in name for name in synced), "the bytes themselves, before the rename"


@pytest.mark.parametrize("url", ["https://bucket/x", "s3://", "bucket"])
def test_a_wrong_address_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(Misconfigured, match="s3://bucket/prefix"):
        _s3("http://127.0.0.1:1", url, tmp_path)


def test_a_store_that_is_away_or_refuses_is_unavailable(s3_endpoint: str, tmp_path: Path) -> None:
    away = _s3("http://127.0.0.1:1", "s3://bucket", tmp_path)
    no_bucket = _s3(s3_endpoint, "s3://no-such-bucket-here", tmp_path)
    with pytest.raises(Unavailable) as caught:
        away.size("a" * 64)
    assert KEY not in str(caught.value)
    with pytest.raises(Misconfigured, match="bucket"):
        no_bucket.put([b"x"])


def test_two_prefixes_of_one_bucket_do_not_meet(s3_endpoint: str, tmp_path: Path) -> None:
    bucket = _bucket(s3_endpoint)
    one, two = (_s3(s3_endpoint, f"s3://{bucket}/{name}", tmp_path) for name in ("one", "two"))
    blob = one.put([b"x"])
    assert (one.size(blob.digest), two.size(blob.digest)) == (1, None)
    assert list(two.digests()) == []
