"""One confined process: waits for one request, runs it, answers, and ends."""

import array
import json
import os
import socket
import tempfile
from dataclasses import astuple, dataclass
from typing import NoReturn

from pydantic import ValidationError

from steward.sandbox.contract import Answer, Envelope
from steward.sandbox.runner import confine, landlock, serve


@dataclass(frozen=True)
class Channels:
    request: int
    answer: int
    stdout: int
    stderr: int


@dataclass(frozen=True)
class Ends:
    """Both ends of everything that joins a child to its supervisor."""

    inside: Channels
    outside: Channels
    boot_inside: socket.socket
    boot_outside: socket.socket

    @staticmethod
    def make() -> "Ends":
        request_read, request_write = os.pipe2(os.O_CLOEXEC)
        answer_read, answer_write = os.pipe2(os.O_CLOEXEC)
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return Ends(
            Channels(request_read, answer_write, out_write, err_write),
            Channels(request_write, answer_read, out_read, err_read),
            inside,
            outside,
        )

    def close_inside(self) -> None:
        for descriptor in astuple(self.inside):
            os.close(descriptor)
        self.boot_inside.close()

    def close_outside(self) -> None:
        for descriptor in astuple(self.outside):
            os.close(descriptor)
        self.boot_outside.close()


def live(place: confine.Place, channels: Channels, boot: socket.socket, base_data: int) -> NoReturn:
    """Never returns: whatever happens in here, the process ends."""
    status = 1
    try:
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(channels.stdout, 1)
        os.dup2(channels.stderr, 2)
        os.putenv("TMPDIR", place.scratch)
        os.putenv("HOME", place.scratch)
        tempfile.tempdir = place.scratch
        rules, request_end, answer_end = _boot(place, channels, boot)
        _serve(place, rules, request_end, answer_end, base_data)
        status = 0
    finally:
        os._exit(status)


def _boot(
    place: confine.Place, channels: Channels, boot: socket.socket
) -> tuple[landlock.Ruleset | None, int, int]:
    keep = {channels.request, channels.answer, boot.fileno()}
    try:
        scratch, rules, walls = confine.raise_walls(place, keep)
    except OSError as problem:
        boot.send(json.dumps({"failed": str(problem)}).encode())
        raise
    serve.rehearse(place.scratch)
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [scratch]))]
    boot.sendmsg([json.dumps({"walls": walls}).encode()], ancillary)
    boot.close()
    os.close(scratch)
    return rules, channels.request, channels.answer


def _serve(
    place: confine.Place,
    rules: landlock.Ruleset | None,
    request_end: int,
    answer_end: int,
    base_data: int,
) -> None:
    with os.fdopen(request_end, "rb") as source:
        text = source.read()
    try:
        envelope = Envelope.model_validate_json(text)
    except ValidationError as problem:
        write(answer_end, Answer(status="failed", message=f"The request is not valid: {problem}"))
        return
    request = envelope.request
    files = [file for dataset in request.datasets for file in dataset.files]
    confine.narrow_to(rules, files, request.limits, base_data)
    write(answer_end, serve.answer(envelope, place.scratch))


def write(descriptor: int, answer: Answer) -> None:
    """The answer as one line; what cannot be written as JSON becomes an answer that says so."""
    try:
        text = answer.model_dump_json()
    except (ValueError, RecursionError, MemoryError) as problem:
        text = Answer(
            status="failed", message=f"The result cannot be written as JSON: {problem}"
        ).model_dump_json()
    with os.fdopen(descriptor, "wb") as out:
        out.write(text.encode("utf-8", "replace"))
