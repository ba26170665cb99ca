"""Processes of our own programs: started clean, limited, fed, watched and ended in one place.

It needs the standard library alone: the programs themselves load it, and some of them start for every job.
"""

from steward.isolation.exchange import Exchange, Stream
from steward.isolation.forks import ForkServer, Line, serve_forks
from steward.isolation.limits import lower_limits
from steward.isolation.programs import (
    CannotStart,
    converse,
    end_program,
    program_command,
    run_program,
    start_program,
)

__all__ = [
    "CannotStart",
    "Exchange",
    "ForkServer",
    "Line",
    "Stream",
    "converse",
    "end_program",
    "lower_limits",
    "program_command",
    "run_program",
    "serve_forks",
    "start_program",
]
