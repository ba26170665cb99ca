"""Events have the shape of CloudEvents 1.0."""

import json
from datetime import UTC, datetime, timedelta, timezone

from steward.core import Event


def _event(time: datetime) -> Event:
    return Event("evt_1", "org.steward.run.started", "/projects/p", "run_1", time, {"n": 1}, 7)


def test_the_shape() -> None:
    shown = _event(datetime(2026, 3, 2, 9, 0, 0, 250_000, tzinfo=UTC)).as_cloudevent()
    assert shown == {
        "specversion": "1.0",
        "id": "evt_1",
        "type": "org.steward.run.started",
        "source": "/projects/p",
        "subject": "run_1",
        "time": "2026-03-02T09:00:00.250000Z",
        "datacontenttype": "application/json",
        "data": {"n": 1},
    }
    assert json.loads(json.dumps(shown)) == shown


def test_the_time_keeps_its_offset() -> None:
    there = datetime(2026, 3, 2, 9, 0, tzinfo=timezone(timedelta(hours=1)))
    assert _event(there).as_cloudevent()["time"] == "2026-03-02T09:00:00+01:00"
