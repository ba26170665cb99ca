"""Starts it for each object that appears or changes in a bucket of S3 or compatible storage."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.connections import Opened, S3Settings, fetch, list_objects
from steward.playbooks.trigger import TRIGGERS, Looking, Name, Source, Trigger
from steward.playbooks.triggers.arriving_files import MOST_FILES, ArrivingFiles, Pattern, Seconds
from steward.playbooks.triggers.queues import Start
from steward.runs import Json


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

    def place(self) -> Json:
        return {"connection": self.connection, "prefix": self.prefix, "pattern": self.pattern}

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
    _opened: Opened

    def __init__(self, trigger: BucketTrigger, looking: Looking) -> None:
        super().__init__(trigger, looking)
        self._prefix = trigger.prefix

    async def listed(self) -> Mapping[str, str]:
        self._opened = await self.opened()
        settings: S3Settings = self._opened.settings
        prefix = settings.prefix + self._prefix
        http = self._looking.services["http"]
        return await list_objects(http, settings, self._opened.secrets, prefix, most=2 * MOST_FILES)

    async def fetched(self, name: str) -> bytes:
        http = self._looking.services["http"]
        return await fetch(http, self._opened.settings, self._opened.secrets, name)

    def where(self, name: str) -> str:
        return f"s3://{self._opened.settings.bucket}/{name}"
