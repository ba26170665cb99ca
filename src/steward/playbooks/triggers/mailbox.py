"""Starts it for each mail that arrives in a folder of a mailbox; attachments become uploads."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.connections import (
    MOST_MAIL_BYTES,
    Folder,
    Mailbox,
    ReceivedFile,
    ReceivedMail,
    Stored,
    open_mailbox,
    read_head,
    read_mail,
)
from steward.core import TooLarge, Unavailable
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Taken, Trigger
from steward.playbooks.triggers.queues import Start
from steward.runs import Json
from steward.tools import CONNECTIONS, HTTP, WORKBENCH

_MOST: Final = 20
_MOST_AT_ONCE: Final = 2 * MOST_MAIL_BYTES
_LEFT_TO_PEOPLE: Final = 0.5


@TRIGGERS.register("email")
class EmailTrigger(Trigger):
    title: ClassVar = "When a mail arrives"
    starter: ClassVar = {"connection": "mailbox"}

    type: Literal["email"]
    name: Name = "email"
    connection: str = Field(
        min_length=1, max_length=100, description="Name of a connection to a mailbox (IMAP)."
    )
    folder: str = Field("INBOX", min_length=1, max_length=300)
    start: Start = "new"
    then: Literal["leave", "mark_read"] = Field(
        "leave",
        description="What happens to the mail in the mailbox once it is stored: it is left as it is, or marked "
        "as read.",
    )
    seconds: int = Field(
        60,
        ge=10,
        le=86_400,
        description="Seconds from one look to the next where the server does not tell when mail arrives.",
    )

    def place(self) -> Json:
        return {"connection": self.connection, "folder": self.folder}

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return _Reader(self, looking)

    def details(self) -> dict[str, Any]:
        return {"connection": self.connection, "folder": self.folder}


class _Reader(Source):
    def __init__(self, trigger: EmailTrigger, looking: Looking) -> None:
        self._trigger = trigger
        self._looking = looking
        self._mailbox: Mailbox | None = None

    async def take(self, cursor: Json) -> Taken:
        trigger, looking = self._trigger, self._looking
        if self._mailbox is None:
            self._mailbox = await self._open()
        mailbox = self._mailbox
        folder = await mailbox.look(trigger.folder, change=trigger.then == "mark_read")
        first, at = await self._place(mailbox, folder, cursor)
        if first >= folder.next_number and looking.patience and mailbox.tells:
            await mailbox.wait(looking.patience)
            folder = await mailbox.look(trigger.folder, change=trigger.then == "mark_read")
        numbers, following = await mailbox.numbers(first, folder, _MOST)
        found, following = await _fetched(mailbox, numbers, following)
        arrivals = [await self._arrival(each) for each in found]
        newest = max([*(each.arrived_at for each in found if each.arrived_at is not None), at])
        after = {
            "validity": folder.validity,
            "next": following,
            "at": newest.isoformat(),
        }
        is_over = not found and following >= folder.next_number
        again = looking.clock.now() + timedelta(seconds=trigger.seconds)
        wait = again if is_over and not mailbox.tells else None
        return Taken(tuple(arrivals), after, wait, receipt=[each.number for each in found])

    async def _open(self) -> Mailbox:
        looking = self._looking
        desk = looking.services.use(CONNECTIONS)
        connection = await asyncio.to_thread(
            desk.named, looking.scope, self._trigger.connection, "mailbox"
        )
        opened = await asyncio.to_thread(desk.open, looking.scope, connection)
        http = looking.services.use(HTTP)
        return await open_mailbox(http, opened.settings, opened.secrets, opened.service_line)

    async def _place(self, mailbox: Mailbox, folder: Folder, cursor: Json) -> tuple[int, datetime]:
        """The first message that was not seen, and when the newest one arrived that was."""
        if cursor is None:
            first = 1 if self._trigger.start == "all" else folder.next_number
            return first, self._looking.clock.now()
        at = datetime.fromisoformat(cursor["at"])
        if cursor["validity"] == folder.validity:
            return int(cursor["next"]), at
        # The server gave all messages new numbers. Those of the last day are taken again and known by their content.
        return await mailbox.since((at - timedelta(days=1)).date(), folder), at

    async def _arrival(self, stored: Stored) -> Arrival:
        if stored.is_whole:
            mail = await asyncio.to_thread(read_mail, stored.content)
        else:
            said = f"It has {stored.size:,} bytes; Steward reads {MOST_MAIL_BYTES:,} at most."
            mail = read_head(stored.content, said)
        files = [await asyncio.to_thread(self._kept, each) for each in mail.files]
        held = None
        if mail.problem is not None:
            held = f"{mail.problem} Steward kept its headers only. Run it if that is enough, or drop it."
        key = f"mail:{sha256(stored.content).hexdigest()[:32]}"
        return Arrival(_data(mail, files, stored), key, {"folder": self._trigger.folder}, held=held)

    def _kept(self, file: ReceivedFile) -> Json:
        bench = self._looking.services.use(WORKBENCH)
        try:
            upload = bench.bringing.take(
                self._looking.scope, file.name, [file.content], reserve=_LEFT_TO_PEOPLE
            )
        except TooLarge:
            raise Unavailable(
                "Too many attachments wait to be used. Steward goes on when older ones have expired."
            ) from None
        return {
            "name": upload.given_name,
            "type": file.media_type,
            "bytes": len(file.content),
            "upload": upload.id,
        }

    async def settle(self, taken: Taken) -> None:
        if self._trigger.then == "mark_read" and self._mailbox is not None:
            await self._mailbox.mark_read(taken.receipt or ())

    async def close(self) -> None:
        mailbox, self._mailbox = self._mailbox, None
        if mailbox is not None:
            await mailbox.close()


async def _fetched(
    mailbox: Mailbox, numbers: Sequence[int], following: int
) -> tuple[list[Stored], int]:
    """The messages, as many as go into memory; and where to go on."""
    sizes = await mailbox.sizes(numbers)
    found: list[Stored] = []
    for number in numbers:
        if number not in sizes:
            # Deleted between the two questions.
            continue
        size, arrived_at = sizes[number]
        if found and sum(len(each.content) for each in found) + size > _MOST_AT_ONCE:
            return found, number
        each = await mailbox.fetch(number, size, _aware(arrived_at))
        if each is not None:
            found.append(each)
    return found, following


def _data(mail: ReceivedMail, files: Sequence[Json], stored: Stored) -> dict[str, Json]:
    name, address = mail.sender
    return {
        "from": {"name": name, "address": address},
        "to": list(mail.to),
        "cc": list(mail.cc),
        "reply_to": list(mail.reply_to),
        "subject": mail.headers.get("subject", ""),
        "message_id": mail.headers.get("message-id"),
        "in_reply_to": mail.headers.get("in-reply-to"),
        "sent_at": mail.sent_at,
        "automatic": mail.is_automatic,
        "text": mail.text,
        "attachments": list(files),
        "number": stored.number,
    }


def _aware(moment: datetime | None) -> datetime | None:
    """The library gives times of this machine, without a zone."""
    return None if moment is None else moment.astimezone(UTC)
