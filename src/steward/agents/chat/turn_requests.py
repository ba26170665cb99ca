"""What a message asks for: checked against the project that it speaks of, and made the request of a run."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from steward.agents.chat._thread_rows import Attachment, Thread
from steward.agents.operating.equipment import READ_SKILL
from steward.agents.operating.roster import Roster
from steward.broker import Grant, Risk, Toolbox
from steward.core import Invalid, NotFound, Problem
from steward.identity import Access
from steward.runs import Json, RunRequest
from steward.store import Scope
from steward.workbench import Workbench

CHAT_PROGRAM: Final = "chat"
FORMAT: Final = 1
PRIORITY: Final = 10
"""Somebody sits there and waits: chat goes before other work."""
_LONGEST_RUN_TITLE: Final = 120


class TurnRequests:
    def __init__(
        self, workbench: Workbench, tools: Toolbox, roster: Roster, budget: Mapping[str, Any]
    ) -> None:
        """`budget` is what a turn may use when nobody says otherwise."""
        self._workbench = workbench
        self._tools = tools
        self._roster = roster
        self._budget = dict(budget)

    def planned(
        self,
        tools: frozenset[str],
        thread: Thread,
        message: str,
        parent: str | None,
        mentions: Sequence[str],
        attachments: Sequence[Attachment],
        extra: Mapping[str, Json],
    ) -> RunRequest:
        """The run that plans an answer; `extra` adds to its document."""
        return RunRequest(
            title=shortened(message, _LONGEST_RUN_TITLE),
            program=CHAT_PROGRAM,
            document={**_document(thread, message, parent, mentions, attachments), **extra},
            grant=Grant(tools, Risk.external_send, thread.branch).to_json(),
            budget=dict(self._budget),
            queue="llm",
            priority=PRIORITY,
        )

    def tools(self, scope: Scope, message: str) -> frozenset[str]:
        """What a turn may call: the tools that any agent may call, and operations of services that fit the message."""
        return frozenset(
            tool.name
            for tool in (*self._tools.listed(scope), *self._tools.suited(scope, message))
            if any(agent.may_call(tool.name, tool.risk) for agent in self._roster)
        ) | {READ_SKILL}

    def known_branch(self, access: Access, name: str) -> str:
        known = self._workbench.datasets.branches(access.scope, access.user_id)
        if name not in {branch.name for branch in known}:
            raise NotFound(f"There is no branch {name!r} in this project.")
        return name

    def attached(self, access: Access, uploads: Sequence[str]) -> tuple[Attachment, ...]:
        files = []
        for number, upload_id in enumerate(uploads):
            try:
                # Uploads lie in a folder of their project: one of another project is not found.
                upload = self._workbench.bringing.get(access.scope, upload_id)
            except NotFound:
                raise _wrong("attachments", number, f"there is no upload {upload_id!r}") from None
            if upload.size is not None and upload.offset < upload.size:
                raise _wrong("attachments", number, f"{upload.name!r} has not arrived whole")
            files.append(Attachment(upload.id, upload.name, upload.offset))
        return tuple(files)

    def check_mentions(self, access: Access, branch: str, mentions: Sequence[str]) -> None:
        if not mentions:
            return
        workspace = self._workbench.datasets.workspace(access.scope, access.user_id)
        known = {dataset.name for dataset in workspace.datasets(branch)}
        for number, name in enumerate(mentions):
            if name not in known:
                raise _wrong("mentions", number, f"there is no dataset {name!r} on {branch!r}")


def _document(
    thread: Thread,
    message: str,
    parent: str | None,
    mentions: Sequence[str],
    attachments: Sequence[Attachment],
) -> dict[str, Json]:
    return {
        "format": FORMAT,
        "message": message,
        "thread_id": thread.id,
        "parent": parent,
        "mentions": list(mentions),
        "attachments": [
            {"upload": item.upload, "name": item.name, "size": item.size} for item in attachments
        ],
        "rows": thread.settings["rows"],
        "review": thread.settings["review"],
    }


def shortened(message: str, longest: int) -> str:
    """The beginning of a message in one line, cut between words where there are any."""
    words = " ".join(message.split())
    if len(words) <= longest:
        return words
    cut = words[: longest - 1]
    at = cut.rfind(" ")
    return (cut[:at] if at > longest // 2 else cut) + "…"


def _wrong(field: str, number: int, why: str) -> Invalid:
    return Invalid(
        f"The message cannot be sent: {why}.", problems=[Problem(f"/{field}/{number}", why)]
    )
