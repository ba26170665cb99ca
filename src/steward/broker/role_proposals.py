"""Proposes roles for the arguments of a tool from elsewhere. A person confirms or changes them; until then none holds.

This is the only place that looks at names: a wrong guess is shown to a person before it counts. Where nothing speaks for a
role, none is proposed, and the person has to choose.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from steward.broker.roles import Role, fields_of
from steward.broker.schemas import Schema, kinds_of

_FORMATS: Final[Mapping[str, Role]] = {
    **dict.fromkeys(("email", "idn-email", "phone"), Role.recipient),
    **dict.fromkeys(("uri", "url", "iri", "hostname", "ipv4", "ipv6"), Role.destination),
    **dict.fromkeys(("date", "time", "date-time", "duration"), Role.plain),
    "password": Role.secret,
}
_WORDS: Final[Mapping[Role, frozenset[str]]] = {
    role: frozenset(words.split())
    for role, words in {
        Role.secret: "secret password token credential credentials bearer apikey",
        Role.recipient: "to cc bcc recipient recipients receiver payee email emails mail phone contact address channel "
        "attendee attendees participant participants guest guests assignee assignees watcher watchers invitees "
        "mention mentions notify people person account iban wallet",
        Role.destination: "url urls uri link endpoint host domain server webhook callback destination bucket",
        Role.amount: "amount amounts price sum total usd eur budget quantity",
        Role.reach: "permission permissions role access visibility audience privacy public recurring recurrence repeat "
        "frequency interval force overwrite permanent method",
        Role.content: "body text message content subject title description note comment html summary markdown payload",
        Role.selector: "query filter filters columns fields sort order where sql search prefix pattern keyword",
        Role.plain: "limit offset page size count cursor locale language format timezone timeout start end date time day",
        Role.target: "id ids path paths file files filename folder dataset table branch commit repository repo project "
        "document ticket issue article event attachment attachments user users object key number",
    }.items()
}
_ORDER: Final = list(_WORDS)


def propose_roles(schema: Schema) -> dict[str, Role | None]:
    """A role for each innermost field by its path, from its format, its type and its name; None where nothing speaks for one."""
    return {path: _proposed(path, field, schema) for path, field in fields_of(schema).items()}


def _proposed(path: str, field: Mapping[str, Any], root: Schema) -> Role | None:
    around = (field, field.get("items"))
    formats = [str(each.get("format")) for each in around if isinstance(each, Mapping)]
    by_format = next((_FORMATS[each] for each in formats if each in _FORMATS), None)
    if by_format is not None and by_format.is_weighty:
        return by_format
    name = re.split(r"[.\]]", path.removesuffix("[]"))[-1]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = re.split(r"[^a-z0-9]+", spaced.lower())
    said = [role for word in words if (role := _role_of(word)) is not None]
    # The strictest word counts: a format or a harmless word beside it would be an easy way to look harmless. Only
    # what something is of matters less than what it is: the title of an issue is content, the id of a message is not.
    strictest = min((role for role in said if role.is_weighty), key=_ORDER.index, default=None)
    if strictest is not None and not (strictest is Role.target and not said[-1].is_weighty):
        return strictest
    if by_format is not None:
        return by_format
    if not said and kinds_of(field, root) <= {"boolean", "null"}:
        return Role.reach
    return said[-1] if said else None


def _role_of(word: str) -> Role | None:
    return next((role for role, known in _WORDS.items() if word in known), None)
