"""Addresses in text that somebody writes: which of them nobody named, and how they are kept from being followed."""

import re
from collections.abc import Sequence
from typing import Final

from steward.agents.operating.quotations import CLOSING, stands_in
from steward.runs import Json

_ADDRESS: Final = re.compile(
    r"""[a-z][a-z0-9+.-]{0,30}://\S+ | \bwww\.\S+ | [^\s@<>]{1,256}+@[^\s@<>]+\.[a-z]{2,}
        | (?P<host>\b(?:[a-z0-9-]{1,63}+\.){1,20}(?P<end>[a-z]{2,24})\b)(?P<way>[/:?#]\S*)?""",
    re.IGNORECASE | re.VERBOSE,
)
"""Each part is as long as it can be at most: of a longer text the end is found, in time that grows with the text."""
_FILES: Final = frozenset(
    {"csv", "doc", "docx", "gif", "html", "jpeg", "jpg", "json", "log", "md", "odt", "parquet"}
    | {"pdf", "png", "ppt", "pptx", "rtf", "svg", "tsv", "txt", "xls", "xlsx", "xml", "yaml", "yml"}
)
"""Endings of file names, which look like hosts."""
_LINK: Final = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}://|\bwww\.)[^\s<>\"')\]]+", re.IGNORECASE)


def unnamed_address(value: Json, said: Sequence[str]) -> str | None:
    """The first link, host or address in a text that stands in nothing that was said."""
    if not isinstance(value, str):
        return None
    found = (
        match.group().rstrip(CLOSING)
        for match in _ADDRESS.finditer(value)
        if not _is_no_host(match)
    )
    return next((address for address in found if not stands_in(address, said)), None)


def without_links(value: Json, trusted: Sequence[str]) -> Json:
    """A text, or texts inside a value, with links that nobody named spelled so that they cannot be followed."""
    match value:
        case dict():
            return {key: without_links(inner, trusted) for key, inner in value.items()}
        case list():
            return [without_links(inner, trusted) for inner in value]
        case str():
            pass
        case _:
            return value

    def spelled(match: re.Match[str]) -> str:
        link = match.group()
        kept = link.rstrip(CLOSING)
        if stands_in(kept, trusted):
            return link
        disarmed = kept.replace("://", "[:]//").replace(".", "[.]")
        return disarmed + link[len(kept) :]

    return _LINK.sub(spelled, value)


def _is_no_host(match: re.Match[str]) -> bool:
    """A file's name, or two sentences without a space between them: "agreed.Then"."""
    end = match["end"]
    if end is None or match["way"] is not None:
        return False
    return end.lower() in _FILES or (end[0].isupper() and end[1:].islower())
