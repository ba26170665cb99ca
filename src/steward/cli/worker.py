"""`steward worker`: drive runs beside the server, on this machine or another one."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from steward.app import Shutdown, end_children, open_steward
from steward.cli.output import AsJson, command, progress, say, show
from steward.cli.up import _only_one
from steward.core import Conflict, Settings, load_settings
from steward.runs import Runs
from steward.trace import configure_logs

ALIVE: Final = "worker.alive"
_ALIVE_SECONDS: Final = 10.0


class Queue(StrEnum):
    cpu = "cpu"
    llm = "llm"


@command
def worker(
    *,
    queue: Annotated[
        list[Queue] | None, typer.Option(help="Queue to serve; may be given twice. Default: both.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Runs to drive at a time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Drive runs until stopped; what is under way then goes on with another worker."""
    settings = load_settings()
    configure_logs(settings.log)
    queues = [each.value for each in (queue or list(Queue))]
    room = concurrency or settings.runs.concurrency
    progress(f"Opening {settings.home.resolve()}")
    with _alone_on_sqlite(settings):
        steward = open_steward(settings)
        try:
            document = {"queues": queues, "concurrency": room}
            words = f"Serving {' and '.join(queues)}, {room} runs at a time. Ctrl-C stops."
            asyncio.run(
                _serve(
                    steward.runs,
                    settings,
                    queues,
                    room,
                    lambda: show(document, as_json=as_json, text=lambda: words),
                )
            )
        finally:
            steward.close()
    if not as_json:
        say("Stopped. Nothing is lost; another worker goes on.")


async def _serve(
    runs: Runs,
    settings: Settings,
    queues: Sequence[str],
    concurrency: int,
    started: Callable[[], None],
) -> None:
    serving = runs.worker(queues=queues, concurrency=concurrency, lease=settings.runs.lease)
    loop = asyncio.get_running_loop()
    stopping = Shutdown()

    def stop() -> None:
        stopping.begin()
        serving.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    started()
    alive = asyncio.create_task(_show_life(settings.home / ALIVE))
    try:
        await serving.serve()
    finally:
        alive.cancel()
    # Threads that wait for one of them end now; the loop waits for these threads.
    end_children()


async def _show_life(file: Path) -> None:
    """Touches a file while the loop turns: health checks of containers look at its age."""
    while True:
        await asyncio.to_thread(file.touch)
        await asyncio.sleep(_ALIVE_SECONDS)


@contextmanager
def _alone_on_sqlite(settings: Settings) -> Iterator[None]:
    """PostgreSQL serves many processes; on SQLite one of them does everything."""
    if settings.database.url is not None:
        yield
        return
    with ExitStack() as held:
        try:
            held.enter_context(_only_one(settings.home))
        except Conflict as running:
            raise Conflict(
                f"{running.message} On SQLite that one process drives all runs; workers beside it "
                "need PostgreSQL (STEWARD_DATABASE__URL)."
            ) from None
        yield
