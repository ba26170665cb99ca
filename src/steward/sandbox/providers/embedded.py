"""The default provider: a zygote on this machine, no daemon, as root or as an ordinary user."""

import contextlib
import os
import platform
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from steward.core import Misconfigured, Unavailable, is_alone
from steward.sandbox.cgroups import Cgroups, delegated
from steward.sandbox.contract import Envelope, Limits, Request, Response, Tier
from steward.sandbox.providers import Place, add_provider
from steward.sandbox.runner.probe import program
from steward.sandbox.supervisor import Child, Supervision
from steward.sandbox.walls import Walls
from steward.sandbox.zygotes import Order, Spawned, Zygote

_TIERS: Final[tuple[Tier, ...]] = ("ns", "lsm")
_ARCHITECTURES: Final = ("x86_64", "aarch64")
_NOBODY: Final = 65534
_BREATH: Final = 0.01


class Embedded:
    """Keeps a few confined processes ready; each is used once.

    `data_roots` are the folders below which datasets lie: nothing else of the machine's files but
    the interpreter is visible inside.
    """

    def __init__(
        self,
        data_roots: Sequence[Path],
        *,
        scratch: Path | None = None,
        ready: int = 3,
        limits: Limits | None = None,
        tiers: Sequence[Tier] = _TIERS,
        cgroups: Callable[[], Cgroups | None] = delegated,
    ) -> None:
        self._roots = [str(root.resolve()) for root in data_roots]
        self._scratch = scratch
        self._ready = ready
        self._limits = limits or Limits()
        self._tiers = tuple(tiers)
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._after = ThreadPoolExecutor(1, thread_name_prefix="sandbox-after")
        self._closing = threading.Event()
        self._find_cgroups = cgroups
        self._cgroups: Cgroups | None = None
        self._waiting: deque[Spawned] = deque()
        self._zygote: Zygote | None = None
        self._walls: Walls | None = None

    def prove(self) -> Walls:
        """Starts the strongest tier whose walls hold against a program that tries to get out."""
        with self._starting:
            if self._walls is None:
                self._cgroups = self._find_cgroups()
                self._walls = self._choose()
            return self._walls

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        self._check_files(envelope.request)
        started = time.monotonic()
        spawned = self._take(envelope.request.limits)
        child = spawned.child()
        waited = (time.monotonic() - started) * 1000
        placed = envelope.model_copy(update={"scratch": child.path})
        try:
            if child.cgroup is not None and envelope.request.limits != self._limits:
                with contextlib.suppress(OSError):
                    child.cgroup.limit(envelope.request.limits)
            return Supervision(child, placed, cancelled, waited).run()
        finally:
            # The process is killed; burying it takes longer than running it did.
            self._after.submit(self._bury, child, time.monotonic() + _BREATH)

    def _bury(self, child: Child, due: float) -> None:
        """Makes the next process, once the answer is out: forking would compete with it."""
        if self._waiting:
            self._closing.wait(max(due - time.monotonic(), 0))
        child.close()
        self.refill()

    def refill(self) -> None:
        """Asks for as many processes as are to be ready; does not wait for them."""
        zygote = self._zygote
        if zygote is None or not zygote.alive:
            return
        with self._lock:
            missing = self._ready - len(self._waiting)
            for _ in range(missing):
                self._waiting.append(zygote.spawn(self._order(zygote.tier, self._limits)))

    def close(self) -> None:
        self._closing.set()
        self._after.shutdown()
        with self._starting, self._lock:
            if self._zygote is not None:
                for spawned in self._waiting:
                    spawned.discard()
                self._waiting.clear()
                self._zygote.close()
                self._zygote = None
            if self._cgroups is not None:
                self._cgroups.close()
                self._cgroups = None
            self._walls = None

    def _take(self, limits: Limits) -> Spawned:
        zygote = self._living()
        usual = (limits.scratch_bytes, limits.scratch_inodes) == (
            self._limits.scratch_bytes,
            self._limits.scratch_inodes,
        )
        # The last one that is ready is for somebody who has nothing running.
        least = 0 if is_alone() else 1
        while usual:
            with self._lock:
                spawned = self._waiting.popleft() if len(self._waiting) > least else None
            if spawned is None:
                break
            if spawned.usable():
                return spawned
            spawned.discard()
        return zygote.spawn(self._order(zygote.tier, limits))

    def _living(self) -> Zygote:
        """The zygote; a dead one is replaced, together with the processes it took along."""
        walls = self.prove()
        with self._starting:
            zygote = self._zygote
            if zygote is not None and zygote.alive:
                return zygote
            if walls.tier == "none":
                raise Misconfigured(
                    f"No sandbox stands on this machine: {'; '.join(walls.reasons)}"
                )
            with self._lock:
                for spawned in self._waiting:
                    spawned.discard()
                self._waiting.clear()
            if zygote is not None:
                zygote.close()
            self._zygote = Zygote(walls.tier, self._roots, *_ids(self._roots))
            return self._zygote

    def _choose(self) -> Walls:
        reasons: list[str] = []
        if platform.system() != "Linux" or platform.machine() not in _ARCHITECTURES:
            where = f"{platform.system()} on {platform.machine()}"
            reason = f"{where} has no walls that Steward knows; use Linux, or the docker provider"
            return Walls("none", reasons=(reason,))
        for tier in self._tiers:
            try:
                zygote = Zygote(tier, self._roots, *_ids(self._roots))
            except Unavailable as problem:
                reasons.append(f"{tier}: {problem.message}")
                continue
            walls = self._try(zygote, tier, reasons)
            if walls is not None:
                self._zygote = zygote
                self.refill()
                return walls
            zygote.close()
        return Walls("none", reasons=tuple(reasons))

    def _try(self, zygote: Zygote, tier: Tier, reasons: list[str]) -> Walls | None:
        request = Request(kind="python", code=program(platform.machine()))
        never, bell = os.pipe()
        try:
            child = zygote.spawn(self._order(zygote.tier, self._limits)).child()
            envelope = Envelope(request=request, scratch=child.path, guarded=False)
            try:
                response = Supervision(child, envelope, never, 0.0).run()
            finally:
                child.close()
        except Unavailable as problem:
            reasons.append(f"{tier}: {problem.message}")
            return None
        finally:
            os.close(never)
            os.close(bell)
        tried = response.result if isinstance(response.result, dict) else {}
        fallen = [name for name, held in tried.items() if held is not True]
        if response.status != "done" or fallen or not tried:
            why = f"did not hold: {', '.join(fallen)}" if fallen else response.message
            reasons.append(f"{tier}: {why or response.stderr[-500:]}")
            return None
        return Walls(
            tier, tuple(response.walls), dict(tried), tuple(reasons), dict(zygote.libraries)
        )

    def _order(self, tier: Tier, limits: Limits) -> Order:
        cgroup = self._cgroups.make(limits) if self._cgroups is not None else None
        remove = cgroup.remove if cgroup is not None else lambda: None
        if tier == "ns":
            return Order(limits.scratch_bytes, limits.scratch_inodes, clean=remove, cgroup=cgroup)
        folder = tempfile.mkdtemp(prefix="steward-scratch-", dir=self._scratch)
        uid, gid = _ids(self._roots)
        if uid is not None and gid is not None:
            os.chown(folder, uid, gid)

        def clean() -> None:
            remove()
            with contextlib.suppress(OSError):
                shutil.rmtree(folder)

        return Order(limits.scratch_bytes, limits.scratch_inodes, folder, clean, cgroup)

    def _check_files(self, request: Request) -> None:
        for dataset in request.datasets:
            for file in dataset.files:
                if not any(Path(file).is_relative_to(root) for root in self._roots):
                    raise Misconfigured(
                        f"A file of dataset {dataset.name!r} lies outside the folders that the "
                        "sandbox was given; this is a fault of the installation."
                    )


def _ids(roots: Sequence[str]) -> tuple[int | None, int | None]:
    """Root hands over to nobody, in the group of the data, which is how the data can be read."""
    if os.getuid() != 0:
        return None, None
    return _NOBODY, os.stat(roots[0]).st_gid if roots else _NOBODY  # noqa: PTH116


@add_provider(
    "embedded",
    remedy="Use Linux 5.13 or newer with Landlock and seccomp, or set STEWARD_SANDBOX__PROVIDER to docker, "
    "kubernetes or microsandbox.",
)
def _open(place: Place) -> Embedded:
    return Embedded(place.data, ready=place.settings.ready)
