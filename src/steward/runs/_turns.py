"""Whose run is next: projects alike, and the people within each alike; only then by priority and age.

A person's first run that waits has turn 1 when none of theirs is being driven, the next one turn 2, and so on; projects
count likewise. Many runs of one person then wait behind the first of everybody else.

Statements are built once, with their values as parameters: building one costs more than running it.
"""

from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from steward.runs import _tables as tables
from steward.runs._rows import COLUMNS, LIVE
from steward.store import Moment

_NOW: Final = sa.bindparam("now", type_=Moment())
_QUEUES: Final[sa.BindParameter[str]] = sa.bindparam("queues", expanding=True)
_IDS: Final[sa.BindParameter[str]] = sa.bindparam("ids", expanding=True)
_FREE: Final = sa.or_(COLUMNS.lease_until.is_(None), COLUMNS.lease_until < _NOW)
# Two looks at two indexes: what is due and what was left stay few, however many runs there were.
_DUE: Final = sa.and_(
    COLUMNS.id.in_(
        sa.union(
            sa.select(COLUMNS.id).where(
                COLUMNS.queue.in_(_QUEUES), COLUMNS.wake_at <= sa.bindparam("due", type_=Moment())
            ),
            # Not the plain column: an index on it would lead through every run there ever was.
            sa.select(COLUMNS.id).where(
                COLUMNS.lease_until < _NOW, (COLUMNS.queue + "").in_(_QUEUES)
            ),
        )
    ),
    _FREE,
)
_CALLED: Final = sa.and_(COLUMNS.id.in_(_IDS), COLUMNS.queue.in_(_QUEUES))
_CALLED_AND_DUE: Final = sa.and_(
    _CALLED, _FREE, sa.or_(COLUMNS.wake_at <= _NOW, COLUMNS.lease_until < _NOW)
)
LATER: Final = sa.select(COLUMNS.id).where(
    _CALLED, COLUMNS.status.in_(LIVE), COLUMNS.wake_at.is_not(None)
)
"""Of the runs `ids` in `queues`, those that are due once their holder is done."""


@cache
def next_runs(*, called: bool, innocent: bool, newcomers: bool) -> sa.Select[Any]:
    """At most `most` runs that can be claimed at `now`, whose turn it is first, locked.

    `called`: out of `ids`, otherwise those due at `due`. `innocent`: none that lost a worker. `newcomers`: only of people
    none of whose runs is being driven.
    """
    wanted = _CALLED_AND_DUE if called else _DUE
    if innocent:
        wanted = sa.and_(wanted, COLUMNS.lost == 0)
    turn = _turns(wanted)
    statement = (
        sa.select(tables.runs)
        .join(turn, turn.c.id == COLUMNS.id)
        .where(COLUMNS.status.in_(LIVE), wanted)
        .order_by(
            turn.c.project_turn,
            turn.c.person_turn,
            COLUMNS.priority.desc(),
            COLUMNS.wake_at,
            COLUMNS.id,
        )
        .limit(sa.bindparam("most", type_=sa.Integer()))
        .with_for_update(skip_locked=True, of=tables.runs)
    )
    return statement.where(turn.c.person_turn == 1) if newcomers else statement


def _turns(wanted: sa.ColumnElement[bool]) -> sa.Subquery:
    """The runs that are wanted, with the turn of their project and of their author within it."""
    waiting = (
        sa.select(
            COLUMNS.id,
            COLUMNS.project_id,
            COLUMNS.created_by,
            COLUMNS.priority,
            COLUMNS.wake_at,
        )
        .where(COLUMNS.status.in_(LIVE), wanted)
        .subquery("waiting")
    )
    people = _driven("people", COLUMNS.project_id, COLUMNS.created_by)
    projects = _driven("projects", COLUMNS.project_id)
    own = (waiting.c.priority.desc(), waiting.c.wake_at, waiting.c.id)
    person = sa.func.row_number().over(
        partition_by=(waiting.c.project_id, waiting.c.created_by), order_by=own
    ) + sa.func.coalesce(people.c.driven, 0)
    among_people = (
        sa.select(waiting, person.label("person_turn"))
        .select_from(waiting)
        .outerjoin(
            people,
            sa.and_(
                people.c.project_id == waiting.c.project_id,
                people.c.created_by == waiting.c.created_by,
            ),
        )
        .subquery("among_people")
    )
    each = among_people.c
    project = sa.func.row_number().over(
        partition_by=each.project_id,
        order_by=(each.person_turn, each.priority.desc(), each.wake_at, each.id),
    ) + sa.func.coalesce(projects.c.driven, 0)
    return (
        sa.select(each.id, each.person_turn, project.label("project_turn"))
        .select_from(among_people)
        .outerjoin(projects, projects.c.project_id == each.project_id)
        .subquery("turns")
    )


def _driven(name: str, *by: sa.ColumnElement[str]) -> sa.Subquery:
    """How many runs are being driven, for each; leases are few, however many runs there were."""
    # Not the plain columns, for the same reason as above: an index on them already has the groups in order.
    groups = [(column + "").label(column.key) for column in by]
    return (
        sa.select(*groups, sa.func.count().label("driven"))
        .where(COLUMNS.lease_until >= _NOW)
        .group_by(*groups)
        .subquery(name)
    )
