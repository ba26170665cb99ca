"""Starts it for each message that people write in the project's chat."""

from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.agents import Threads
from steward.core import Event, Service
from steward.playbooks.log_source import LogSource, kind_of
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Trigger

THREADS: Final = Service[Threads]("threads", "Reading chat messages")
_BEGUN: Final = frozenset({"run.queued", "run.waiting"})
"""A message is stored together with the run that answers it, which is told as one of these."""


@TRIGGERS.register("chat_message")
class ChatMessageTrigger(Trigger):
    title: ClassVar = "When somebody writes in the chat"
    starter: ClassVar = {"contains": "@orders"}

    type: Literal["chat_message"]
    name: Name = "message"
    contains: str = Field(
        "",
        max_length=200,
        description="Only messages with this text, in upper or lower case; empty: every message.",
    )

    def first_look(self, now: datetime) -> datetime:
        return now

    def place(self) -> Any:
        return {}

    def source(self, looking: Looking) -> Source:
        return LogSource(looking, lambda event: self._read(looking, event))

    def _read(self, looking: Looking, event: Event) -> Arrival | None:
        if kind_of(event) not in _BEGUN:
            return None
        threads = looking.services.use(THREADS)
        turn = threads.turns.said_by(looking.scope, event.subject)
        if turn is None:
            return None
        if self.contains.casefold() not in turn.message.casefold():
            return None
        data = {
            "text": turn.message,
            "thread": turn.thread_id,
            "run": turn.run_id,
            "by": turn.created_by,
            "attachments": [
                {"name": each.name, "bytes": each.size, "upload": each.upload}
                for each in turn.attachments
            ],
        }
        return Arrival(data, key=turn.run_id)

    def details(self) -> dict[str, Any]:
        return {"contains": self.contains} if self.contains else {}
