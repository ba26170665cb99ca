"""A bucket of S3 or of storage that speaks its protocol."""

import contextlib
from datetime import timedelta
from typing import Final, Self
from xml.etree import ElementTree

from pydantic import Field, model_validator

from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.hosts import place_of
from steward.connections.http import Http, HttpAnswer, HttpLimits
from steward.connections.signing import S3Key, sign_get
from steward.core import (
    Invalid,
    Misconfigured,
    NotFound,
    StewardError,
    SystemClock,
    TooLarge,
    Unavailable,
)

_OBJECT: Final = HttpLimits(response_bytes=256 << 20, time=timedelta(minutes=5))


class S3Settings(ConnectorSettings):
    bucket: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{1,62}$", title="Bucket")
    prefix: str = Field(
        "", max_length=500, title="Prefix", description="Only objects whose key begins so are read."
    )
    region: str = Field("us-east-1", pattern=r"^[a-z0-9-]{1,40}$", title="Region")
    endpoint: str | None = Field(
        None,
        max_length=300,
        title="Endpoint",
        description="Address of a server that is not AWS, such as https://minio.example.com.",
    )

    @model_validator(mode="after")
    def _an_address(self) -> Self:
        if self.endpoint is not None:
            try:
                place_of(self.endpoint)
            except StewardError as problem:
                raise ValueError(problem.message) from None
            if self.endpoint.rstrip("/").count("/") > 2:
                raise ValueError("the endpoint is scheme and host, without a path")
        return self

    @property
    def origin(self) -> tuple[str, str]:
        """Scheme and host; the bucket is part of the path, which every such server understands."""
        if self.endpoint is None:
            return "https", f"s3.{self.region}.amazonaws.com"
        place = place_of(self.endpoint)
        return place.scheme, place.text


async def fetch(http: Http, settings: S3Settings, secrets: Secrets, key: str) -> bytes:
    """One object, whole."""
    if not key.startswith(settings.prefix):
        raise Invalid(f"Only keys that begin with {settings.prefix!r} may be read here.")
    answer = await _get(http, settings, secrets, f"/{settings.bucket}/{key}", {}, _OBJECT)
    if answer.status == 404:
        raise NotFound(f"There is no object {key!r} in the bucket {settings.bucket!r}.")
    _refuse(settings, answer)
    return answer.body


async def list_objects(
    http: Http,
    settings: S3Settings,
    secrets: Secrets,
    prefix: str,
    *,
    most: int,
    after: str | None = None,
) -> dict[str, str]:
    """All objects whose key begins with the prefix, each with its size, time and tag; TooLarge where there are more.

    With `after`, one page of those whose key is greater.
    """
    found: dict[str, str] = {}
    query = {"list-type": "2", "prefix": prefix, **({"start-after": after} if after else {})}
    while True:
        answer = await _get(http, settings, secrets, f"/{settings.bucket}", query)
        if answer.status == 404:
            raise Misconfigured(f"There is no bucket {settings.bucket!r} there.")
        _refuse(settings, answer)
        root = _listing(answer.text)
        for each in root.iter():
            if _plain(each.tag) != "Contents":
                continue
            told = {_plain(part.tag): part.text or "" for part in each}
            # Consoles write an empty object for each folder.
            if told.get("Key") and not told["Key"].endswith("/"):
                tag = told.get("ETag", "").strip('"')
                found[told["Key"]] = (
                    f"{int(told.get('Size') or 0)}:{told.get('LastModified', '')}:{tag}"
                )
        following = next(
            (e.text for e in root.iter() if _plain(e.tag) == "NextContinuationToken"), None
        )
        is_over = not following or following == query.get("continuation-token")
        if not following or is_over or (found and after is not None):
            return found
        if len(found) > most:
            raise TooLarge(
                f"The bucket has more than {most:,} objects there. Narrow the prefix.",
                code="too-many-objects",
            )
        query = {**query, "continuation-token": following}


def _listing(text: str) -> ElementTree.Element:
    # Entities multiply: a small text could fill all memory. A listing needs none.
    if "<!DOCTYPE" not in text[:2_000].upper() and "<!ENTITY" not in text.upper():
        with contextlib.suppress(ElementTree.ParseError):
            return ElementTree.fromstring(text)  # noqa: S314 - no entities are left in it
    raise Invalid("The storage did not answer with a listing as S3 gives it.")


def _plain(tag: str) -> str:
    return tag.rpartition("}")[2]


async def check(around: Surroundings, settings: S3Settings, secrets: Secrets) -> str:
    query = {"list-type": "2", "max-keys": "1", "prefix": settings.prefix}
    answer = await _get(around.http, settings, secrets, f"/{settings.bucket}", query)
    if answer.status == 404:
        raise Misconfigured(f"There is no bucket {settings.bucket!r} there.")
    _refuse(settings, answer)
    found = "has objects" if b"<Key>" in answer.body else "is empty"
    return f"The bucket {settings.bucket} can be listed and {found}."


async def _get(
    http: Http,
    settings: S3Settings,
    secrets: Secrets,
    path: str,
    query: dict[str, str],
    limits: HttpLimits = HttpLimits(),  # noqa: B008 - frozen
) -> HttpAnswer:
    key = S3Key(
        secrets["access_key_id"],
        secrets["secret_access_key"],
        settings.region,
        secrets.get("session_token"),
    )
    scheme, host = settings.origin
    # A signature is good only near its moment by the server's clock, so the machine's own is used.
    signed = sign_get(key, scheme, host, path, query, SystemClock().now())
    return await http.request(
        "GET", signed.url, secret_headers=signed.headers, follow=False, limits=limits
    )


def _refuse(settings: S3Settings, answer: HttpAnswer) -> None:
    if answer.status in {401, 403}:
        raise Misconfigured(f"The keys may not read the bucket {settings.bucket!r}.")
    if answer.status in {301, 307}:
        raise Misconfigured(f"The bucket {settings.bucket!r} is in another region.")
    if answer.status >= 500:
        raise Unavailable(f"The storage answered {answer.status}; try again later.")
    if answer.status != 200:
        raise Invalid(f"The storage answered {answer.status}.")


add_connector(
    kind="s3",
    title="S3 bucket",
    description="Files in a bucket of S3 or compatible storage, loaded as datasets.",
    use="bucket",
    settings=S3Settings,
    check=check,
    place=lambda settings: f"s3://{settings.bucket}/{settings.prefix}",
    secrets=(
        SecretField("access_key_id", "Access key id", required=True),
        SecretField("secret_access_key", "Secret access key", required=True),
        SecretField("session_token", "Session token", "For temporary keys."),
    ),
)
