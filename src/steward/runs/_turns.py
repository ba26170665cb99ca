"""Whose run is next: projects alike, and the people within each alike; only then by priority and age.

A person's first run that waits has turn 1 when none of theirs is being driven, the next one turn 2, and so on; projects
count likewise. Many runs of one person then wait behind the first of everybody else.
"""

from datetime import datetime

import sqlalchemy as sa

from steward.runs._rows import COLUMNS, LIVE


def turns(wanted: sa.ColumnElement[bool], now: datetime) -> sa.Subquery:
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
    people = _driven(now, "people", COLUMNS.project_id, COLUMNS.created_by)
    projects = _driven(now, "projects", COLUMNS.project_id)
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


def _driven(now: datetime, name: str, *by: sa.ColumnElement[str]) -> sa.Subquery:
    """How many runs are being driven, for each; leases are few, however many runs there were."""
    return (
        sa.select(*by, sa.func.count().label("driven"))
        .where(COLUMNS.lease_until >= now)
        .group_by(*by)
        .subquery(name)
    )
