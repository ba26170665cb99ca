"""Starts it for each file that appears or changes in a folder of an SFTP server."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.connections import Desk, Opened, SftpSettings, fetch_file, list_folder, sftp_server
from steward.playbooks.trigger import TRIGGERS, Looking, Name, Source, Trigger
from steward.playbooks.triggers.arriving_files import (
    MOST_BYTES,
    MOST_FILES,
    ArrivingFiles,
    Pattern,
    Seconds,
)
from steward.playbooks.triggers.queues import Start
from steward.runs import Json


@TRIGGERS.register("sftp")
class SftpTrigger(Trigger):
    title: ClassVar = "When a file arrives on an SFTP server"
    starter: ClassVar = {"connection": "sftp", "pattern": "*.csv"}

    type: Literal["sftp"]
    name: Name = "sftp"
    connection: str = Field(
        min_length=1, max_length=100, description="Name of a connection to an SFTP folder."
    )
    pattern: Pattern = "*"
    start: Start = "new"
    seconds: Seconds = 60

    def place(self) -> Json:
        return {"connection": self.connection, "pattern": self.pattern}

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return _Folder(self, looking)

    def details(self) -> dict[str, Any]:
        return {"connection": self.connection, "pattern": self.pattern, "seconds": self.seconds}


class _Folder(ArrivingFiles):
    settles = True

    def __init__(self, trigger: SftpTrigger, looking: Looking) -> None:
        super().__init__(
            looking, start=trigger.start, pattern=trigger.pattern, seconds=trigger.seconds
        )
        self._trigger = trigger
        self._opened: Opened | None = None

    async def listed(self) -> Mapping[str, str]:
        self._opened = await asyncio.to_thread(self._open)
        settings: SftpSettings = self._opened.settings
        reached = sftp_server(settings, self._opened.secrets)
        http = self._looking.services["http"]
        return await list_folder(http, reached, settings.folder, 2 * MOST_FILES)

    async def fetched(self, name: str) -> bytes:
        assert self._opened is not None  # noqa: S101
        settings: SftpSettings = self._opened.settings
        reached = sftp_server(settings, self._opened.secrets)
        path = f"{settings.folder.rstrip('/')}/{name}"
        return await fetch_file(self._looking.services["http"], reached, path, MOST_BYTES)

    def where(self, name: str) -> str:
        assert self._opened is not None  # noqa: S101
        settings: SftpSettings = self._opened.settings
        return f"sftp://{settings.host}/{settings.folder.strip('/')}/{name}"

    def _open(self) -> Opened:
        """Again at every look: passwords and keys change."""
        desk: Desk = self._looking.services["connections"]
        scope = self._looking.scope
        return desk.open(scope, desk.named(scope, self._trigger.connection, "sftp"))
