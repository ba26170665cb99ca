"""Blobs in S3-compatible storage."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

import httpx2
import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from steward.core import BlobSettings, Misconfigured, NotFound, Unavailable
from steward.store.blobs import CHUNK, Blob, check_digest, spooled

_MISSING = (NotFoundError, FileNotFoundError)
_SIGNED_FOR = timedelta(seconds=20)
_CONFLICT = 409


class S3Blobs:
    def __init__(self, settings: BlobSettings, scratch: Path) -> None:
        address = urlsplit(settings.url or "")
        if address.scheme != "s3" or not address.netloc:
            raise Misconfigured("STEWARD_BLOBS__URL must look like s3://bucket/prefix.")
        self._scratch = scratch
        self._store = _store(settings, address.netloc, address.path.strip("/") or None)
        if settings.create_bucket:
            _create_bucket(settings, address.netloc)

    def put(self, chunks: Iterable[bytes], *, max_bytes: int | None = None) -> Blob:
        with spooled(chunks, self._scratch, max_bytes) as (file, blob):
            if self.size(blob.digest) is None:
                try:
                    with _clear_failures():
                        self._store.put(_key(blob.digest), Path(file.name))
                except _MISSING:
                    raise Misconfigured(
                        "The bucket of STEWARD_BLOBS__URL does not exist; create it first."
                    ) from None
        return blob

    def read(self, digest: str) -> Iterator[bytes]:
        try:
            with _clear_failures():
                answer = self._store.get(_key(digest))
        except _MISSING:
            raise NotFound(f"Blob {digest[:12]}… is not in the store.") from None
        return _drain(answer.stream(min_chunk_size=CHUNK))

    def size(self, digest: str) -> int | None:
        try:
            with _clear_failures():
                return int(self._store.head(_key(digest))["size"])
        except _MISSING:
            return None

    def delete(self, digest: str) -> None:
        try:
            with _clear_failures():
                self._store.delete(_key(digest))
        except _MISSING:
            return

    def digests(self) -> Iterator[str]:
        with _clear_failures():
            entries = [entry["path"] for page in self._store.list() for entry in page]
        yield from sorted(path.rpartition("/")[2] for path in entries)


def _store(settings: BlobSettings, bucket: str, prefix: str | None = None) -> S3Store:
    access, secret = settings.access_key_id, settings.secret_access_key
    return S3Store(
        bucket,
        prefix=prefix,
        region=settings.region,
        endpoint=settings.endpoint,
        access_key_id=access.get_secret_value() if access else None,
        secret_access_key=secret.get_secret_value() if secret else None,
        # The library's own patience is three minutes; somebody is waiting for an answer.
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=20)},
        client_options={"allow_http": True} if _is_plain(settings.endpoint) else None,
    )


def _create_bucket(settings: BlobSettings, bucket: str) -> None:
    """The library knows objects only; it signs the request that makes a bucket all the same."""
    elsewhere = (
        f"<CreateBucketConfiguration><LocationConstraint>{escape(settings.region)}"
        "</LocationConstraint></CreateBucketConfiguration>"
    )
    try:
        address = obstore.sign(_store(settings, bucket), "PUT", "", _SIGNED_FOR)
        answer = httpx2.put(
            address,
            content="" if settings.region == "us-east-1" else elsewhere,
            timeout=_SIGNED_FOR.total_seconds(),
        )
    except (BaseError, httpx2.HTTPError) as error:
        raise Unavailable(
            f"The blob store did not answer ({type(error).__name__}). Try again shortly."
        ) from None
    # A conflict says that the bucket is there; whether it may be used shows when it is.
    if not answer.is_success and answer.status_code != _CONFLICT:
        raise Misconfigured(
            f"The bucket {bucket!r} of STEWARD_BLOBS__URL could not be created: the blob store "
            f"answered {answer.status_code}. Check its keys, or create the bucket yourself."
        )


def _drain(stream: Iterable[Any]) -> Iterator[bytes]:
    with _clear_failures():
        for chunk in stream:
            yield bytes(chunk)


@contextmanager
def _clear_failures() -> Iterator[None]:
    """Turns a store that is away or refuses us into an error that says so."""
    try:
        yield
    except _MISSING:
        raise
    except BaseError as error:
        reason = str(error).splitlines()[0][:200]
        raise Unavailable(
            f"The blob store did not answer ({reason}). Try again shortly."
        ) from error


def _key(digest: str) -> str:
    check_digest(digest)
    return f"{digest[:2]}/{digest[2:4]}/{digest}"


def _is_plain(endpoint: str | None) -> bool:
    return endpoint is not None and endpoint.startswith("http://")
