"""Starts it for each file that appears or changes in a folder of this machine."""

import asyncio
from datetime import datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.core import Denied
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Taken, Trigger
from steward.runs import Json
from steward.tools import FOLDERS

_MOST_FILES: Final = 10_000


@TRIGGERS.register("folder")
class FolderTrigger(Trigger):
    title: ClassVar = "When a file arrives"
    starter: ClassVar = {"path": "/srv/incoming", "pattern": "*.csv"}

    type: Literal["folder"]
    name: Name = "folder"
    path: str = Field(
        min_length=1,
        max_length=1_000,
        description="A folder that the settings of this installation open to connections.",
    )
    pattern: str = Field("*", min_length=1, max_length=200, description="As in *.csv.")
    seconds: int = Field(10, ge=2, le=86_400, description="Seconds from one look to the next.")

    def place(self) -> Json:
        return {"path": self.path, "pattern": self.pattern}

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return _Folder(self, looking)

    def details(self) -> dict[str, Any]:
        return {"path": self.path, "pattern": self.pattern, "seconds": self.seconds}


class _Folder(Source):
    def __init__(self, trigger: FolderTrigger, looking: Looking) -> None:
        self._trigger = trigger
        self._looking = looking

    async def take(self, cursor: Json) -> Taken:
        found = await asyncio.to_thread(self._files)
        again = self._looking.clock.now() + timedelta(seconds=self._trigger.seconds)
        before = cursor if isinstance(cursor, dict) else {"seen": None, "last": {}}
        seen, last = before["seen"], before["last"]
        if seen is None:
            return Taken(cursor={"seen": found, "last": found}, again_at=again)
        # A file counts once it looks the same twice: until then somebody may still be writing it.
        settled = {
            name: mark
            for name, mark in found.items()
            if seen.get(name) != mark and last.get(name) == mark
        }
        arrivals = [self._arrival(name, mark) for name, mark in sorted(settled.items())]
        known = {name: mark for name, mark in seen.items() if name in found} | settled
        return Taken(tuple(arrivals), {"seen": known, "last": found}, again)

    def _files(self) -> dict[str, str]:
        folders = self._looking.services.use(FOLDERS)
        folder = folders.require_folder(self._trigger.path)
        found: dict[str, str] = {}
        for path in sorted(folder.iterdir()):
            if not fnmatch(path.name, self._trigger.pattern) or not _is_plain(path):
                continue
            status = path.stat()
            found[path.name] = f"{status.st_size}:{status.st_mtime_ns}"
            if len(found) > _MOST_FILES:
                raise Denied(
                    f"The folder holds more than {_MOST_FILES:,} files that fit. Narrow the pattern, "
                    "or move old ones elsewhere."
                )
        return found

    def _arrival(self, name: str, mark: str) -> Arrival:
        size, _, _ = mark.partition(":")
        path = str(Path(self._trigger.path) / name)
        return Arrival({"path": path, "name": name, "bytes": int(size)}, key=f"{name}:{mark}")


def _is_plain(path: Path) -> bool:
    """Links may lead out of the folder."""
    return path.is_file() and not path.is_symlink()
