"""No walls at all: for machines that have none, where the administrator accepts that.

The code runs in a process of its own with a clean environment and a time limit, and with every
right of the server's user. The guards still look at it first.
"""

import tempfile

from steward.isolation import program_command
from steward.sandbox.contract import Envelope, Response
from steward.sandbox.providers._process import run_runner
from steward.sandbox.walls import Walls

_MODULE = "steward.sandbox.runner.plain"


class Unconfined:
    def prove(self) -> Walls:
        return Walls("none", reasons=("code runs with every right of the server's user",))

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        with tempfile.TemporaryDirectory(prefix="steward-scratch-") as scratch:
            response, words = run_runner(
                program_command(_MODULE, keeps_bytecode=False),
                envelope.model_copy(update={"scratch": scratch}),
                cancelled,
                environment={"HOME": scratch, "TMPDIR": scratch, "LC_ALL": "C.UTF-8"},
                folder=scratch,
                start_seconds=5.0,
                name="Python",
            )
        output = words.decode("utf-8", "replace")
        return response.model_copy(update={"tier": "none", "walls": [], "stderr": output})

    def close(self) -> None:
        """Nothing outlives an execution."""
