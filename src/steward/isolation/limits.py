"""Lowers the limits that the system puts on this process."""

import resource
import sys
from collections.abc import Mapping


def lower_limits(wanted: Mapping[str, int], *, cpu_grace: int = 0) -> None:
    """Sets limits by the name of their kind (`DATA`, `CPU` …), never above those that hold already.

    At its limit of CPU time a process is killed; with `cpu_grace` a signal says why that many seconds before.
    """
    for name, value in wanted.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        unlimited = hard == resource.RLIM_INFINITY
        most = value if unlimited else min(value, hard)
        firm = most + cpu_grace if name == "CPU" and unlimited else most
        try:
            resource.setrlimit(kind, (most, firm))
        except (ValueError, OSError):
            # Other systems have kinds that cannot be set.
            if sys.platform == "linux":
                raise
