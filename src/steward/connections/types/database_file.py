"""A SQLite or DuckDB file on the machine that runs Steward, in a folder its settings allow."""

from pydantic import Field

from steward.connections.connector import (
    ConnectorSettings,
    DatabasePlace,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.types._servers import version


class DatabaseFileSettings(ConnectorSettings):
    path: str = Field(
        min_length=1,
        max_length=1000,
        title="File",
        description="Whole path of the file, in a folder that the installation's settings allow.",
    )


def database(
    around: Surroundings, settings: DatabaseFileSettings, _secrets: Secrets
) -> DatabasePlace:
    return DatabasePlace(file=around.folders.require(settings.path))


async def check(around: Surroundings, settings: DatabaseFileSettings, secrets: Secrets) -> str:
    found = await version(around, database(around, settings, secrets))
    return f"The file opens: {found}."


add_connector(
    kind="database_file",
    title="SQLite or DuckDB file",
    description="Tables of a database file on this machine: queried read-only, loaded as datasets.",
    use="database",
    settings=DatabaseFileSettings,
    check=check,
    place=lambda settings: f"file:{settings.path}",
    database=database,
)
