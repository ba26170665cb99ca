"""Work that takes longer than a request: started, followed, cancelled; kept in this process only.

A task that is cut off by the server's end has changed nothing: data changes in one commit, its last step.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from steward.core.clock import Clock
from steward.core.errors import NotFound, StewardError
from steward.core.ids import Ids
from steward.store import Database, EventLog, Scope
from steward.trace import get_logger

Status = Literal["queued", "running", "done", "failed", "cancelled"]
Report = Callable[[str, int, int | None], None]
"""Tells what is being done, how much of it is done, and how much there is, where that is known."""

_KEPT = 500
_logger = get_logger("steward.data.tasks")


class Cancelled(BaseException):
    """Somebody no longer wants this; not an Exception, so that no `except Exception` swallows it."""


@dataclass(frozen=True)
class Task:
    id: str
    kind: str
    title: str
    status: Status
    doing: str
    done: int
    total: int | None
    created_by: str
    created_at: datetime
    result: dict[str, Any] | None = None
    error_code: str | None = None
    error: str | None = None


class Tasks:
    def __init__(self, database: Database, events: EventLog, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._ids = ids
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Scope, Task]] = OrderedDict()
        self._unwanted: set[str] = set()
        self._futures: dict[str, Future[None]] = {}
        # Two at a time: each may hold a gigabyte, and the machine has other work.
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="steward-task")

    def start(
        self,
        scope: Scope,
        author: str,
        kind: str,
        title: str,
        work: Callable[[Report], dict[str, Any]],
    ) -> Task:
        task = Task(
            id=self._ids.new("tsk"),
            kind=kind,
            title=title,
            status="queued",
            doing="Waiting",
            done=0,
            total=None,
            created_by=author,
            created_at=self._clock.now(),
        )
        with self._lock:
            self._known[task.id] = (scope, task)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            # The thread knows for which effect of which run it works.
            self._futures[task.id] = self._pool.submit(copy_context().run, self._run, task.id, work)
        return task

    def get(self, scope: Scope, task_id: str) -> Task:
        with self._lock:
            owner, task = self._known.get(task_id, (None, None))
        if task is None or owner != scope:
            raise NotFound(
                "There is no such task; it may have ended before the server's last start."
            )
        return task

    def page(self, scope: Scope, *, limit: int = 50) -> list[Task]:
        """Newest first."""
        with self._lock:
            mine = [task for owner, task in self._known.values() if owner == scope]
        return mine[::-1][:limit]

    def cancel(self, scope: Scope, task_id: str) -> Task:
        """Ends it at its next step; what has ended already stays as it is."""
        task = self.get(scope, task_id)
        if task.status in {"queued", "running"}:
            with self._lock:
                self._unwanted.add(task_id)
        return self.get(scope, task_id)

    def wait(self, task_id: str) -> None:
        """For the terminal and tests: returns when the task has ended."""
        self._futures[task_id].result()

    def close(self) -> None:
        with self._lock:
            self._unwanted.update(self._known)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, task_id: str, work: Callable[[Report], dict[str, Any]]) -> None:
        def report(doing: str, done: int = 0, total: int | None = None) -> None:
            if task_id in self._unwanted:
                raise Cancelled
            self._change(task_id, doing=doing, done=done, total=total)

        try:
            report("Starting")
            self._change(task_id, status="running")
            result = work(report)
            self._change(task_id, status="done", doing="Done", result=result)
        except Cancelled:
            self._change(task_id, status="cancelled", doing="Cancelled")
        except StewardError as error:
            self._change(
                task_id,
                status="failed",
                doing="Failed",
                error_code=error.specific_code,
                error=error.message,
            )
        except Exception:
            _logger.exception("a task broke", task=task_id)
            self._change(
                task_id,
                status="failed",
                doing="Failed",
                error_code="bug",
                error=f"Something broke inside Steward; nothing was changed. The log has it under {task_id}.",
            )
        self._announce(task_id)

    def _change(self, task_id: str, **fields: Any) -> None:
        with self._lock:
            scope, task = self._known[task_id]
            self._known[task_id] = (scope, replace(task, **fields))

    def _announce(self, task_id: str) -> None:
        scope, task = self._known[task_id]
        with self._database.write(scope) as tx:
            self._events.append(
                tx, "task.ended", task_id, {"kind": task.kind, "status": task.status}
            )
