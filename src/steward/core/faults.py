"""Fault points: named places where a crash test may stop the process; in production they do nothing."""

from collections.abc import Callable

Hook = Callable[[str], None]

_hook: Hook | None = None


def fault(name: str) -> None:
    """Marks a place between two steps that a crash may fall into."""
    if _hook is not None:
        _hook(name)


def install(hook: Hook | None) -> Hook | None:
    """Sets what fault points do in this process, for crash tests alone; returns what was set before."""
    global _hook
    previous, _hook = _hook, hook
    return previous
