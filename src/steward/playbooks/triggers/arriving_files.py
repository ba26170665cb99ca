"""Files that arrive somewhere else, in a bucket or on a server: each is fetched once and becomes an upload."""

import asyncio
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Annotated, Final, Protocol

from pydantic import Field

from steward.connections import Opened, Use
from steward.core import Denied, NotFound, StewardError, TooLarge, Unavailable
from steward.playbooks.trigger import Arrival, Looking, Source, Taken
from steward.playbooks.triggers.queues import Start
from steward.runs import Json
from steward.tools import CONNECTIONS, WORKBENCH

MOST_FILES: Final = 10_000
MOST_BYTES: Final = 256 << 20
"""Of one file; a larger one is told of and not fetched."""
_MOST_AT_ONCE: Final = 200
_SECONDS_AT_ONCE: Final = 10.0
"""For which files are fetched before those that are there are stored."""
_LEFT_TO_PEOPLE: Final = 0.5

Pattern = Annotated[
    str, Field(min_length=1, max_length=200, description="Of the file's name, as in *.csv.")
]
Seconds = Annotated[int, Field(ge=10, le=86_400, description="Seconds from one look to the next.")]


class FilesTrigger(Protocol):
    @property
    def connection(self) -> str: ...
    @property
    def pattern(self) -> str: ...
    @property
    def start(self) -> Start: ...
    @property
    def seconds(self) -> int: ...


class ArrivingFiles(Source):
    """Knows files by name and mark. What it has not taken yet is not seen, so that nothing is passed over."""

    settles = False
    """Whether a file counts only once it looks the same twice: where it can be seen while it is still written."""

    use: Use
    """What the connection must be for."""

    _opened: Opened

    def __init__(self, trigger: FilesTrigger, looking: Looking) -> None:
        self._looking = looking
        self._trigger = trigger
        self._found: dict[str, str] | None = None
        """Of the listing whose files are being taken: it is asked for once, however many there are."""

    async def open(self) -> None:
        """Again before every batch: passwords and keys change."""
        desk = self._looking.services.use(CONNECTIONS)
        scope = self._looking.scope

        def opened() -> Opened:
            return desk.open(scope, desk.named(scope, self._trigger.connection, self.use))

        self._opened = await asyncio.to_thread(opened)

    @abstractmethod
    async def listed(self) -> Mapping[str, str]:
        """All files by name, each with a mark that begins with its size and a colon and changes when it does."""

    @abstractmethod
    async def fetched(self, name: str) -> bytes:
        """The file's content; NotFound where it is gone meanwhile, TooLarge where it has grown."""

    @abstractmethod
    def where(self, name: str) -> str:
        """The file's whole address, for people."""

    async def take(self, cursor: Json) -> Taken:
        await self.open()
        if self._found is None:
            self._found = self.fitting(await self.listed())
        found = self._found
        again = self._looking.clock.now() + timedelta(seconds=self._trigger.seconds)
        before = cursor if isinstance(cursor, dict) else None
        if before is None and self._trigger.start == "new":
            self._found = None
            return Taken(cursor={"seen": found, "last": {}}, again_at=again)
        seen, last = (before["seen"], before["last"]) if before else ({}, {})
        fresh = [
            name
            for name, mark in sorted(found.items())
            if seen.get(name) != mark and (not self.settles or last.get(name) == mark)
        ]
        taken, arrivals = await self.taken(fresh, found)
        known = {name: mark for name, mark in seen.items() if name in found}
        known |= {name: found[name] for name in taken}
        if len(taken) < len(fresh):
            # The rest of this listing is compared with the listing before it, too.
            return Taken(tuple(arrivals), {"seen": known, "last": last})
        self._found = None
        # Only of files that are not taken yet: the cursor is written again and again.
        unsure = {name: mark for name, mark in found.items() if known.get(name) != mark}
        return Taken(tuple(arrivals), {"seen": known, "last": unsure}, again)

    async def taken(
        self, names: Sequence[str], marks: Mapping[str, str]
    ) -> tuple[list[str], list[Arrival]]:
        """The first of these files, as many as fit into one batch, with what came of them."""
        clock, taken, arrivals = self._looking.clock, list[str](), list[Arrival]()
        until = clock.monotonic() + _SECONDS_AT_ONCE
        for name in names[:_MOST_AT_ONCE]:
            try:
                arrival = await self._arrival(name, marks[name])
            except StewardError:
                # What is there is stored first. The next batch meets the failure again, and says so.
                if not taken:
                    raise
                break
            taken.append(name)
            arrivals += [arrival] if arrival else []
            if clock.monotonic() >= until:
                break
        return taken, arrivals

    def fitting(self, files: Mapping[str, str]) -> dict[str, str]:
        found = {
            name: mark
            for name, mark in files.items()
            if fnmatch(PurePosixPath(name).name, self._trigger.pattern)
        }
        if len(found) > MOST_FILES:
            raise Denied(
                f"There are more than {MOST_FILES:,} files that fit. Narrow the pattern or the folder, or move old files "
                "elsewhere."
            )
        return found

    async def _arrival(self, name: str, mark: str) -> Arrival | None:
        size = int(mark.partition(":")[0])
        data: dict[str, Json] = {
            "path": self.where(name),
            "name": PurePosixPath(name).name,
            "bytes": size,
        }
        key = f"{self.where(name)}:{mark}"
        try:
            content = await self.fetched(name) if size <= MOST_BYTES else None
        except NotFound:
            # Deleted between the two questions.
            return None
        except TooLarge:
            content = None
        if content is None:
            said = f"The file has {size:,} bytes. Steward fetches {MOST_BYTES:,} at most."
            return Arrival(
                {**data, "upload": None}, key, held=f"{said} Run it without, or drop it."
            )
        upload = await asyncio.to_thread(self._kept, PurePosixPath(name).name, content)
        return Arrival({**data, "upload": upload}, key)

    def _kept(self, name: str, content: bytes) -> str:
        bench = self._looking.services.use(WORKBENCH)
        try:
            upload = bench.bringing.take(
                self._looking.scope, name, [content], reserve=_LEFT_TO_PEOPLE
            )
        except TooLarge:
            raise Unavailable(
                "Too many files wait to be used. Steward goes on when older ones have expired."
            ) from None
        return upload.id
