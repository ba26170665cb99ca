"""The one metadata object all rooms declare their tables on, and the columns both databases share.

Migrations build tables of them, too, so what they make of a table stays as it is.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, Integer, MetaData, String, types
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

from steward.core import Misconfigured

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Moment(types.TypeDecorator[datetime]):
    """A moment in UTC as whole microseconds: sorts, compares and dumps alike on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a stored moment needs a time zone")
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        try:
            return _EPOCH + value * _MICROSECOND
        except (TypeError, OverflowError):
            raise Misconfigured(
                "A time in the database cannot be read: something else than Steward has written to it."
                " Restore a backup with `steward restore`.",
                code="database-damaged",
            ) from None


# SQLite numbers rows by INTEGER PRIMARY KEY only; PostgreSQL wants 64 bits.
Sequence64 = BigInteger().with_variant(Integer(), "sqlite")
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


OUTLIVES_RUN = {"outlives_run": True}
"""The `info` of a column `run_id` whose rows stay when the run is removed; all others go with it."""


def id_column(name: str = "id", **options: Any) -> Column[str]:
    return Column(name, String(40), **options)


def required(kind: TypeEngine[Any] | type[TypeEngine[Any]], *names: str) -> list[Column[Any]]:
    """Columns of one kind that are never empty."""
    return [Column(name, kind, nullable=False) for name in names]


def optional(kind: TypeEngine[Any] | type[TypeEngine[Any]], *names: str) -> list[Column[Any]]:
    return [Column(name, kind) for name in names]


def scope_columns() -> tuple[Column[str], Column[str]]:
    """Columns of a table whose rows belong to a project; scoped transactions fill and filter them."""
    return (
        Column("org_id", String(40), nullable=False),
        Column("project_id", String(40), nullable=False, index=True),
    )
