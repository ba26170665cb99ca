"""Contract kits: what every implementation of a seam must do, as tests to inherit.

class TestMyBlobs(BlobStoreKit):
    @pytest.fixture
    def store(self) -> BlobStore:
        return MyBlobs(...)
"""

import hashlib
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from steward.core import Invalid, NotFound, TooLarge
from steward.store import Blob, BlobStore

_SIZES = (0, 1, 1000, 1 << 20, (1 << 20) + 1, 3_000_000)


def _bytes(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)  # noqa: S311 - any bytes will do


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class BlobStoreKit:
    """For blob stores; a subclass gives an empty one as the fixture `store`."""

    @pytest.mark.parametrize("size", _SIZES)
    def test_bytes_come_back(self, store: BlobStore, size: int) -> None:
        content = _bytes(size)
        blob = store.put([content])
        assert blob == Blob(_digest(content), size)
        assert b"".join(store.read(blob.digest)) == content
        assert store.size(blob.digest) == size

    def test_chunks_are_one_blob(self, store: BlobStore) -> None:
        assert store.put(iter([b"ab", b"", b"c"])) == store.put([b"abc"])
        assert list(store.digests()) == [_digest(b"abc")]

    def test_the_same_bytes_twice_are_one_blob(self, store: BlobStore) -> None:
        first, again = store.put([b"same"]), store.put([b"same"])
        assert first == again
        assert list(store.digests()) == [first.digest]
        store.delete(first.digest)
        assert store.size(first.digest) is None

    def test_a_limit_is_a_limit(self, store: BlobStore) -> None:
        assert store.put([b"x" * 10], max_bytes=10).size == 10
        with pytest.raises(TooLarge):
            store.put([b"y" * 6, b"y" * 5], max_bytes=10)
        assert list(store.digests()) == [_digest(b"x" * 10)]

    def test_a_limit_stops_an_endless_sender(self, store: BlobStore) -> None:
        def endless() -> Iterator[bytes]:
            while True:
                yield b"z" * 1000

        with pytest.raises(TooLarge):
            store.put(endless(), max_bytes=5000)

    def test_a_sender_that_fails_leaves_nothing(self, store: BlobStore) -> None:
        class _Lost(Exception):
            """The other side went away."""

        def failing() -> Iterator[bytes]:
            yield b"half"
            raise _Lost

        with pytest.raises(_Lost):
            store.put(failing())
        assert list(store.digests()) == []

    def test_what_is_not_there(self, store: BlobStore) -> None:
        absent = _digest(b"absent")
        assert store.size(absent) is None
        with pytest.raises(NotFound):
            store.read(absent)  # at once, not when the first chunk is asked for
        store.delete(absent)

    def test_a_deleted_blob_is_gone_and_can_come_back(self, store: BlobStore) -> None:
        blob = store.put([b"here"])
        store.delete(blob.digest)
        assert store.size(blob.digest) is None
        with pytest.raises(NotFound):
            store.read(blob.digest)
        assert store.put([b"here"]) == blob
        assert b"".join(store.read(blob.digest)) == b"here"

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "../../etc/passwd",
            "/etc/passwd",
            "a" * 63,
            "a" * 65,
            "A" * 64,
            "g" * 64,
            "a" * 63 + "\n",
            "../" + "a" * 61,
            "aa/" + "a" * 61,
            "a" * 63 + "\x00",
            "٠" * 64,
        ],
    )
    def test_a_name_that_is_no_digest_is_refused(self, store: BlobStore, name: str) -> None:
        for use in (store.read, store.size, store.delete):
            with pytest.raises(Invalid):
                use(name)

    def test_digests_come_in_order(self, store: BlobStore) -> None:
        made = [store.put([str(number).encode()]).digest for number in range(30)]
        assert list(store.digests()) == sorted(made)

    def test_an_empty_store_has_no_digests(self, store: BlobStore) -> None:
        assert list(store.digests()) == []

    def test_many_writers_at_once(self, store: BlobStore) -> None:
        """Some put the same bytes at the same time, which is where a half-written blob would show."""
        contents = [_bytes(50_000, number % 5) for number in range(20)]

        def put_and_read(content: bytes) -> bool:
            blob = store.put([content[:100], content[100:]])
            return b"".join(store.read(blob.digest)) == content

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(put_and_read, contents))
        assert list(store.digests()) == sorted({_digest(content) for content in contents})
