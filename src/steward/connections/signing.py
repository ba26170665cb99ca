"""Requests to S3-compatible storage, signed by AWS Signature Version 4, so that they go out by the checked way."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import quote

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_EMPTY: Final = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class S3Key:
    access_key_id: str
    secret_access_key: str = field(repr=False)
    region: str = "us-east-1"
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Signed:
    url: str
    headers: dict[str, str]
    """To be sent as secrets: they are good for a quarter of an hour."""


def sign_get(
    key: S3Key, scheme: str, host: str, path: str, query: Mapping[str, str], now: datetime
) -> Signed:
    """A GET without body; `path` begins with a slash and is not escaped yet."""
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    day = moment[:8]
    escaped = quote(path, safe="/-_.~")
    asked = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in sorted(query.items())
    )
    signed = {"host": host, "x-amz-content-sha256": _EMPTY, "x-amz-date": moment}
    if key.session_token:
        signed["x-amz-security-token"] = key.session_token
    names = ";".join(sorted(signed))
    canonical = "\n".join(
        (
            "GET",
            escaped,
            asked,
            *(f"{name}:{signed[name]}" for name in sorted(signed)),
            "",
            names,
            _EMPTY,
        )
    )
    scope = f"{day}/{key.region}/s3/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join((_ALGORITHM, moment, scope, digest))
    signature = hmac.new(_signing_key(key, day), text.encode(), "sha256").hexdigest()
    credential = f"{key.access_key_id}/{scope}"
    headers = {name: value for name, value in signed.items() if name != "host"}
    headers["Authorization"] = (
        f"{_ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}"
    )
    return Signed(f"{scheme}://{host}{escaped}" + (f"?{asked}" if asked else ""), headers)


def _signing_key(key: S3Key, day: str) -> bytes:
    derived = f"AWS4{key.secret_access_key}".encode()
    for part in (day, key.region, "s3", "aws4_request"):
        derived = hmac.new(derived, part.encode(), "sha256").digest()
    return derived
