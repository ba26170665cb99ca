"""Attached files become datasets."""

import re
from pathlib import PurePosixPath
from typing import Final

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.request import Ask
from steward.agents.rules.targets import free_name

_ASKED: Final = ("load", "import", "ingest", "upload", "read", "add", "bring in", "open", "attached", "file", "files")  # fmt: skip
_MOST: Final = 5


def plan(ask: Ask) -> Draft | None:
    if not ask.task.attachments or (ask.tokens and not ask.says(*_ASKED)):
        return None
    draft = Draft(goal_of(ask) if ask.tokens else "Load the attached files")
    taken: set[str] = set()
    for number, (upload, file) in enumerate(ask.task.attachments[:_MOST], 1):
        base = re.sub(r"[^\w ()-]+", "_", PurePosixPath(file).stem).strip("_ ") or "data"
        name = free_name(ask, base, longest=120)
        while name.casefold() in taken:
            name += " (2)"
        taken.add(name.casefold())
        added = draft.add(
            ask, f"load_{number}", f"Load {file} as {name}", "ingest", {"dataset": name, "upload": upload},
            reason="The file was attached",
        )  # fmt: skip
        if not added:
            return None
    return draft
