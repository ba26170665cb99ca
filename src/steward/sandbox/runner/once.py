"""The runner in a container: one envelope on standard input or in a file, one response on standard output.

The container is the outer wall; inside it the code still gets a confined process of its own, which
this process watches over.

Run as `python -I -m steward.sandbox.runner.once [file]`.
"""

import os
import sys
from pathlib import Path

from steward.sandbox.contract import Envelope, Limits, Response
from steward.sandbox.runner import child, confine, root, warm
from steward.sandbox.supervisor import Child, Supervision
from steward.sandbox.zygotes import booted

_WARM = "/scratch"
_PAGE = 1 << 16


def main() -> None:
    # Where a container cannot be fed, as in a Kubernetes Job, the envelope lies in a file.
    said = Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else sys.stdin.buffer.read()
    envelope = Envelope.model_validate_json(said)
    warm.load(_WARM)
    sys.stdout.write(run(envelope).model_dump_json())


def run(envelope: Envelope) -> Response:
    files = [file for dataset in envelope.request.datasets for file in dataset.files]
    limits = envelope.request.limits
    place = confine.Place(
        tier="container",
        readable=tuple(root.runtime_paths()),
        data_roots=tuple(files),
        scratch=root.SCRATCH,
        scratch_bytes=limits.scratch_bytes,
        scratch_inodes=limits.scratch_inodes,
    )
    ends = child.Ends.make()
    pid = os.fork()
    if pid == 0:
        child.live(place, ends.inside, ends.boot_inside, _private_memory())
    handle = os.pidfd_open(pid)
    ends.close_inside()
    with ends.boot_outside as channel:
        scratch, said = booted(channel)
    if scratch < 0:
        reason = said.get("failed", "it ended at once")
        return Response(status="failed", message=f"The walls could not be raised: {reason}")
    outside = ends.outside
    confined = Child(
        process=handle,
        request=outside.request,
        answer=outside.answer,
        stdout=outside.stdout,
        stderr=outside.stderr,
        scratch=scratch,
        tier="container",
        walls=said.get("walls", []),
        ended=lambda: os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
        path=root.SCRATCH,
        capped=_capped(limits),
    )
    never, bell = os.pipe()
    try:
        return Supervision(confined, envelope, never, 0.0).run()
    finally:
        confined.close()
        os.close(never)
        os.close(bell)


def _capped(limits: Limits) -> bool:
    """Whether the file system of scratch holds both limits by itself; if not, the watchdog does."""
    about = os.statvfs(root.SCRATCH)
    size = about.f_blocks * about.f_frsize
    return 0 < about.f_files <= limits.scratch_inodes and size <= limits.scratch_bytes + _PAGE


def _private_memory() -> int:
    """What the process holds before it runs any code, as its memory limit counts it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


if __name__ == "__main__":
    main()
