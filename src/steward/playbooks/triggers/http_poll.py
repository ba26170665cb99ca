"""Looks at a web address again and again: at a feed for new entries, at anything else for a change."""

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Literal
from xml.etree import ElementTree

from pydantic import Field

from steward.connections import HttpAnswer, HttpLimits, place_of
from steward.core import Invalid, Problem, StewardError, Unavailable
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Taken, Trigger
from steward.playbooks.triggers.webhook import read_body
from steward.runs import Json
from steward.tools import HTTP

_MOST_BYTES: Final = 2 << 20
_MOST_SEEN: Final = 2_000
_MOST_DATA: Final = 200_000
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_FIELDS: Final = {
    "id": ("guid", f"{_ATOM}id"),
    "title": ("title", f"{_ATOM}title"),
    "link": ("link",),
    "published": ("pubDate", f"{_ATOM}published", f"{_ATOM}updated"),
    "summary": ("description", f"{_ATOM}summary", f"{_ATOM}content"),
}


@TRIGGERS.register("http_poll")
class HttpPollTrigger(Trigger):
    title: ClassVar = "When a feed or a web page changes"
    starter: ClassVar = {"url": "https://example.com/feed.xml", "seconds": 900}

    type: Literal["http_poll"]
    name: Name = "poll"
    url: str = Field(max_length=2_000, description="RSS or Atom feed, JSON, or any page.")
    seconds: int = Field(900, ge=30, le=604_800, description="Seconds from one look to the next.")
    items: str | None = Field(
        None,
        max_length=200,
        description="For JSON: the field that holds the list of entries; empty: the whole answer.",
    )

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        try:
            place_of(self.url)
        except StewardError as problem:
            yield Problem("/url", problem.message)

    def place(self) -> Json:
        return {"url": self.url, "items": self.items}

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return _Poll(self, looking)

    def details(self) -> dict[str, Any]:
        return {"url": self.url, "seconds": self.seconds}


class _Poll(Source):
    def __init__(self, trigger: HttpPollTrigger, looking: Looking) -> None:
        self._trigger = trigger
        self._looking = looking

    async def take(self, cursor: Json) -> Taken:
        before = cursor or {}
        asked = {
            name: value
            for name, value in (
                ("If-None-Match", before.get("etag")),
                ("If-Modified-Since", before.get("modified")),
            )
            if value
        }
        http = self._looking.services.use(HTTP)
        limits = HttpLimits(response_bytes=_MOST_BYTES, time=timedelta(seconds=30))
        answer = await http.request("GET", self._trigger.url, headers=asked, limits=limits)
        again = self._looking.clock.now() + timedelta(seconds=self._trigger.seconds)
        if answer.status == 304:
            return Taken(cursor=before, again_at=again)
        if not 200 <= answer.status < 300:
            raise Unavailable(
                f"{place_of(self._trigger.url).text} answered with status {answer.status}."
            )
        found = list(entries(answer, self._trigger.items))
        seen: list[str] = before.get("seen", [])
        known = set(seen)
        # The first look learns what is there; everything in it is old.
        new = [each for each in found if each.key not in known] if cursor is not None else []
        keys = [each.key for each in found if each.key is not None and each.key not in known]
        after = {
            "seen": [*seen, *keys][-_MOST_SEEN:],
            "etag": answer.header("etag"),
            "modified": answer.header("last-modified"),
        }
        return Taken(tuple(new), after, again)


def entries(answer: HttpAnswer, items: str | None) -> Iterator[Arrival]:
    """What an answer holds, oldest first: entries of a feed or a list, or the whole of it."""
    text = answer.text.lstrip("\ufeff \r\n\t")
    if text.startswith("<"):
        feed = _feed(text)
        if feed is not None:
            yield from reversed(feed)
            return
    content = read_body(answer.media_type, answer.body)
    if items is not None:
        content = content.get(items) if isinstance(content, dict) else None
        if not isinstance(content, list):
            raise Invalid(f"The answer has no list {items!r}.")
        for each in content:
            named = each.get("id") if isinstance(each, dict) else None
            key = f"id:{named}" if isinstance(named, str | int) else _hash(each)
            yield Arrival(each, key=key)
        return
    if isinstance(content, str) and len(content) > _MOST_DATA:
        content = content[:_MOST_DATA]
    yield Arrival({"content": content, "url": answer.url}, key=_hash(content))


def _feed(text: str) -> list[Arrival] | None:
    """The entries of an RSS or Atom feed; None for what is none."""
    if "<!DOCTYPE" in text[:2_000].upper() or "<!ENTITY" in text.upper():
        # Entities multiply: a small text could fill all memory. Feeds need none.
        return None
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - no entities are left in it
    except ElementTree.ParseError:
        return None
    found = [*root.iter("item"), *root.iter(f"{_ATOM}entry")]
    if not found and root.tag not in {"rss", f"{_ATOM}feed"}:
        return None
    return [_entry(each) for each in found]


def _entry(element: ElementTree.Element) -> Arrival:
    data: dict[str, Json] = {}
    for name, tags in _FIELDS.items():
        for tag in tags:
            value = element.findtext(tag)
            if value:
                data[name] = value.strip()[:20_000]
                break
    link = element.find(f"{_ATOM}link")
    if "link" not in data and link is not None:
        data["link"] = link.get("href", "")
    return Arrival(data, key=str(data.get("id") or data.get("link") or _hash(data)))


def _hash(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
