"""The built-in tools, one file each: arguments, risk, dry run, run, and how to take it back.

A tool does nothing by itself: the broker calls it, after everything that has to happen before a call.
"""

from functools import cache
from typing import Any

from steward.broker.tool import TOOLS, Tool
from steward.core.plugins import Registry
from steward.tools._changes import change_arguments
from steward.tools._file_options import FileOptions
from steward.tools.load_from_server import KEPT_ADDRESSES, keep_address, server_name

__all__ = [
    "KEPT_ADDRESSES",
    "FileOptions",
    "change_arguments",
    "keep_address",
    "load_tools",
    "server_name",
]


@cache
def load_tools() -> Registry[Tool[Any]]:
    """All tools: the built-in ones and those of installed packages."""
    TOOLS.load_package("steward.tools")
    TOOLS.load_entry_points()
    return TOOLS
