"""Starts `steward` processes by forking from one that has loaded it: real processes without the start-up cost.

Run as a program it reads one request per line on standard input and answers with one line each.
"""

import json
import os
import signal
import sys
from importlib import import_module
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
    # As of the installed program: a module of a package would be called "python -m …" in its help.
    sys.modules["__main__"].__package__ = ""
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


def _load() -> None:
    """What the commands import when they are called, servers included: every child has it already."""
    from typer.main import get_command

    from steward.api import create_routes
    from steward.cli.main import app
    from tests.kits.loaded import load_everything, stay_loaded

    get_command(app).commands.values()  # type: ignore[attr-defined]
    import_module("steward.api.server")
    create_routes()
    load_everything()
    stay_loaded()


def serve() -> None:
    _load()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        answer = _poll(request["poll"]) if "poll" in request else _fork(request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
