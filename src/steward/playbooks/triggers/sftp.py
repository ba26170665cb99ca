"""Starts it for each file that appears or changes in a folder of an SFTP server."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.connections import Opened, SftpSettings, fetch_file, list_folder, sftp_server
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

    use = "sftp"
    _opened: Opened

    async def listed(self) -> Mapping[str, str]:
        self._opened = await self.opened()
        settings: SftpSettings = self._opened.settings
        reached = sftp_server(settings, self._opened.secrets)
        http = self._looking.services["http"]
        return await list_folder(http, reached, settings.folder, 2 * MOST_FILES)

    async def fetched(self, name: str) -> bytes:
        settings: SftpSettings = self._opened.settings
        reached = sftp_server(settings, self._opened.secrets)
        path = f"{settings.folder.rstrip('/')}/{name}"
        return await fetch_file(self._looking.services["http"], reached, path, MOST_BYTES)

    def where(self, name: str) -> str:
        settings: SftpSettings = self._opened.settings
        return f"sftp://{settings.host}/{settings.folder.strip('/')}/{name}"
