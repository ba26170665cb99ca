"""Datasets, and files that calls made, as resources; the rows of a dataset are read by a call of the session."""

import asyncio
import base64
import json
import re
from typing import Any, Final
from urllib.parse import quote, unquote

import mcp_types as types

from steward.app import Steward
from steward.core import Conflict, NotFound, TooLarge
from steward.flows import CALL, Outcome
from steward.identity import Access
from steward.mcp.caller import Caller
from steward.mcp.contents import is_text, uri_of
from steward.mcp.failures import no_such
from steward.runs import Status, calls_of

DATASETS: Final = "steward://datasets/"
RUNS: Final = "steward://runs/"
ROWS: Final = 200
"""How many rows a read returns; the tool `preview` turns pages."""
_MOST_BYTES: Final = 8 << 20
_RECENT_RUNS: Final = 50
_ARTIFACT: Final = re.compile(r"steward://runs/(run_[0-9a-z]{26})/artifacts/([0-9a-f]{64})")


class Resources:
    def __init__(self, steward: Steward) -> None:
        self._steward = steward

    def listed(self, access: Access) -> list[types.Resource]:
        datasets = [
            types.Resource(
                uri=f"{DATASETS}{quote(card.name, safe='')}",
                name=card.name,
                description=f"Dataset with {card.rows:,} rows and {len(card.columns)} columns.",
                mime_type="application/json",
            )
            for card in self._steward.workbench.datasets.page(access.scope, access.user_id)
        ]
        return datasets + self._files(access)

    def _files(self, access: Access) -> list[types.Resource]:
        """Files that the person's clients made lately."""
        runs = self._steward.runs
        done = runs.records.listed(
            access.scope,
            statuses=[Status.done.value],
            author=access.user_id,
            program=CALL,
            limit=_RECENT_RUNS,
        )
        sessions = self._steward.governing.client_sessions
        found = [(run, artifact) for run in done for artifact in sessions.outcome(run).artifacts]
        return [
            types.Resource(
                uri=uri_of(run.id, artifact),
                name=artifact["name"],
                description=f"File made by {run.title} ({run.id}).",
                mime_type=artifact["media_type"],
                size=artifact["size"],
            )
            for run, artifact in found
        ]

    @staticmethod
    def templates() -> list[types.ResourceTemplate]:
        return [
            types.ResourceTemplate(
                uri_template=f"{DATASETS}{{name}}",
                name="dataset",
                description=f"The columns and the first {ROWS} rows of a dataset.",
                mime_type="application/json",
            ),
            types.ResourceTemplate(
                uri_template=f"{RUNS}{{run_id}}/artifacts/{{digest}}",
                name="artifact",
                description="A file that one of your calls made.",
            ),
        ]

    async def read(self, caller: Caller, uri: str) -> types.ReadResourceResult:
        if uri.startswith(DATASETS):
            return await self._rows(caller, uri)
        match = _ARTIFACT.fullmatch(uri)
        if match is None:
            raise no_such("resource", uri)
        return await asyncio.to_thread(self._file, caller.access, uri, *match.groups())

    async def _rows(self, caller: Caller, uri: str) -> types.ReadResourceResult:
        name = unquote(uri.removeprefix(DATASETS))
        sessions = self._steward.governing.client_sessions
        arguments = {"dataset": name, "limit": ROWS}
        run = await sessions.call(caller.access, caller.client, "preview", arguments)
        if not run.status.is_final:
            raise Conflict(
                f"Reading this needs approval, so nothing was read yet. It waits in the inbox as {run.id}.",
                code="waits-for-approval",
            )
        found: Outcome = await asyncio.to_thread(sessions.outcome, run)
        text = json.dumps(found.value, ensure_ascii=False)
        about: dict[str, Any] = {"run_id": run.id, "trusted": found.labels.trusted}
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(
                    uri=uri, mime_type="application/json", text=text, _meta=about
                )
            ]
        )

    def _file(self, access: Access, uri: str, run_id: str, digest: str) -> types.ReadResourceResult:
        steward = self._steward
        run = steward.governing.client_sessions.own_run(access, run_id)
        entries = steward.runs.journal.entries(run.scope, run.id)
        made = [each for call in calls_of(entries, steward.runs.payload) for each in call.artifacts]
        artifact = next((each for each in made if each["digest"] == digest), None)
        if artifact is None:
            raise NotFound("The run made no such file.")
        if artifact["size"] > _MOST_BYTES:
            raise TooLarge(
                f"The file has {artifact['size']:,} bytes; {_MOST_BYTES:,} can be read this way. "
                "Download it on the page of the run."
            )
        content = b"".join(steward.blobs.read(digest))
        media = str(artifact["media_type"])
        if is_text(media):
            text = content.decode("utf-8", "replace")
            shown: Any = types.TextResourceContents(uri=uri, mime_type=media, text=text)
        else:
            blob = base64.b64encode(content).decode()
            shown = types.BlobResourceContents(uri=uri, mime_type=media, blob=blob)
        return types.ReadResourceResult(contents=[shown])
