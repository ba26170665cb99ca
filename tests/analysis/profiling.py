"""The profile of what a query yields."""

import json
from typing import Any

import duckdb

from steward.analysis.profile import profile
from steward.analysis.profile.results import Profile
from steward.tables.table import Table, describe


def run(connection: duckdb.DuckDBPyConnection, select: str, **options: Any) -> Profile:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE made AS {select}")
    table = Table("made", "made", describe(connection, "made"))
    result = profile(connection, table, **options)
    json.dumps(result.as_dict(), allow_nan=False)
    return result
