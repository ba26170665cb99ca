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
from steward.runs.worker import WorkerThread
from steward.testing import Installation
from steward.testing.installation import fast_passwords
from steward.trace.logs import configure_logs

Status = Literal["fact", "asked", "refused", "failed"]
_OVER = {"done", "failed", "cancelled", "rolled_back"}
_SECONDS = 120
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


def status_of(chat: Mapping[str, Any]) -> Status:
    """How the answer is given: as a fact, as a proposal or question to the person, not at all."""
    if chat["status"] == "failed":
        return "failed"
    if chat["status"] != "done":
        return "asked"
    reading = chat["turn"].get("reading")
    if reading is not None:
        told: dict[str, Status] = {"fact": "fact", "proposal": "asked", "refused": "refused"}
        return told[reading["status"]]
    return "fact" if _shown(chat) or any(map(_has_chart, _calls(chat))) else "refused"


def _calls(chat: Mapping[str, Any]) -> list[dict[str, Any]]:
    steps = (chat.get("turn") or {}).get("steps", ())
    return [call for step in steps for call in step["calls"] if call["state"] == "done"]


def _has_chart(call: Mapping[str, Any]) -> bool:
    return any("vegalite" in artifact["media_type"] for artifact in call["artifacts"])


def _shown(chat: Mapping[str, Any]) -> dict[str, Any]:
    """The last table that the answer shows."""
    for call in reversed(_calls(chat)):
        value = call["value"]
        if isinstance(value, dict) and value.get("columns") and isinstance(value.get("rows"), list):
            return value
    return {}


def reply_of(chat: Mapping[str, Any], chart: Mapping[str, Any] | None, seconds: float) -> Reply:
    shown = _shown(chat)
    if not shown and chart:
        shown = {"rows": chart.get("data", {}).get("values", [])}
    rows = shown.get("rows", [])
    return Reply(
        status=status_of(chat),
        text=chat.get("answer") or "",
        rows=[list(row.values()) if isinstance(row, dict) else row for row in rows],
        rows_in_all=shown.get("rows_in_all") or len(rows),
        chart=_kind(chart) if chart else None,
        seconds=seconds,
    )


def _kind(chart: Mapping[str, Any]) -> str:
    """The kind of a chart, by the mark of its Vega-Lite specification."""
    layers = chart.get("layer") or chart.get("hconcat") or chart.get("vconcat") or [chart]
    mark = layers[0].get("mark", "")
    kind = str(mark.get("type", "") if isinstance(mark, dict) else mark)
    is_binned = '"bin"' in json.dumps(layers[0].get("encoding", {}))
    return "histogram" if is_binned else _MARKS.get(kind, kind)


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
        self._client.patch(
            upload, content=content, headers={"Upload-Offset": "0"}
        ).raise_for_status()
        options = {"options": reading} if reading else {}
        self._finished(project, self._post(f"{upload}/ingest", {"dataset": dataset, **options}))
        profile = self._get(f"{project}/datasets/{dataset}/profile")
        if profile["run"] is not None:
            self._finished(project, profile["run"])

    def ask(self, project: str, message: str, thread: str | None = None) -> tuple[Reply, str]:
        """The reply, and the thread in which to go on."""
        began = time.perf_counter()
        body = {"message": message, **({"thread_id": thread} if thread else {})}
        said = self._post(f"{project}/chat", body)
        took = time.perf_counter() - began
        return reply_of(said, self._chart(project, said), took), said["thread_id"]

    def _chart(self, project: str, chat: Mapping[str, Any]) -> dict[str, Any] | None:
        """The Vega-Lite specification of the last chart of an answer."""
        for call in reversed(_calls(chat)):
            for artifact in call["artifacts"]:
                if "vegalite" in artifact["media_type"]:
                    run = f"{project}/runs/{chat['run_id']}"
                    return self._get(f"{run}/artifacts/{artifact['digest']}")
        return None

    def _finished(self, project: str, run: dict[str, Any]) -> None:
        until = time.monotonic() + _SECONDS
        while run["status"] not in _OVER and time.monotonic() < until:
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
def open_studio(home: Path) -> Iterator[Studio]:
    settings = load_settings(
        home=home, http={"requests_per_minute": 1_000_000}, log={"level": "error"}
    )
    configure_logs(settings.log)
    steward: Steward = open_steward(settings, passwords=fast_passwords())
    installation = Installation(steward, MovableClock(datetime.now(UTC)))
    worker = WorkerThread(steward.runs.worker())
    worker.start()
    try:
        yield Studio(installation)
    finally:
        worker.stop()
        installation.close()
