"""What requests and answers share: strict inputs, pages with cursors, ETags."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Generic, TypeVar
from urllib.parse import quote

from fastapi import Header, Query, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, model_validator

from steward.core import Invalid, Problem, RevisionRequired, Stale

T = TypeVar("T")
MAX_PAGE = 200


class Input(BaseModel):
    """A request body: unknown fields are refused, and so is text that no database can keep."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        _refuse_unstorable(value)
        return value


class Output(BaseModel):
    model_config = ConfigDict(
        defer_build=True, from_attributes=True, json_schema_serialization_defaults_required=True
    )


class Page(Output, Generic[T]):
    items: list[T]
    next_cursor: str | None


_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def _no_controls(text: str) -> str:
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise ValueError("must not contain control characters")
    return text


Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    AfterValidator(_no_controls),
]
Cursor = Annotated[
    str | None, Query(max_length=200, description="`next_cursor` of the previous page.")
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Items on a page.")]
IfMatch = Annotated[
    str | None,
    Header(description='ETag of the revision that was read, as in `"3"`.', max_length=100),
]


def page(
    fetch: Callable[[str | None, int], Sequence[T]],
    key: Callable[[T], str],
    cursor: str | None,
    limit: int,
) -> tuple[list[T], str | None]:
    """One page and the cursor of the next; asks for one item more to know whether there is one."""
    items = list(fetch(decode_cursor(cursor), limit + 1))
    if len(items) <= limit:
        return items, None
    return items[:limit], encode_cursor(key(items[limit - 1]))


def offset_of(cursor: str | None) -> int:
    """Where a page begins in a list that is counted."""
    position = decode_cursor(cursor) or "0"
    if not position.isascii() or not position.isdigit() or len(position) > 9:
        raise Invalid(
            "This cursor is not valid. Start again without it.",
            problems=[Problem("/query/cursor", "not a cursor")],
        )
    return int(position)


def encode_cursor(position: str) -> str:
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        position = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        position = "\x00"
    if "\x00" in position:
        raise Invalid(
            "The cursor is not one of ours; start again without it.",
            problems=[Problem("/query/cursor", "not a cursor")],
        )
    return position


def set_etag(response: Response, revision: int) -> None:
    response.headers["ETag"] = f'"{revision}"'


def revision_from(if_match: str | None) -> int:
    """The revision a caller read; writing without saying which is refused."""
    if if_match is None:
        raise RevisionRequired("Send If-Match with the ETag you read, so that no change is lost.")
    text = if_match.strip().removeprefix("W/").strip('"')
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise Stale("If-Match does not name a revision of this document. Read it again.")
    return int(text)


def attachment(filename: str, size: int | None = None) -> dict[str, str]:
    """Headers that make a browser save the answer under a name, never show it."""
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename, safe='')}"}
    return headers | ({"Content-Length": str(size)} if size is not None else {})


def _refuse_unstorable(value: Any) -> None:
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise ValueError("text must not contain NUL characters or unpaired surrogates")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_unstorable(key)
            _refuse_unstorable(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_unstorable(item)
