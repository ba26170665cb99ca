"""Starts it for each file that appears or changes in a folder of an SFTP server."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.connections import SftpServer, SftpSession, SftpSettings, sftp_server
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
from steward.tools import HTTP


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

    def __init__(self, trigger: SftpTrigger, looking: Looking) -> None:
        super().__init__(trigger, looking)
        self._server: SftpServer | None = None
        self._session: SftpSession | None = None

    async def open(self) -> None:
        await super().open()
        server = sftp_server(self._opened.settings, self._opened.secrets)
        if server != self._server:
            await self.close()
            self._server = server
            self._session = SftpSession(self._looking.services.use(HTTP), server)

    async def close(self) -> None:
        if self._session is not None:
            await asyncio.to_thread(self._session.close)

    async def listed(self) -> Mapping[str, str]:
        folder = self._opened.settings.folder
        return await self._asked().list_folder(folder, 2 * MOST_FILES)

    async def fetched(self, name: str) -> bytes:
        path = f"{self._opened.settings.folder.rstrip('/')}/{name}"
        return await self._asked().fetch_file(path, MOST_BYTES)

    def _asked(self) -> SftpSession:
        if self._session is None:
            raise RuntimeError("opened first")
        return self._session

    def where(self, name: str) -> str:
        settings: SftpSettings = self._opened.settings
        return f"sftp://{settings.host}/{settings.folder.strip('/')}/{name}"
