"""Starts `steward` processes by forking from one that has loaded it: real processes without the start-up cost.

Run as a program it reads one request per line on standard input and answers with one line each.
"""

import json
import os
import signal
import sys
from typing import Any


def _become(request: dict[str, Any]) -> int:
    """In the new process: take over streams, environment and folder, then be `steward`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, (name, flags) in enumerate(
        [("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY)]
    ):
        os.dup2(os.open(request[name], flags), number)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    sys.argv = ["steward", *request["args"]]
    from steward.cli import main

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _fork(request: dict[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _become(request)
        except BaseException:  # noqa: BLE001 - as the interpreter ends a program
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
            code = 1
        finally:
            os._exit(code)
    return child


def _poll(child: int) -> int | None:
    done, status = os.waitpid(child, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def serve() -> None:
    # Loaded here, once, so that every child has them already.
    from typer.main import get_command

    from steward.cli.main import app

    get_command(app).commands.values()  # type: ignore[attr-defined]

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        answer = _poll(request["poll"]) if "poll" in request else _fork(request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
