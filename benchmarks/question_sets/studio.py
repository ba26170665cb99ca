"""A real Steward in a folder, used as a person uses it: files are uploaded and loaded, questions are asked in chat."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from starlette.testclient import TestClient

from steward.app import Steward, open_steward
from steward.core import MovableClock, load_settings
from steward.definitions import Definitions, to_entries
from steward.models import Lineup
from steward.runs.worker import WorkerThread
from steward.testing import Installation
from steward.testing.installation import fast_passwords
from steward.trace.logs import configure_logs

Status = Literal["fact", "asked", "refused", "failed"]
_GIVEN: dict[str, Status] = {"fact": "fact", "proposal": "asked", "refused": "refused"}
_GOING = {"queued", "running"}
_FAILED = {"failed", "cancelled", "rolled_back"}
_SECONDS = 1_800
_MARKS = {"point": "scatter", "circle": "scatter", "arc": "pie", "area": "line", "rect": "heatmap"}


@dataclass(frozen=True)
class Reply:
    """What a person sees after a question."""

    status: Status
    text: str
    rows: list[list[Any]]
    rows_in_all: int
    chart: str | None
    seconds: float


def status_of(turn: Mapping[str, Any]) -> Status:
    """How the answer is given: as a fact, as a proposal or question to the person, not at all."""
    if turn["status"] in _FAILED:
        return "failed"
    if turn["status"] != "done":
        return "asked"
    if turn["reading"] is not None:
        return _GIVEN[turn["reading"]["status"]]
    return "fact" if _shown(turn) or any(map(_charts, _calls(turn))) else "refused"


def _calls(turn: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [call for step in turn["steps"] for call in step["calls"] if call["state"] == "done"]


def _charts(call: Mapping[str, Any]) -> list[str]:
    """Digests of the charts that a call made."""
    return [each["digest"] for each in call["artifacts"] if "vegalite" in each["media_type"]]


def _shown(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The last table that the answer shows."""
    for call in reversed(_calls(turn)):
        value = call["value"]
        if isinstance(value, dict) and value.get("columns") and isinstance(value.get("rows"), list):
            return value
    return {}


def reply_of(turn: Mapping[str, Any], chart: Mapping[str, Any] | None) -> Reply:
    shown = _shown(turn)
    if not shown and chart:
        shown = {"rows": chart.get("data", {}).get("values", [])}
    rows = shown.get("rows", [])
    return Reply(
        status=status_of(turn),
        text=turn["answer"] or "",
        rows=[list(row.values()) if isinstance(row, dict) else row for row in rows],
        rows_in_all=shown.get("rows_in_all") or len(rows),
        chart=_kind(chart) if chart else None,
        seconds=turn["cost"]["seconds"],
    )


def _kind(chart: Mapping[str, Any]) -> str:
    """The kind of a chart, by the mark of its Vega-Lite specification."""
    layers = chart.get("layer") or chart.get("hconcat") or chart.get("vconcat") or [chart]
    mark = layers[0].get("mark", "")
    kind = str(mark.get("type", "") if isinstance(mark, dict) else mark)
    is_binned = '"bin"' in json.dumps(layers[0].get("encoding", {}))
    return "histogram" if is_binned else _MARKS.get(kind, kind)


@dataclass(frozen=True)
class Said:
    """A turn of a conversation as the API tells it; it can be kept and judged again."""

    thread: str
    turn: dict[str, Any]
    chart: dict[str, Any] | None

    @property
    def reply(self) -> Reply:
        return reply_of(self.turn, self.chart)


