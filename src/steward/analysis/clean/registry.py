"""The named cleaning operations: each documented, deterministic and described by a JSON Schema."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import duckdb
from pydantic import BaseModel, ConfigDict, ValidationError

from steward.core import Invalid, Registry, in_words, mistakes
from steward.tables import Change, Table


class Arguments(BaseModel):
    """What an operation is asked to do; unknown fields are refused."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


A = TypeVar("A", bound=Arguments)
Plan = Callable[[duckdb.DuckDBPyConnection, Table, A], Change]


@dataclass(frozen=True)
class Operation:
    """A way to clean a table: `plan` reads it and returns the change, writing nothing."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    plan: Callable[[duckdb.DuckDBPyConnection, Table, Any], Change]

    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, for forms and tools."""
        return self.arguments.model_json_schema()


OPERATIONS: Registry[Operation] = Registry("clean_operation")


def operation(name: str, title: str, arguments: type[A]) -> Callable[[Plan[A]], Plan[A]]:
    """Registers a planning function; its docstring is the operation's documentation."""

    def decorate(plan: Plan[A]) -> Plan[A]:
        described = (plan.__doc__ or "").strip()
        made = Operation(name, title, described, arguments, plan)
        OPERATIONS.add(name, made, origin=plan.__module__)
        return plan

    return decorate


@cache
def catalogue() -> Registry[Operation]:
    """All operations: the built-in ones and those of installed packages."""
    OPERATIONS.load_package("steward.analysis.clean.operations")
    OPERATIONS.load_entry_points()
    return OPERATIONS


def clean(
    connection: duckdb.DuckDBPyConnection, table: Table, name: str, arguments: Mapping[str, Any]
) -> Change:
    """Plans the operation of that name; the arguments are checked against its schema first."""
    chosen = catalogue().get(name)
    try:
        checked = chosen.arguments.model_validate(arguments)
    except ValidationError as error:
        found = mistakes(error)
        raise Invalid(
            f"The arguments of {name!r} do not fit: {in_words(found)}.", problems=found
        ) from None
    return chosen.plan(connection, table, checked)
