"""PostgreSQL, and what speaks its protocol."""

from pydantic import Field

from steward.connections.connector import DatabasePlace, Secrets, Surroundings, add_connector
from steward.connections.types._servers import PASSWORD, ServerSettings, address, shown, version


class PostgresqlSettings(ServerSettings):
    port: int = Field(5432, ge=1, le=65535, title="Port")


def database(
    _around: Surroundings, settings: PostgresqlSettings, secrets: Secrets
) -> DatabasePlace:
    return DatabasePlace(url=address("postgresql", settings, settings.port, secrets))


async def check(around: Surroundings, settings: PostgresqlSettings, secrets: Secrets) -> str:
    found = await version(around, database(around, settings, secrets))
    return f"Signed in to {settings.database}: {found}."


add_connector(
    kind="postgresql",
    title="PostgreSQL",
    description="Tables of a PostgreSQL server: queried read-only, loaded as datasets.",
    use="database",
    settings=PostgresqlSettings,
    check=check,
    place=lambda settings: shown("postgresql", settings, settings.port),
    secrets=(PASSWORD,),
    database=database,
)
