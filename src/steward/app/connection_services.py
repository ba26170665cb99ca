"""Wires connections: databases are read by the data room, everything else goes out by the checked ways."""

from steward.app.foundation import Foundation
from steward.connections import DatabasePlace, Desk
from steward.core import Bug
from steward.tools import HTTP, MAIL, NETWORK
from steward.workbench import Workbench

_LONGEST = 60


class BenchDatabases:
    """Databases as the workbench reads them, each question in a process of its own."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench

    def version(self, place: DatabasePlace) -> str:
        source = place.file if place.file is not None else place.url
        if source is None:
            raise Bug("A database that is nowhere was asked what it is.")
        name = place.file.name if place.file is not None else "the server"
        # Whoever may make connections may let them reach a private address.
        asked = self._workbench.bringing.query_source(source, name, None, private=True)
        said = str(asked.rows[0][0]) if asked.rows else ""
        kind = {"sqlite": "SQLite", "duckdb": "DuckDB", "mysql": "MySQL"}.get(asked.kind, "")
        if "-MariaDB" in said:
            kind, said = "MariaDB", said.partition("-MariaDB")[0]
        return f"{kind} {said.partition(' on ')[0]}".strip()[:_LONGEST]


def open_connections(base: Foundation) -> Desk:
    return Desk(
        base.settings,
        base.database,
        base.secrets,
        base.events,
        base.clock,
        base.ids,
        base.identity,
        base.services.use(HTTP),
        base.services.use(MAIL),
        BenchDatabases(base.workbench),
        base.blobs,
        base.services.use(NETWORK),
    )
