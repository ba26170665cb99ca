"""Texts of others in the charset that they declare: the word of a stranger, which may name any codec of Python."""

import codecs
from typing import Final

_NO_CHARSETS: Final = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)
"""Codecs of Python that are no charsets; two of them take the square of a text's length."""


def is_charset(name: str) -> bool:
    try:
        # Refused by those from bytes to bytes and from text to text.
        b"a".decode(name, "replace")
        return codecs.lookup(name).name.replace("_", "-") not in _NO_CHARSETS
    except (LookupError, ValueError):
        return False


def charset_in(content_type: str) -> str:
    """The declared one where it can be read, else UTF-8."""
    declared = content_type.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    return declared if is_charset(declared) else "utf-8"


def read_text(content: bytes, charset: str) -> str:
    """What cannot be read is replaced, and so are halves of characters: no file and no database takes them."""
    text = content.decode(charset if is_charset(charset) else "utf-8", "replace")
    return text.encode("utf-8", "replace").decode()
