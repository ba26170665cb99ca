"""What one agent did and cost lately: its pieces of work, their requests to models and their calls of tools."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from steward.observe._tables import facts
from steward.observe.overview import Period, Visible, seen
from steward.observe.projector import Projector
from steward.store import Database, Scope

_F: Final = facts.c
_DAY: Final = 24
_MOST_RUNS: Final = 500
_MOST_TOOLS: Final = 20


@dataclass(frozen=True)
class AgentDay:
    first_hour: int
    """Of the day, in UTC."""
    works: int
    nano_usd: int
    tokens: int


@dataclass(frozen=True)
class AgentTool:
    name: str
    calls: int
    errors: int


@dataclass(frozen=True)
class AgentFigures:
    works: int = 0
    """Pieces of work that it finished."""
    runs: int = 0
    """Runs that it took part in, at most 500 of the latest."""
    failed_runs: int = 0
    requests: int = 0
    """Requests to models."""
    tokens: int = 0
    nano_usd: int = 0
    milliseconds: int = 0
    """Of all finished pieces of work, added up."""
    days: tuple[AgentDay, ...] = ()
    tools: tuple[AgentTool, ...] = ()
    last_runs: tuple[str, ...] = ()
    """Newest first."""
    is_complete: bool = True


class AgentExplorer:
    def __init__(self, database: Database, projector: Projector) -> None:
        self._database = database
        self._projector = projector

    def figures(
        self, scope: Scope, now: datetime, days: int, name: str, visible: Visible = None
    ) -> AgentFigures:
        """Of the last so many days; of runs that somebody may see."""
        is_complete = self._projector.catch_up(scope)
        own = sa.or_(sa.and_(_F.kind == "agent", _F.name == name), _F.agent == name)
        within = [Period.until(now, days * _DAY).holds(_F.hour), seen(_F.flow, visible)]
        is_work, is_model = _F.kind == "agent", _F.kind == "model"
        tokens, works = _sum(_F.input_tokens + _F.output_tokens), _sum(_F.times, is_work)
        usd, day = _sum(_F.nano_usd), (_F.hour - _F.hour % _DAY)
        with self._database.read(scope) as tx:
            total = tx.first(
                sa.select(
                    works.label("works"),
                    _sum(_F.times, is_model).label("requests"),
                    tokens.label("tokens"),
                    usd.label("usd"),
                    _sum(_F.milliseconds, is_work).label("milliseconds"),
                ).where(own, *within)
            )
            daily = tx.rows(
                sa.select(
                    day.label("day"), works.label("works"), usd.label("usd"), tokens.label("tokens")
                )
                .where(own, *within)
                .group_by(day)
                .order_by(day)
            )
            tools = tx.rows(
                sa.select(_F.name, _sum(_F.times).label("calls"), _sum(_F.errors).label("errors"))
                .where(_F.kind == "tool", _F.agent == name, *within)
                .group_by(_F.name)
                .order_by(_sum(_F.times).desc(), _F.name)
                .limit(_MOST_TOOLS)
            )
            # Ids are ordered by time.
            runs = [
                row.run_id
                for row in tx.rows(
                    sa.select(_F.run_id)
                    .where(own, *within)
                    .group_by(_F.run_id)
                    .order_by(_F.run_id.desc())
                    .limit(_MOST_RUNS)
                )
            ]
            failed = tx.first(
                sa.select(_sum(_F.errors).label("failed")).where(
                    _F.kind == "run", _F.run_id.in_(runs)
                )
            )
        if total is None or failed is None:
            return AgentFigures(is_complete=is_complete)
        return AgentFigures(
            int(total.works),
            len(runs),
            int(failed.failed),
            int(total.requests),
            int(total.tokens),
            int(total.usd),
            int(total.milliseconds),
            tuple(
                AgentDay(int(row.day), int(row.works), int(row.usd), int(row.tokens))
                for row in daily
            ),
            tuple(AgentTool(row.name, int(row.calls), int(row.errors)) for row in tools),
            tuple(runs[:10]),
            is_complete,
        )


def _sum(
    value: sa.ColumnElement[int], where: sa.ColumnElement[bool] | None = None
) -> sa.Function[int]:
    counted = value if where is None else sa.case((where, value), else_=0)
    return sa.func.coalesce(sa.func.sum(counted), 0)
