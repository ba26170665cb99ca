"""The runner without walls: one envelope on standard input, one response on standard output.

Run as `python -I -m steward.sandbox.runner.plain`; what code prints goes to standard error.
"""

import os
import sys

from steward.sandbox.collect import collect
from steward.sandbox.contract import Envelope, Response
from steward.sandbox.runner import engine, serve


def main() -> None:
    out = os.dup(1)
    os.dup2(2, 1)
    envelope = Envelope.model_validate_json(sys.stdin.buffer.read())
    engine.settle(envelope.scratch, envelope.request.limits)
    answer = serve.answer(envelope, envelope.scratch)
    folder = os.open(envelope.scratch, os.O_RDONLY | os.O_DIRECTORY)
    files = collect(folder, envelope.request.limits.files_bytes)
    said = {name: getattr(answer, name) for name in type(answer).model_fields}
    response = Response.model_construct(**said, files=files.files, skipped_files=files.skipped)
    with os.fdopen(out, "wb") as channel:
        channel.write(response.model_dump_json().encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
