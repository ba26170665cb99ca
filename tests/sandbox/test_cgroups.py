"""Control groups against a folder that fills itself like the kernel's; delegation is rarely to be had."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from steward.sandbox import Limits, Request, Response
from steward.sandbox.cgroups import WALL, Cgroups, delegated
from steward.sandbox.contract import Envelope
from steward.sandbox.providers.embedded import Embedded
from steward.sandbox.words import words

_MIB = 1 << 20
_FILES = words("""
    cgroup.controllers cgroup.procs cgroup.subtree_control memory.max memory.events
    memory.oom.group memory.swap.max pids.max
""")


@dataclass
class Hierarchy:
    """What the kernel shows, and what was asked of it."""

    mount: Path
    own: Path
    removed: dict[str, dict[str, str]]
    events: str = ""

    def delegated(self) -> Cgroups | None:
        return delegated(self.mount, self.own, lambda folder: folder.name == "app")


@pytest.fixture
def hierarchy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hierarchy:
    """`/app` is delegated, the server lives in `/app/server`."""
    made = Hierarchy(tmp_path / "cgroup", tmp_path / "own", {})
    make, remove = Path.mkdir, Path.rmdir

    def mkdir(
        folder: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False
    ) -> None:
        make(folder, mode, parents, exist_ok)
        if folder.is_relative_to(made.mount):
            for name in _FILES:
                (folder / name).touch()
            (folder / "cgroup.controllers").write_text("cpu memory pids\n")
            (folder / "memory.events").write_text(made.events)

    def rmdir(folder: Path) -> None:
        if folder.is_relative_to(made.mount):
            if any(each.is_dir() for each in folder.iterdir()):
                raise OSError
            made.removed[folder.name] = {each.name: each.read_text() for each in folder.iterdir()}
            shutil.rmtree(folder)
        else:
            remove(folder)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    for folder in (made.mount, made.mount / "app", made.mount / "app/server"):
        folder.mkdir()
    (made.mount / "app/server/cgroup.procs").write_text(f"{os.getpid()}\n")
    made.own.write_text("1:name=systemd:/x\n0::/app/server\n")
    return made


@pytest.fixture
def provider(hierarchy: Hierarchy, order_data: Path) -> Iterator[Embedded]:
    made = Embedded([order_data], ready=1, cgroups=hierarchy.delegated)
    if made.prove().tier == "none":
        pytest.skip("no walls stand on this machine")
    yield made
    made.close()


def _run(provider: Embedded, code: str, *, guarded: bool = True, **limits: int) -> Response:
    never, bell = os.pipe()
    request = Request(kind="python", code=code, limits=Limits(**limits))
    try:
        return provider.run(Envelope(request=request, scratch="", guarded=guarded), never)
    finally:
        os.close(never)
        os.close(bell)


def test_each_process_has_a_group_of_its_own(provider: Embedded, hierarchy: Hierarchy) -> None:
    """And what the kernel ends because the group's memory is used up is called so."""
    assert WALL in provider.prove().stood
    assert WALL in _run(provider, "result = 1").walls
    wide = _run(provider, "result = 1", memory_bytes=2048 * _MIB)
    assert WALL in wide.walls
    crash = "import os\nos.abort()"
    assert _run(provider, crash, guarded=False).status == "killed"
    hierarchy.events = "low 0\noom 1\noom_kill 1\n"
    # The one that is ready was made before.
    assert "out_of_memory" in {_run(provider, crash, guarded=False).status for _ in range(3)}
    provider.close()
    groups = {name: kept for name, kept in hierarchy.removed.items() if name.isdigit()}
    joined = [int(kept["cgroup.procs"]) for kept in groups.values() if kept["cgroup.procs"]]
    assert len(set(joined)) == len(joined) >= 3
    assert os.getpid() not in joined
    caps = {int(kept["memory.max"]) // _MIB for kept in groups.values()}
    # Memory, scratch, and what a process takes over from the one it was made of.
    assert caps == {1024 + 256 + 256, 2048 + 256 + 256}
    assert {kept["pids.max"] for kept in groups.values()} == {"300"}
    assert {kept["memory.swap.max"] for kept in groups.values()} == {"0"}
    assert [folder.name for folder in (hierarchy.mount / "app").iterdir() if folder.is_dir()] == [
        "server"
    ]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("cgroup/app/cgroup.controllers", "cpu memory"),
        ("cgroup/app/cgroup.procs", "1\n"),
        ("own", "4:memory:/app/server\n"),
        ("own", "0::/elsewhere/server\n"),
    ],
)
def test_nothing_is_taken_that_is_not_delegated(
    hierarchy: Hierarchy, tmp_path: Path, file: str, text: str
) -> None:
    (tmp_path / file).write_text(text)
    assert hierarchy.delegated() is None


def test_no_other_group_of_root_is_divided(hierarchy: Hierarchy) -> None:
    if os.getuid() == 0:
        assert delegated(hierarchy.mount, hierarchy.own) is None


def test_the_server_itself_is_never_moved(hierarchy: Hierarchy) -> None:
    groups = hierarchy.delegated()
    assert groups is not None
    made = groups.make(Limits())
    assert made is not None
    with pytest.raises(ProcessLookupError):
        made.join(0)
