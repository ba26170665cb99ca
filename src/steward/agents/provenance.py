"""Where the arguments of a model's call come from: said by a person, quoted from what was read, or made up.

Nothing is guessed from meaning. A value counts as said or quoted only when it stands there whole, token by token and in
one piece; parts put together are something new, and what is new is the model's. So a text that tells a model what to
write can be found again in what the model writes, and an address that was built from pieces is known to be nobody's.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final

from steward.broker.labels import Labels, joined
from steward.broker.tool import Risk
from steward.runs import Json

MADE_UP: Final = "model"
"""Source of what stands nowhere: a model's own words."""
FORM: Final = "form"
"""Source of what fills a form that a person gave, such as 'Dinner at {restaurant}'."""
ELSEWHERE: Final = "elsewhere"
"""Source of what also stands in a text that is no step's result, such as the names of the project's data."""
ADDRESS: Final = "address"
"""Source of text that carries an address which no person named, such as a link."""
STEP: Final = "step:"
"""Prefix of the source that names the step of the plan whose result a text is."""
FROM: Final = "from:"
"""Prefix of the source that names the step in whose result a value stands whole.

Another word than for texts: results inherit the labels of arguments, and must not pass for results of earlier steps.
"""

_SMALL: Final = 1_000
_LEAST_FORM: Final = 4
_MOST_PUNCTUATION: Final = 4
_OPENING: Final = frozenset("\"'([{<“‘`«")
_CLOSING: Final = frozenset("\"')]}>”’`»,;:.!?")
_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_NUMBER: Final = re.compile(r"[-+]?\d[\d,' ]*(?:\.\d+)?")
_FORM: Final = re.compile(r"""['"“‘]([^'"“”‘’\n]*\{[A-Za-z_ ]{1,40}\}[^'"“”‘’\n]*)['"”’]""")
_HOLE: Final = re.compile(r"\{[A-Za-z_ ]{1,40}\}")
_FILLED: Final = r"([^\n{}]{1,80}?)"
_ADDRESS: Final = re.compile(
    r"""[a-z][a-z0-9+.-]*://\S+ | \bwww\.\S+ | [^\s@<>]+@[^\s@<>]+\.[a-z]{2,}
        | (?P<host>\b(?:[a-z0-9-]+\.)+(?P<end>[a-z]{2,24})\b)(?P<way>[/:?#]\S*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_FILES: Final = frozenset(
    {"csv", "doc", "docx", "gif", "html", "jpeg", "jpg", "json", "log", "md", "odt", "parquet"}
    | {"pdf", "png", "ppt", "pptx", "rtf", "svg", "tsv", "txt", "xls", "xlsx", "xml", "yaml", "yml"}
)
"""Endings of file names, which look like hosts."""
# Somebody forgot the space: "see www.example.com.Then go on".
_GLUED: Final = re.compile(r"(\S+\.(?:com|org|net|edu|gov|io|de|fr|uk|ch|eu))[.!?][A-Z][a-z]+")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})

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
_LINK: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|\bwww\.)[^\s<>\"')\]]+", re.IGNORECASE)
_WRITTEN: Final = _FREE_TEXT | frozenset({"new", "markdown"})


def is_amount(name: str) -> bool:
    """Whether an argument says how much."""
    return bool(_words(name) & _AMOUNTS)


def is_switch(name: str) -> bool:
    """Whether a truth value changes what a call amounts to: whether it recurs, who sees it, what is lost."""
    return bool(_words(name) & _SWITCHES)


def is_reach(name: str) -> bool:
    """Whether a choice says how far something reaches, so that none is harmless by itself."""
    return bool(_words(name) & _REACH)


def is_weighty(name: str) -> bool:
    """Whether an argument stays empty unless somebody speaks of it: where, to whom, how much, how often, how far."""
    return bool(_words(name) & (_RECIPIENTS | _OBJECTS | _AMOUNTS | _SWITCHES | _REACH | _PLACES))


def name_words(name: str) -> frozenset[str]:
    """The words of an argument's or field's name."""
    return _words(name) - {""}


def plain(text: str) -> str:
    """One spelling for what is the same to every system."""
    return _plain(text)


def stands_in(value: Json, texts: Iterable[str]) -> bool:
    """Whether a value stands whole in one of the texts."""
    return any(_Text(text).holds(value) for text in texts)


def without_links(name: str, value: Json, trusted: Sequence[str]) -> Json:
    """A text that is written somewhere, with links that nobody named spelled so that they cannot be followed."""
    if not isinstance(value, str) or not _words(name) & _WRITTEN:
        return value

    def spelled(match: re.Match[str]) -> str:
        link = match.group()
        kept = link.rstrip("".join(_CLOSING))
        if stands_in(kept, trusted):
            return link
        disarmed = kept.replace("://", "[:]//").replace(".", "[.]")
        return disarmed + link[len(kept) :]

    return _LINK.sub(spelled, value)


def is_link(name: str) -> bool:
    """Whether an argument is an address that is opened."""
    return bool(_words(name) & _LINKS)


def is_recipient(name: str) -> bool:
    """Whether an argument says where something goes."""
    return bool(_words(name) & _RECIPIENTS)


def is_target(name: str) -> bool:
    """Whether an argument says where something goes or to what something happens."""
    return bool(_words(name) & (_RECIPIENTS | _OBJECTS))


def can_be_new(name: str) -> bool:
    """Whether a name that stands nowhere can only be of something new: all names of data are shown beforehand."""
    return bool(_words(name) & _NEW)


def is_free_text(name: str) -> bool:
    """Whether an argument is there to carry words, whatever it carries now."""
    return bool(_words(name) & _FREE_TEXT)


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


def result_of(step_id: str, labels: Labels) -> Labels:
    """Labels of a text that is this step's result, whatever the step itself worked on."""
    return Labels(
        (*(s for s in _bare(labels) if not s.startswith(STEP)), f"{STEP}{step_id}"), labels.trusted
    )


def trusted_for(risk: Risk, said: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """What counts as said by a person for a call of this risk.

    Names of the catalogue are good enough to look at something. What is changed or sent a person has to name.
    """
    return (*said, *names) if risk.at_most(Risk.compute) else tuple(said)


def label_arguments(
    arguments: Mapping[str, Json],
    trusted: Sequence[str],
    seen: Sequence[tuple[str, Labels]],
    *,
    schema: Mapping[str, Any] | None = None,
) -> dict[str, Labels]:
    """The labels of each argument of a call that a model makes.

    `trusted` are texts that people wrote or approved, `seen` the texts that were shown to the model. A value that stands
    whole in a trusted text, or is a harmless constant, carries no label. One that stands whole in texts that were seen
    has their labels, and so has what only fills a form from them that a person gave. Everything else is made up after
    all that was seen, and has the labels of all of it.
    """
    whole = schema or {}
    properties, shared = whole.get("properties", {}), whole.get("$defs", {})
    told = [_Text(text) for text in trusted]
    shown = [(_Text(text), _as_argument(labels)) for text, labels in seen]
    everything = joined(labels for _, labels in shown)
    return {
        name: _together(
            _label(name, leaf, told, shown, everything)
            for leaf in _parts(name, value, properties.get(name, {}), shared)
        )
        for name, value in arguments.items()
    }


def _together(leaves: Iterable[Labels]) -> Labels:
    """Labels of a value with parts: it is from a step only if every part that nobody named is from there."""
    found = [labels for labels in leaves if labels.sources or not labels.trusted]
    steps = [{s for s in labels.sources if s.startswith(FROM)} for labels in found]
    common = set.intersection(*steps) if steps else set()
    whole = joined(found)
    kept = (s for s in whole.sources if not s.startswith(FROM) or s in common)
    return Labels(tuple(kept), whole.trusted)


def _label(
    name: str,
    leaf: Json,
    told: Sequence["_Text"],
    shown: Sequence[tuple["_Text", Labels]],
    everything: Labels,
) -> Labels:
    if isinstance(leaf, bool) and is_switch(name):
        return Labels() if leaf is _speaks_of(name, told) else everything.joined(Labels((MADE_UP,)))
    # A name or an address is one line; what is appended to one is a trick.
    is_odd = is_target(name) and isinstance(leaf, str) and bool(set(leaf) & set("\n\t"))
    if _is_harmless(name, leaf) or (not is_odd and any(text.holds(leaf) for text in told)):
        return Labels()
    marked = Labels((ADDRESS,)) if _carries_address(leaf, told) else Labels()
    quoted = [labels for text, labels in shown if not is_odd and text.holds(leaf)]
    if quoted:
        if any(not any(s.startswith(FROM) for s in labels.sources) for labels in quoted):
            marked = marked.joined(Labels((ELSEWHERE,)))
        return joined([*quoted, marked])
    filled = None if is_odd else _filled(leaf, told, shown)
    if filled is not None:
        return joined([filled, marked, Labels((FORM,))])
    return joined([everything, marked, Labels((MADE_UP,))])


def _speaks_of(name: str, told: Sequence["_Text"]) -> bool:
    return any(text.holds(word) for word in _words(name) & _SWITCHES for text in told)


def _carries_address(leaf: Json, told: Sequence["_Text"]) -> bool:
    if not isinstance(leaf, str):
        return False
    found = (
        match.group().rstrip("".join(_CLOSING))
        for match in _ADDRESS.finditer(leaf)
        if not _is_no_host(match)
    )
    return any(not any(text.holds(address) for text in told) for address in found)


def _is_no_host(match: re.Match[str]) -> bool:
    """A file's name, or two sentences without a space between them: "agreed.Then"."""
    end = match["end"]
    if end is None or match["way"] is not None:
        return False
    return end.lower() in _FILES or (end[0].isupper() and end[1:].islower())


def _as_argument(labels: Labels) -> Labels:
    """Labels of a text as a value has them that stands in it."""
    sources = (
        FROM + source.removeprefix(STEP) if source.startswith(STEP) else source
        for source in _bare(labels)
    )
    return Labels(tuple(sources), labels.trusted)


def _bare(labels: Labels) -> Iterator[str]:
    """Sources without what was found out about the arguments of an earlier call."""
    for source in labels.sources:
        if source not in {MADE_UP, FORM, ADDRESS, ELSEWHERE} and not source.startswith(FROM):
            yield source


def _filled(
    leaf: Json, told: Sequence["_Text"], shown: Sequence[tuple["_Text", Labels]]
) -> Labels | None:
    """The labels of what fills a person's form, when each piece stands whole in what was seen."""
    if not isinstance(leaf, str) or _hides_something(leaf):
        return None
    for form in (form for text in told for form in text.forms):
        match = form.fullmatch(_plain(leaf))
        if match is None:
            continue
        found = [
            [labels for text, labels in shown if text.holds(piece)] for piece in match.groups()
        ]
        if all(found):
            return joined(labels for each in found for labels in each)
    return None


def _is_harmless(name: str, leaf: Json) -> bool:
    match leaf:
        case None | bool() | "":
            return True
        case int() | float():
            # A number says which one, or how much, where the argument is for that.
            return not is_target(name) and not _words(name) & _AMOUNTS and abs(leaf) <= _SMALL
    return False


def is_look(arguments: Mapping[str, Json]) -> bool:
    """Whether a call says of itself that it only fetches something."""
    return str(arguments.get("method", "")).upper() in _LOOKING


def _parts(
    name: str, value: Json, schema: Mapping[str, Any], shared: Mapping[str, Any]
) -> Iterator[Json]:
    """What somebody has to have said; which method changes something is no harmless choice."""
    if name == "method" and isinstance(value, str):
        if value.upper() not in _LOOKING:
            yield value
    elif is_reach(name):
        # How far something reaches is no harmless choice either, whatever the tool lists.
        yield from _leaves(value, {}, {})
    else:
        yield from _leaves(value, schema, shared)


def _leaves(value: Json, schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Iterator[Json]:
    """Every value inside, and every name that the tool did not declare: both can carry a message."""
    schema = _followed(schema, shared)
    match value:
        case dict():
            declared = schema.get("properties", {})
            for key, item in value.items():
                if key not in declared:
                    yield key
                yield from _leaves(item, declared.get(key, {}), shared)
        case list():
            items = schema.get("items", {})
            for item in value:
                yield from _leaves(item, items if isinstance(items, dict) else {}, shared)
        case _ if isinstance(value, str) and value in _choices(schema, shared):
            return
        case _:
            yield value


def _choices(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> list[Any]:
    """The values that a tool's author listed."""
    if "const" in schema:
        return [schema["const"]]
    parts = (_followed(part, shared) for part in schema.get("anyOf", ()))
    return [*schema.get("enum", ()), *(choice for part in parts for choice in _choices(part, {}))]


def _followed(schema: Mapping[str, Any], shared: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    found = shared.get(name, {}) if name else schema
    return found if isinstance(found, Mapping) else {}


class _Text:
    """A text as tokens, each with the ways in which punctuation around it may belong to it or not."""

    def __init__(self, text: str) -> None:
        self._at = _positions(text)
        self._numbers = _numbers(text)
        self.forms = _given_forms(text)

    def holds(self, leaf: Json) -> bool:
        """Whether the value stands in the text, whole and in one piece."""
        match leaf:
            case str():
                return self._holds_text(leaf)
            case int() | float():
                return _decimal(str(leaf)) in self._numbers
        return False

    def _holds_text(self, text: str) -> bool:
        if _hides_something(text):
            return False
        wanted = _plain(text).split()
        if not wanted:
            return True
        return any(
            all(start + offset in self._at.get(token, ()) for offset, token in enumerate(wanted))
            for start in self._at.get(wanted[0], ())
        )


@lru_cache(maxsize=256)
def _positions(text: str) -> dict[str, frozenset[int]]:
    """Where each token stands; with and without the quotes, brackets and stops around it."""
    found: dict[str, set[int]] = {}
    for place, token in enumerate(unicodedata.normalize("NFC", text).split()):
        glued = _GLUED.search(token)
        whole = (token, glued.group(1)) if glued else (token,)
        for form in (_plain(form) for each in whole for form in _forms(each)):
            found.setdefault(form, set()).add(place)
    return {token: frozenset(places) for token, places in found.items()}


@lru_cache(maxsize=256)
def _numbers(text: str) -> frozenset[Decimal]:
    """Numbers that stand alone; digits inside a name, a date or an address are none."""
    found = set()
    for token in text.split():
        for form in _forms(token.lstrip("$€£")):
            if _NUMBER.fullmatch(form):
                number = _decimal(form.replace(",", "").replace("'", ""))
                if number is not None:
                    found.add(number)
    return frozenset(found)


@lru_cache(maxsize=256)
def _given_forms(text: str) -> tuple[re.Pattern[str], ...]:
    found = (as_form(form) for form in _FORM.findall(_plain(text)))
    return tuple(form for form in found if form is not None)


@lru_cache(maxsize=256)
def as_form(text: str) -> re.Pattern[str] | None:
    """A pattern for a text with named holes, such as `Dinner at {restaurant}`; None for other texts.

    A hole takes a few words. What is nearly all hole is no form.
    """
    parts = _HOLE.split(text)
    if len(parts) == 1 or len("".join(parts).strip()) < _LEAST_FORM:
        return None
    return re.compile(_FILLED.join(re.escape(part) for part in parts))


def _forms(token: str) -> Iterator[str]:
    left = 0
    while left < min(len(token), _MOST_PUNCTUATION) and token[left] in _OPENING:
        left += 1
    right = 0
    while right < min(len(token), _MOST_PUNCTUATION) and token[-1 - right] in _CLOSING:
        right += 1
    for start in range(left + 1):
        for end in range(right + 1):
            form = token[start : len(token) - end]
            if form:
                yield form


def _plain(text: str) -> str:
    """One spelling for what is the same to every system: composed letters, ASCII in small letters.

    No more than that: compatibility forms and other scripts look alike and are other addresses.
    """
    return unicodedata.normalize("NFC", text).translate(_LOWER)


def _hides_something(text: str) -> bool:
    """Control characters, invisible or unassigned ones: nobody says those."""
    return any(
        unicodedata.category(character) in _UNSEEN and character not in "\n\t" for character in text
    )


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text).normalize()
    except InvalidOperation:
        return None


def _is_moment(text: str) -> bool:
    for kind in (datetime, date, time):
        try:
            kind.fromisoformat(text)
        except ValueError:
            continue
        return True
    return False


@lru_cache(maxsize=1024)
def _words(name: str) -> frozenset[str]:
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return frozenset(re.split(r"[^a-z0-9]+", parts.lower()))
