"""Starts it for each object that appears or changes in a bucket of S3 or compatible storage."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.connections import S3Settings, fetch, list_objects
from steward.playbooks.trigger import TRIGGERS, Looking, Name, Source, Taken, Trigger
from steward.playbooks.triggers.arriving_files import MOST_FILES, ArrivingFiles, Pattern, Seconds
from steward.playbooks.triggers.queues import Start
from steward.runs import Json
from steward.tools import HTTP


@TRIGGERS.register("bucket")
class BucketTrigger(Trigger):
    title: ClassVar = "When a file arrives in a bucket"
    starter: ClassVar = {"connection": "bucket", "pattern": "*.csv"}

    type: Literal["bucket"]
    name: Name = "bucket"
    connection: str = Field(
        min_length=1, max_length=100, description="Name of a connection to a bucket (S3)."
    )
    prefix: str = Field(
        "", max_length=500, description="Only keys that begin so, after the connection's prefix."
    )
    pattern: Pattern = "*"
    start: Start = "new"
    seconds: Seconds = 60
    ascending: bool = Field(
        False,
        description="Whether each new file sorts after all before it, as names with a date or a number do. Steward then "
        "asks only for files after the last one, however many there are. It does not notice files that change.",
    )

    def place(self) -> Json:
        place = {"connection": self.connection, "prefix": self.prefix, "pattern": self.pattern}
        return place | ({"ascending": True} if self.ascending else {})

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return _Bucket(self, looking)

    def details(self) -> dict[str, Any]:
        return {
            "connection": self.connection,
            "prefix": self.prefix,
            "pattern": self.pattern,
            "seconds": self.seconds,
        }


class _Bucket(ArrivingFiles):
    use = "bucket"

    def __init__(self, trigger: BucketTrigger, looking: Looking) -> None:
        super().__init__(trigger, looking)
        self._prefix, self._ascending = trigger.prefix, trigger.ascending

    async def take(self, cursor: Json) -> Taken:
        if not self._ascending:
            return await super().take(cursor)
        await self.open()
        at = cursor if isinstance(cursor, dict) else {"after": ""}
        # A new trigger with `start: new` first walks past the files that are there, page by page.
        passing = self._trigger.start == "new" and "from" not in at
        found = await self.listed(at["after"])
        if not found:
            again = self._looking.clock.now() + timedelta(seconds=self._trigger.seconds)
            return Taken(cursor={**at, "from": at.get("from", at["after"])}, again_at=again)
        names = [] if passing else sorted(self.fitting(found))
        taken, arrivals = await self.taken(names, found)
        after = max(found) if len(taken) == len(names) else taken[-1]
        return Taken(tuple(arrivals), {**at, "after": after})

    async def listed(self, after: str | None = None) -> Mapping[str, str]:
        settings: S3Settings = self._opened.settings
        http, secrets = self._looking.services.use(HTTP), self._opened.secrets
        prefix = settings.prefix + self._prefix
        return await list_objects(http, settings, secrets, prefix, most=2 * MOST_FILES, after=after)

    async def fetched(self, name: str) -> bytes:
        http = self._looking.services.use(HTTP)
        return await fetch(http, self._opened.settings, self._opened.secrets, name)

    def where(self, name: str) -> str:
        return f"s3://{self._opened.settings.bucket}/{name}"
