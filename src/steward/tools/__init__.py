"""The built-in tools, one file each: arguments, risk, dry run, run, and how to take it back.

A tool does nothing by itself: the broker calls it, after everything that has to happen before a call.
"""

from functools import cache
from typing import Any

from steward.broker.tool import TOOLS, Tool
from steward.core.plugins import Registry
from steward.tools._changes import change_arguments

__all__ = ["change_arguments", "load_tools"]


@cache
def load_tools() -> Registry[Tool[Any]]:
    """All tools: the built-in ones and those of installed packages."""
    TOOLS.load_package("steward.tools")
    TOOLS.load_entry_points()
    return TOOLS
