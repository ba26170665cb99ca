"""Rows of the tables of skills, read: what is listed, what is in force, what somebody must have seen."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.agents.skills import _tables as tables
from steward.agents.skills.builtin import builtin_skills
from steward.agents.skills.model import Origin, Skill
from steward.core import NotFound, RevisionRequired, Stale, copied
from steward.store import Prepared, Transaction

_SKILLS = tables.skills.c
_VERSIONS = tables.skill_versions.c
_WANTED = sa.select(tables.skills).order_by(_SKILLS.name)
_DESCRIBED = sa.select(_VERSIONS.name, _VERSIONS.description).join(
    tables.skills, sa.and_(_VERSIONS.name == _SKILLS.name, _VERSIONS.version == _SKILLS.version)
)
_ALL, _ALL_DESCRIBED = Prepared(_WANTED), Prepared(_DESCRIBED)
_ONE = Prepared(_WANTED.where(_SKILLS.name == sa.bindparam("wanted")))
_ONE_DESCRIBED = Prepared(_DESCRIBED.where(_VERSIONS.name == sa.bindparam("wanted")))


@dataclass(frozen=True)
class Listed:
    """A skill as lists show it."""

    name: str
    description: str
    origin: Origin
    version: int
    enabled: bool
    shadows: bool
    """Whether it stands in front of a built-in skill of the same name."""
    revision: int
    updated_at: datetime | None
    updated_by: str | None
    deleted_at: datetime | None


@dataclass(frozen=True)
class Version:
    name: str
    version: int
    digest: str
    description: str
    files: tuple[dict[str, Any], ...]
    message: str
    author: str
    created_at: datetime


def found(tx: Transaction, name: str | None = None) -> dict[str, tuple[Any, str]]:
    """The rows of skills by name, each with the description of its version."""
    if name is None:
        described, wanted = tx.rows(_ALL_DESCRIBED), tx.rows(_ALL)
    else:
        only = {"wanted": name}
        described, wanted = tx.rows(_ONE_DESCRIBED, only), tx.rows(_ONE, only)
    said = {row.name: row.description for row in described}
    return {row.name: (row, said.get(row.name, "")) for row in wanted}


def shown(row: Any, description: str, name: str) -> Listed:
    """The project's own skill where there is one, else the built-in one as it is switched here."""
    if row is not None and is_own(row):
        return listed(row, description)
    skill = builtin_skills().get(name)
    if skill is None:
        raise missing(name)
    return builtin(skill, row)


def is_own(row: Any) -> bool:
    return row.version > 0 and row.deleted_at is None


def listed(row: Any, description: str) -> Listed:
    return copied(
        Listed,
        row,
        description=description,
        origin=Origin.project,
        enabled=bool(row.enabled),
        shadows=row.name in builtin_skills(),
    )


def builtin(skill: Skill, row: Any) -> Listed:
    return Listed(
        name=skill.name,
        description=skill.description,
        origin=Origin.builtin,
        version=0,
        enabled=row is None or bool(row.enabled),
        shadows=False,
        revision=row.revision if row is not None else 0,
        updated_at=row.updated_at if row is not None else None,
        updated_by=row.updated_by if row is not None else None,
        deleted_at=None,
    )


def version(row: Any) -> Version:
    return copied(Version, row, files=tuple(row.files))


def in_force(tx: Transaction, row: Any) -> Any:
    if not is_own(row):
        return None
    return tx.first(
        sa.select(_VERSIONS.digest).where(
            _VERSIONS.name == row.name, _VERSIONS.version == row.version
        )
    )


def latest(tx: Transaction, name: str) -> int:
    row = tx.first(sa.select(sa.func.max(_VERSIONS.version)).where(_VERSIONS.name == name))
    return int(row[0] or 0) if row is not None else 0


def refuse_stale(row: Any, name: str, revision: int | None) -> None:
    """Whoever replaces something says which revision they saw; 0 and None stand for nothing there."""
    if row is None:
        if revision:
            raise Stale(f"The skill {name!r} has changed since you read it. Read it again.")
        return
    if revision is None:
        if is_own(row):
            raise RevisionRequired(
                f"The project has a skill {name!r} already; say which revision of it you read."
            )
        return
    if revision != row.revision:
        raise Stale(f"The skill {name!r} has changed since you read it. Read it again.")


def missing(name: str) -> NotFound:
    return NotFound(f"There is no skill {name!r} in this project.")
