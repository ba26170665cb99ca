"""Blobs in S3-compatible storage."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from obstore.exceptions import NotFoundError
from obstore.store import S3Store

from steward.core.errors import Misconfigured, NotFound
from steward.core.settings import BlobSettings
from steward.store.blobs import CHUNK, Blob, check_digest, spooled


class S3Blobs:
    def __init__(self, settings: BlobSettings, scratch: Path) -> None:
        address = urlsplit(settings.url or "")
        if address.scheme != "s3" or not address.netloc:
            raise Misconfigured("STEWARD_BLOBS__URL must look like s3://bucket/prefix.")
        self._scratch = scratch
        access, secret = settings.access_key_id, settings.secret_access_key
        self._store = S3Store(
            address.netloc,
            prefix=address.path.strip("/") or None,
            region=settings.region,
            endpoint=settings.endpoint,
            access_key_id=access.get_secret_value() if access else None,
            secret_access_key=secret.get_secret_value() if secret else None,
            client_options={"allow_http": True} if _is_plain(settings.endpoint) else None,
        )

    def put(self, chunks: Iterable[bytes], *, max_bytes: int | None = None) -> Blob:
        with spooled(chunks, self._scratch, max_bytes) as (file, blob):
            if self.size(blob.digest) is None:
                self._store.put(_key(blob.digest), Path(file.name))
        return blob

    def read(self, digest: str) -> Iterator[bytes]:
        try:
            answer = self._store.get(_key(digest))
        except (NotFoundError, FileNotFoundError):
            raise NotFound(f"Blob {digest[:12]}… is not in the store.") from None
        return (bytes(chunk) for chunk in answer.stream(min_chunk_size=CHUNK))

    def size(self, digest: str) -> int | None:
        try:
            return int(self._store.head(_key(digest))["size"])
        except (NotFoundError, FileNotFoundError):
            return None

    def delete(self, digest: str) -> None:
        try:
            self._store.delete(_key(digest))
        except (NotFoundError, FileNotFoundError):
            return

    def digests(self) -> Iterator[str]:
        found = [entry["path"].rpartition("/")[2] for page in self._store.list() for entry in page]
        yield from sorted(found)


def _key(digest: str) -> str:
    check_digest(digest)
    return f"{digest[:2]}/{digest[2:4]}/{digest}"


def _is_plain(endpoint: str | None) -> bool:
    return endpoint is not None and endpoint.startswith("http://")
