"""MySQL and MariaDB."""

from pydantic import Field

from steward.connections.connector import DatabasePlace, Secrets, Surroundings, add_connector
from steward.connections.types._servers import PASSWORD, ServerSettings, address, shown, version


class MysqlSettings(ServerSettings):
    port: int = Field(3306, ge=1, le=65535, title="Port")


def database(_around: Surroundings, settings: MysqlSettings, secrets: Secrets) -> DatabasePlace:
    return DatabasePlace(url=address("mysql", settings, settings.port, secrets))


async def check(around: Surroundings, settings: MysqlSettings, secrets: Secrets) -> str:
    found = await version(around, database(around, settings, secrets))
    return f"Signed in to {settings.database}: {found}."


add_connector(
    kind="mysql",
    title="MySQL",
    description="Tables of a MySQL or MariaDB server: queried read-only, loaded as datasets.",
    use="database",
    settings=MysqlSettings,
    check=check,
    place=lambda settings: shown("mysql", settings, settings.port),
    secrets=(PASSWORD,),
    database=database,
)
