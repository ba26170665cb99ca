"""Types of path and body values that several routes share."""

from typing import Annotated, Literal

from fastapi import Path

RoleName = Literal["viewer", "operator", "editor", "admin", "owner"]

_BODY = "[0-9a-hjkmnp-tv-z]{26}"


def _id(prefix: str, example: str) -> object:
    return Path(pattern=f"^{prefix}_{_BODY}$", examples=[f"{prefix}_{example}"])


_EXAMPLE = "01kdgq3v0z8r5m2x7c4b9n6t1w"

UserId = Annotated[str, _id("usr", _EXAMPLE)]
TokenId = Annotated[str, _id("tok", _EXAMPLE)]
InvitationId = Annotated[str, _id("inv", _EXAMPLE)]
FileId = Annotated[str, _id("fil", _EXAMPLE)]
SecretName = Annotated[
    str, Path(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,99}$", examples=["warehouse_password"])
]
