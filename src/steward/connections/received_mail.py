"""Mail as it arrives: its headers, text and attachments, read within bounds that a mail bomb does not pass."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.policy import Compat32
from email.utils import getaddresses, parsedate_to_datetime
from html.parser import HTMLParser
from typing import Final

from steward.connections.charsets import read_text

MOST_MAIL_BYTES: Final = 25 << 20
_MOST_LINES: Final = 500_000
_MOST_LEVELS: Final = 50
_MOST_PARTS: Final = 300
_MOST_ATTACHMENTS: Final = 30
_MOST_TEXT: Final = 200_000
_MOST_HEADER: Final = 10_000
_MOST_PARAMETERS: Final = 2_000
_MOST_COMMENTS: Final = 50
_MOST_ADDRESSES: Final = 100
_LONGEST_NAME: Final = 180
_NESTED: Final = re.compile(rb"boundary\s*=|content-type:\s*message/", re.IGNORECASE)
_STRAY: Final = re.compile(r"(?:<(?![a-zA-Z/!?]))+")
"""What looks like the beginning of a tag and is none; the parser would hand out each of them by itself."""
_BLANK: Final = re.compile(r"\n\s*\n\s*\n+")


class _Bounded(Compat32):
    """Headers that say what a part is are cut: the library takes the square of their length to read them."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_MOST_PARAMETERS] if name.lower().startswith("content-") else value


_POLICY: Final = _Bounded()


@dataclass(frozen=True)
class ReceivedFile:
    name: str
    media_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class ReceivedMail:
    headers: dict[str, str]
    """The first of each that people read, by its name in lower case."""
    sender: tuple[str, str]
    """Name and address, as the mail says; a sender can write what it likes there."""
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()
    sent_at: str | None = None
    is_automatic: bool = False
    """Whether it says that a program sent it."""
    text: str = ""
    files: tuple[ReceivedFile, ...] = ()
    problem: str | None = None
    """Why only a part of it was read."""


def read_mail(content: bytes) -> ReceivedMail:
    """A message as a mail server has it. One that passes the bounds is read without its parts."""
    problem = _bomb(content)
    if problem is None:
        try:
            message = message_from_bytes(content, policy=_POLICY)
            text, files = _body(message)
            return _read(message, text, files, None)
        except TooMuch as found:
            problem = str(found)
        except (RecursionError, MessageError, ValueError, LookupError):
            problem = "Its parts cannot be read."
    return _read(message_from_bytes(_head(content), policy=_POLICY), "", (), problem)


def read_head(content: bytes, problem: str) -> ReceivedMail:
    """The headers alone, with the reason."""
    return _read(message_from_bytes(_head(content), policy=_POLICY), "", (), problem)


class TooMuch(Exception):
    pass


def _bomb(content: bytes) -> str | None:
    """What a parser would take too long over."""
    if len(content) > MOST_MAIL_BYTES:
        return f"It has {len(content):,} bytes; Steward reads {MOST_MAIL_BYTES:,} at most."
    if content.count(b"\n") + content.count(b"\r") > 2 * _MOST_LINES:
        return f"It has more than {_MOST_LINES:,} lines."
    if sum(1 for _ in _NESTED.finditer(content)) > _MOST_LEVELS:
        return f"Its parts are nested in more than {_MOST_LEVELS} others."
    return None


def _head(content: bytes) -> bytes:
    head = re.split(rb"\r?\n\r?\n", content[: 256 << 10], maxsplit=1)[0]
    # Without its type it has no parts.
    return re.sub(rb"(?im)^(content-type|mime-version)\s*:", b"X-Left-Out:", head) + b"\r\n\r\n"


def _read(
    message: Message, text: str, files: tuple[ReceivedFile, ...], problem: str | None
) -> ReceivedMail:
    headers = {name: _header(message, name) for name in ("subject", "message-id", "in-reply-to")}
    senders = _addresses(message, "from")
    automatic = _header(message, "auto-submitted").lower()
    return ReceivedMail(
        headers={name: value for name, value in headers.items() if value},
        sender=senders[0] if senders else ("", ""),
        to=tuple(address for _, address in _addresses(message, "to")),
        cc=tuple(address for _, address in _addresses(message, "cc")),
        reply_to=tuple(address for _, address in _addresses(message, "reply-to")),
        sent_at=_moment(_header(message, "date")),
        is_automatic=automatic not in {"", "no"},
        text=text,
        files=files,
        problem=problem,
    )


