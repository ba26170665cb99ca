"""Tasks: work that takes longer than a request, followed and cancelled."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request

from steward.api.context import steward_of
from steward.api.documents import Output, Page
from steward.api.guards import AsEditor, AsViewer
from steward.api.types import TaskId
from steward.data.workbench import Task

router = APIRouter(prefix="/projects/{project_id}/tasks", tags=["tasks"])


class TaskOut(Output):
    id: str
    kind: str
    title: str
    status: str
    doing: str
    done: int
    total: int | None
    created_by: str
    created_at: datetime
    result: dict[str, Any] | None
    error_code: str | None
    error: str | None


def task_out(task: Task) -> TaskOut:
    return TaskOut.model_validate(task)


@router.get("")
def list_tasks(request: Request, access: AsViewer) -> Page[TaskOut]:
    """The latest, newest first; they are kept until the server stops."""
    tasks = steward_of(request).workbench.tasks.page(access.scope)
    return Page(items=[task_out(task) for task in tasks], next_cursor=None)


@router.get("/{task_id}")
def read_task(request: Request, access: AsViewer, task_id: TaskId) -> TaskOut:
    return task_out(steward_of(request).workbench.tasks.get(access.scope, task_id))


@router.post("/{task_id}/cancel")
def cancel_task(request: Request, access: AsEditor, task_id: TaskId) -> TaskOut:
    return task_out(steward_of(request).workbench.tasks.cancel(access.scope, task_id))
