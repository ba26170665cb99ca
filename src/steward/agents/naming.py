"""What an argument is there for, by its name: where something goes, to what it happens, how much, how often, how far."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from functools import lru_cache
from typing import Final

from steward.runs import Json

_LINKS: Final = frozenset(
    {"url", "urls", "uri", "link", "endpoint", "host", "domain", "server", "webhook", "callback"}
)
_RECIPIENTS: Final = _LINKS | frozenset(
    {"to", "cc", "bcc", "recipient", "recipients", "receiver", "email", "emails", "mail", "phone"}
    | {"channel", "channels", "room", "participant", "participants", "attendee", "attendees"}
    | {"invitees", "account", "iban", "wallet", "destination", "bucket", "queue"}
    | {"people", "person", "guest", "guests", "watcher", "watchers", "assignee", "assignees"}
    | {"mention", "mentions", "notify", "copy", "ship"}
)
_OBJECTS: Final = frozenset(
    {"id", "ids", "user", "users", "path", "paths", "file", "files", "filename", "folder"}
    | {"dataset", "datasets", "target", "table", "branch", "commit", "connection"}
    | {"playbook", "repository", "digest", "upload", "attachment", "attachments", "method"}
    | {"bearer", "secret", "secrets", "token", "credential", "credentials"}
    | {"document", "documents", "ticket", "article", "event", "letter"}
)
_NEW: Final = frozenset({"dataset", "target", "table", "branch", "filename"})
_FREE_TEXT: Final = frozenset(
    {"body", "text", "message", "content", "subject", "title", "description", "note", "comment"}
    | {"html", "summary", "reason", "data", "payload", "headers"}
)
_LOOKING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of HTTP that change nothing."""
_AMOUNTS: Final = frozenset(
    {"amount", "amounts", "price", "sum", "total", "usd", "eur", "budget", "quantity"}
)


_SWITCHES: Final = frozenset(
    {"recurring", "recurrent", "recur", "repeat", "repeats", "public", "publish", "anonymous"}
    | {"permanent", "permanently", "force", "overwrite", "renew", "autopay", "express", "urgent"}
)
_REACH: Final = frozenset(
    {"permission", "permissions", "role", "access", "visibility", "audience", "privacy"}
    | {"frequency", "interval", "recurrence"}
)
_PLACES: Final = frozenset({"location", "where"})
_WRITTEN: Final = _FREE_TEXT | frozenset({"new", "markdown"})


def is_amount(name: str) -> bool:
    """Whether an argument says how much."""
    return bool(name_words(name) & _AMOUNTS)


def is_switch(name: str) -> bool:
    """Whether a truth value changes what a call amounts to: whether it recurs, who sees it, what is lost."""
    return bool(name_words(name) & _SWITCHES)


def is_reach(name: str) -> bool:
    """Whether a choice says how far something reaches, so that none is harmless by itself."""
    return bool(name_words(name) & _REACH)


def is_weighty(name: str) -> bool:
    """Whether an argument stays empty unless somebody speaks of it: where, to whom, how much, how often, how far."""
    return bool(
        name_words(name) & (_RECIPIENTS | _OBJECTS | _AMOUNTS | _SWITCHES | _REACH | _PLACES)
    )


def is_written(name: str) -> bool:
    """Whether an argument is text that is kept somewhere, for people to read."""
    return bool(name_words(name) & _WRITTEN)


def switches_in(name: str) -> frozenset[str]:
    """The words of a name that somebody who wants it switched on would say."""
    return name_words(name) & _SWITCHES


def is_link(name: str) -> bool:
    """Whether an argument is an address that is opened."""
    return bool(name_words(name) & _LINKS)


def is_recipient(name: str) -> bool:
    """Whether an argument says where something goes."""
    return bool(name_words(name) & _RECIPIENTS)


def is_target(name: str) -> bool:
    """Whether an argument says where something goes or to what something happens."""
    return bool(name_words(name) & (_RECIPIENTS | _OBJECTS))


def can_be_new(name: str) -> bool:
    """Whether a name that stands nowhere can only be of something new: all names of data are shown beforehand."""
    return bool(name_words(name) & _NEW)


def is_free_text(name: str) -> bool:
    """Whether an argument is there to carry words, whatever it carries now."""
    return bool(name_words(name) & _FREE_TEXT)


def is_narrow(value: Json) -> bool:
    """Whether a value has no room for a message: a truth value, a number, a date or a time."""
    match value:
        case None | bool() | int() | float():
            return True
        case str():
            return len(value) <= 40 and _is_moment(value)
        case list():
            return len(value) <= 8 and all(is_narrow(item) for item in value)
    return False


def is_look(arguments: Mapping[str, Json]) -> bool:
    """Whether a call says of itself that it only fetches something."""
    return str(arguments.get("method", "")).upper() in _LOOKING


@lru_cache(maxsize=1024)
def name_words(name: str) -> frozenset[str]:
    """The words of an argument's or field's name."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return frozenset(re.split(r"[^a-z0-9]+", parts.lower())) - {""}


def _is_moment(text: str) -> bool:
    for kind in (datetime, date, time):
        try:
            kind.fromisoformat(text)
        except ValueError:
            continue
        return True
    return False
