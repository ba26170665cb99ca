"""The runs behind a figure: from any figure, people come to the list of what it counts."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.observe._tables import facts
from steward.observe.facts import hour_of
from steward.runs import runs_table

_F: Final = facts.c
_RUNS: Final = runs_table.c
UsedKind = Literal["run", "model", "tool", "agent", "connector"]


@dataclass(frozen=True)
class Counted:
    """What a figure counts. Each part that is given narrows it further."""

    since: datetime | None = None
    until: datetime | None = None
    """Whole hours, as figures are kept: what happened from the hour of `since` to before the hour of `until`."""
    flow: str | None = None
    revision: int | None = None
    used: UsedKind | None = None
    """Without it, runs count that a person or a trigger started; otherwise all that used something of this kind, or
    with `run` all, those included that other runs started."""
    name: str | None = None
    """Of what was used."""
    agent: str | None = None
    """For whom it was used."""
    failed: bool = False
    """Only runs that failed, or whose use of it failed."""
    code: str | None = None
    """How they, or their use of it, failed."""

    def condition(self) -> sa.ColumnElement[bool] | None:
        """Of runs and their facts, of which a run may have several; None where nothing is given."""
        if self == Counted():
            return None
        held: list[sa.ColumnElement[bool]] = [_F.run_id == _RUNS.id, self._what()]
        if self.since is not None:
            hour = hour_of(self.since)
            # What a run did, it did before its end: an index finds the runs that ended since.
            since = datetime.fromtimestamp(hour * 3600, UTC)
            held += [_F.hour >= hour, _RUNS.ended_at >= since]
        if self.until is not None:
            held.append(_F.hour < hour_of(self.until))
        asked: list[tuple[sa.ColumnElement[Any], Any]] = [
            (_F.flow, self.flow),
            (_F.revision, self.revision),
            (_F.code, self.code),
            (_F.agent, self.agent),
        ]
        held += [column == value for column, value in asked if value is not None]
        if self.failed:
            held.append(_F.errors > 0)
        return sa.and_(*held)

    def _what(self) -> sa.ColumnElement[bool]:
        if self.used is None:
            return sa.and_(_F.kind == "run", _F.is_root)
        if self.used == "connector":
            return _F.connector == self.name
        if self.used == "run":
            return _F.kind == "run"
        its_own = sa.and_(_F.kind == self.used, _F.name == self.name)
        return its_own if self.used != "agent" else sa.or_(its_own, _F.agent == self.name)