class Studio:
    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._client: TestClient = installation.owner.client

    def project(
        self,
        name: str,
        files: Mapping[str, Path],
        reading: Mapping[str, dict[str, Any]] = MappingProxyType({}),
    ) -> str:
        """A new project with a dataset from each file, read as `reading` says; its address in the API."""
        address = f"/api/v1/projects/{self._installation.project(name)}"
        for dataset, path in files.items():
            self._load(address, dataset, path, reading.get(dataset))
        return address

    def _load(self, project: str, dataset: str, path: Path, reading: dict[str, Any] | None) -> None:
        content = path.read_bytes()
        started = self._post(f"{project}/uploads", {"name": path.name, "size": len(content)})
        upload = f"{project}/uploads/{started['id']}"
        headers = {"Upload-Offset": "0", "Content-Type": "application/octet-stream"}
        self._client.patch(upload, content=content, headers=headers).raise_for_status()
        options = {"options": reading} if reading else {}
        self._finished(project, self._post(f"{upload}/ingest", {"dataset": dataset, **options}))
        profile = self._get(f"{project}/datasets/{dataset}/profile")
        if profile["run"] is not None:
            self._finished(project, profile["run"])

    def define(self, project: str, definitions: Mapping[str, Any]) -> None:
        """Writes definitions as a person who confirms them at once."""
        entries = to_entries(Definitions.model_validate(definitions))
        changes = [
            {"entry": entry, "value": {**value, "state": "confirmed"}}
            for entry, value in entries.items()
        ]
        self._decide(f"{project}/definitions/changes", {"changes": changes})

    def confirm_proposals(self, project: str) -> None:
        """Confirms all definitions that Steward proposes."""
        self._decide(f"{project}/definitions/confirm", {})

    def _decide(self, address: str, body: Mapping[str, Any]) -> None:
        answer = self._client.post(address, json=dict(body), headers={"If-Match": '"0"'})
        if answer.is_error:
            raise SystemExit(f"{address}: {answer.text}")

    def ask(self, project: str, message: str, thread: str | None = None) -> Said:
        """Asks in a thread, or in a new one, and waits for the answer or for a question back."""
        body = {"message": message, **({"thread_id": thread} if thread else {})}
        started = self._post(f"{project}/chat", body)
        turn, thread = started["turn"], started["thread_id"]
        until = time.monotonic() + _SECONDS
        while turn["status"] in _GOING and time.monotonic() < until:
            time.sleep(0.1)
            turn = self._get(f"{project}/threads/{thread}/turns/{started['run_id']}")
        digests = [digest for call in _calls(turn) for digest in _charts(call)]
        run = f"{project}/runs/{started['run_id']}"
        # A chart is a file that a step made, or part of the answer.
        drawn = (turn.get("chart") or {}).get("spec")
        chart = self._get(f"{run}/artifacts/{digests[-1]}") if digests else drawn
        return Said(thread, turn, chart)

    def _finished(self, project: str, run: dict[str, Any]) -> None:
        until = time.monotonic() + _SECONDS
        while run["status"] in _GOING and time.monotonic() < until:
            time.sleep(0.05)
            run = self._get(f"{project}/runs/{run['id']}")
        if run["status"] != "done":
            raise SystemExit(f"{run.get('title')} did not succeed: {run}")

    def _get(self, address: str) -> dict[str, Any]:
        answer = self._client.get(address)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def _post(self, address: str, body: Mapping[str, Any]) -> dict[str, Any]:
        answer = self._client.post(address, json=dict(body))
        if answer.is_error:
            raise SystemExit(f"{address}: {answer.text}")
        found: dict[str, Any] = answer.json()
        return found


@contextmanager
def open_studio(home: Path, models: Lineup | None = None) -> Iterator[Studio]:
    """A Steward without a model, or with those given."""
    settings = load_settings(
        home=home, http={"requests_per_minute": 1_000_000}, log={"level": "error"}
    )
    configure_logs(settings.log)
    steward: Steward = open_steward(settings, passwords=fast_passwords(), models=models)
    installation = Installation(steward, MovableClock(datetime.now(UTC)))
    worker = WorkerThread(steward.runs.worker())
    worker.start()
    try:
        yield Studio(installation)
    finally:
        worker.stop()
        installation.close()
