"""The type that holds the values of several types without losing any."""

from collections.abc import Sequence

import duckdb

from steward.analysis.relate.keytext import FLOATS, INTEGERS

_EXACT_IN_DOUBLE = 15


def common_type(connection: duckdb.DuckDBPyConnection, types: Sequence[str]) -> str:
    """The narrowest type that holds all; text where nothing else holds every value exactly."""
    distinct = list(dict.fromkeys(types))
    if len(distinct) == 1:
        return distinct[0]
    if "VARCHAR" in distinct or _families(distinct) > 1 or _rounds(distinct):
        return "VARCHAR"
    union = " UNION ALL ".join(f"SELECT CAST(NULL AS {name}) AS v" for name in distinct)
    row = connection.execute(f"DESCRIBE {union}").fetchone()
    return str(row[1]) if row else "VARCHAR"


def _families(types: Sequence[str]) -> int:
    return len({_family(name) for name in types})


def _family(name: str) -> str:
    if name in INTEGERS or name in FLOATS or name.startswith("DECIMAL"):
        return "number"
    if name.startswith(("TIMESTAMP", "DATE")):
        # A moment with a zone and one without are different things.
        return "zoned" if "ZONE" in name or name == "TIMESTAMPTZ" else "moment"
    return name


def _rounds(types: Sequence[str]) -> bool:
    """Whether floating point would round numbers that another of the types holds exactly."""
    if not any(name in FLOATS for name in types):
        return False
    return any(_digits(name) > _EXACT_IN_DOUBLE for name in types)


def _digits(name: str) -> int:
    if name.startswith("DECIMAL("):
        return int(name.removeprefix("DECIMAL(").partition(",")[0])
    sizes = {"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "HUGEINT": 39}
    return sizes.get(name.removeprefix("U") if name in INTEGERS else name, 0)