def _header(message: Message, name: str) -> str:
    return _decoded(str(message.get(name, ""))[:_MOST_HEADER])


def _decoded(raw: str) -> str:
    try:
        found = str(make_header(decode_header(raw)))
    except (HeaderParseError, ValueError, LookupError):
        found = raw
    return _clean(" ".join(found.split()))


def _addresses(message: Message, name: str) -> list[tuple[str, str]]:
    raw = str(message.get(name, ""))[:_MOST_HEADER]
    if raw.count("(") > _MOST_COMMENTS:
        # Comments in comments: the library calls itself for each.
        raw = raw.replace("(", " ")
    found = getaddresses([raw])[:_MOST_ADDRESSES]
    return [(_decoded(shown), _clean(address)) for shown, address in found if "@" in address]


def _moment(text: str) -> str | None:
    try:
        found = parsedate_to_datetime(text)
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC).isoformat()
    except (ValueError, TypeError, OverflowError):
        return None


def _body(message: Message) -> tuple[str, tuple[ReceivedFile, ...]]:
    """The text people read, and what is attached."""
    plain: list[str] = []
    rich: list[str] = []
    files: list[ReceivedFile] = []
    for part in _leaves(message):
        kind = part.get_content_type()
        is_attached = part.get_content_disposition() == "attachment" or part.get_filename()
        if kind in {"text/plain", "text/html"} and not is_attached:
            (plain if kind == "text/plain" else rich).append(_text(part))
            continue
        if len(files) == _MOST_ATTACHMENTS:
            raise TooMuch(f"It has more than {_MOST_ATTACHMENTS} attachments.")
        files.append(_file(part, len(files) + 1))
    text = "\n\n".join(each for each in plain if each.strip()) or _without_tags("\n".join(rich))
    return _clean(text)[:_MOST_TEXT].strip(), tuple(files)


def _leaves(message: Message) -> Iterator[Message]:
    """Parts that hold something. A mail that was forwarded as a file stays one."""
    waiting, count = [message], 0
    while waiting:
        part = waiting.pop(0)
        count += 1
        if count > _MOST_PARTS:
            raise TooMuch(f"It has more than {_MOST_PARTS} parts.")
        inner = part.get_payload()
        if isinstance(inner, list) and part.get_content_maintype() == "multipart":
            waiting[:0] = [each for each in inner if isinstance(each, Message)]
        else:
            yield part


def _file(part: Message, number: int) -> ReceivedFile:
    kind = part.get_content_type()
    inner = part.get_payload()
    if isinstance(inner, list):
        first = inner[0] if inner else None
        content = first.as_bytes() if isinstance(first, Message) else b""
    else:
        decoded = part.get_payload(decode=True)
        content = decoded if isinstance(decoded, bytes) else b""
    name = re.split(r"[/\\]", _decoded(part.get_filename() or ""))[-1].strip(". ")[:_LONGEST_NAME]
    ending = {"message/rfc822": ".eml", "text/calendar": ".ics", "text/html": ".html"}.get(kind, "")
    return ReceivedFile(name or f"attachment-{number}{ending}", kind[:100], content)


def _text(part: Message) -> str:
    decoded = part.get_payload(decode=True)
    content = decoded if isinstance(decoded, bytes) else b""
    content = content[: 4 * _MOST_TEXT]
    return read_text(content, part.get_content_charset() or "utf-8")


class _Words(HTMLParser):
    _HIDDEN: Final = frozenset({"script", "style", "head", "title", "template"})
    _BREAKS: Final = frozenset({"p", "div", "br", "tr", "li", "h1", "h2", "h3", "table"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in self._HIDDEN:
            self._hidden.append(tag)
        elif tag in self._BREAKS:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: ARG002 - the library's
        """What begins with `<![` is a comment, as in browsers; the library would give up at most of them."""
        return self.parse_bogus_comment(i)


def _without_tags(html: str) -> str:
    reader = _Words()
    reader.feed(_STRAY.sub(lambda found: "&lt;" * len(found[0]), html[: 2 * _MOST_TEXT]))
    return _BLANK.sub("\n\n", "".join(reader.words))


def _clean(text: str) -> str:
    """Without what a database or a terminal chokes on."""
    kept = text.replace("\0", "").replace("\r\n", "\n")
    return kept.encode("utf-8", "replace").decode()
