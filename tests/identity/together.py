"""Several people act at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from steward.core.errors import StewardError

T = TypeVar("T")


def at_once(*actions: Callable[[], T]) -> list[T | StewardError]:
    """What each got; an error of ours is a result like any other."""
    together = Barrier(len(actions))

    def run(action: Callable[[], T]) -> T | StewardError:
        together.wait(30)
        try:
            return action()
        except StewardError as error:
            return error

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(run, actions))
