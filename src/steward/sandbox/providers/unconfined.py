"""No walls at all: for machines that have none, where the administrator accepts that.

The code runs in a process of its own with a clean environment and a time limit, and with every
right of the server's user. The guards still look at it first.
"""

import subprocess
import sys
import tempfile
import time

from steward.core import Unavailable
from steward.sandbox.contract import Envelope, Response
from steward.sandbox.providers import PROVIDERS
from steward.sandbox.providers._process import converse, understood
from steward.sandbox.walls import Walls

_MODULE = "steward.sandbox.runner.plain"


@PROVIDERS.register("unconfined")
class Unconfined:
    def prove(self) -> Walls:
        return Walls("none", reasons=("code runs with every right of the server's user",))

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="steward-scratch-") as scratch:
            placed = envelope.model_copy(update={"scratch": scratch})
            environment = {"HOME": scratch, "TMPDIR": scratch, "LC_ALL": "C.UTF-8"}
            try:
                process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                    [sys.executable, "-I", "-B", "-X", "utf8", "-m", _MODULE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=scratch,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as problem:
                raise Unavailable(f"Python cannot be started: {problem.strerror}") from None
            with process:
                try:
                    said, words, late = converse(process, placed, cancelled, start_seconds=5.0)
                finally:
                    process.kill()
        total = (time.monotonic() - started) * 1000
        response = understood(said, words, late, envelope.request.limits, total)
        output = words.decode("utf-8", "replace")
        return response.model_copy(update={"tier": "none", "walls": [], "stderr": output})

    def close(self) -> None:
        """Nothing outlives an execution."""
