"""Undo and restore on 10 million rows against 10 thousand, and what an edit of 1% writes.

The same action (1% of the rows updated in one place, committed) is undone and restored on a small and on a large
dataset with 20 columns. Beside it, on the large one: a full copy of the files, which is what undo costs without
versions, and delta-rs, which has both `restore` and `update`.

    .venv/bin/python benchmarks/undo.py            10k and 10M rows, some minutes
    .venv/bin/python benchmarks/undo.py --quick    small sizes, for a smoke test

The last line is JSON: `undo_ms_10m` and `undo_ms_10k` are medians of undo (and of restore, as `restore_ms_…`),
`edit_bytes_fraction` is what the edit of 1% wrote, divided by the size of the dataset.
"""

import argparse
import json
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from steward.core import Ids, SystemClock
from steward.store import Database, FileBlobs, Scope, migrate
from steward.tables.engine import Limits, session
from steward.versions import Draft, Versions, Workspace
from steward.versions.edits import Update

SCOPE = Scope("org_bench", "prj_bench")
REPEATS = 25

COLUMNS = """
    i AS id, (hash(i) % 1000000)::BIGINT AS customer, 'order ' || i AS code,
    DATE '2015-01-01' + (i // 3000)::INTEGER AS day,
    TIMESTAMP '2015-01-01' + INTERVAL (i * 30) SECOND AS at,
    (hash(i + 1) % 100000)::DECIMAL(12, 2) / 100 AS price, (hash(i + 2) % 50)::INTEGER AS quantity,
    'city ' || (hash(i + 3) % 500) AS city, 'country ' || (hash(i + 4) % 40) AS country,
    'user' || (hash(i + 5) % 900000) || '@example.com' AS email,
    hash(i + 6) % 3 = 0 AS active, (hash(i + 7) % 1000) / 7.0 AS score,
    CASE WHEN hash(i + 8) % 10 > 0 THEN 'note ' || (hash(i + 9) % 1000) END AS note,
    (hash(i + 10) % 256)::SMALLINT AS a, (hash(i + 11) % 1000)::INTEGER AS b,
    (hash(i + 12) % 1000000)::BIGINT AS c, (hash(i + 13) % 997) / 10.0 AS d,
    'EUR' AS currency, 'v' || (hash(i + 14) % 20) AS kind, (hash(i + 15) % 2)::INTEGER AS flag
"""


@dataclass(frozen=True)
class Figures:
    rows: int
    bytes: int
    create_s: float
    edit_s: float
    edit_bytes: int
    scattered_s: float
    scattered_bytes: int
    diff_s: float
    workspace: Workspace


def say(text: str) -> None:
    print(text, flush=True)


def clocked(action: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall seconds, CPU seconds and the outcome."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    outcome = action()
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    return wall, cpu, outcome


def opened(folder: Path) -> tuple[Versions, Workspace]:
    clock = SystemClock()
    database = Database(f"sqlite:///{folder / 'steward.db'}")
    migrate(database)
    versions = Versions(
        database,
        FileBlobs(folder / "blobs"),
        clock,
        Ids(clock),
        folder / "scratch",
        limits=Limits(memory_mb=2048),
    )
    return versions, versions.workspace(SCOPE, "usr_bench")


def steward(folder: Path, rows: int) -> Figures:
    versions, workspace = opened(folder)
    _, create, version = clocked(
        lambda: versions.write(SCOPE, f"SELECT {COLUMNS} FROM range({rows}) t(i)")
    )
    workspace.commit(Draft("Load", datasets={"orders": version.id}))
    say(f"  written: {version.bytes / 1e6:,.1f} MB in {version.parts} parts, {create:.1f} CPU s")
    low = rows // 3
    place = Update(f"id BETWEEN {low} AND {low + rows // 100 - 1}", {"note": "'checked'"})
    _, edit, outcome = clocked(lambda: versions.edit(SCOPE, version.id, place))
    assert outcome.counts.updated == rows // 100
    workspace.commit(Draft("Edit", datasets={"orders": outcome.version.id}))
    _, diff, difference = clocked(lambda: versions.diff(SCOPE, version.id, outcome.version.id))
    assert difference.changed == rows // 100
    scattered = Update("hash(id) % 100 = 7", {"note": "'checked'"})
    _, spread, other = clocked(lambda: versions.edit(SCOPE, version.id, scattered))
    return Figures(
        rows,
        version.bytes,
        create,
        edit,
        outcome.written_bytes,
        spread,
        other.written_bytes,
        diff,
        workspace,
    )


@dataclass(frozen=True)
class Moves:
    """Milliseconds, durable on disk: median wall, best wall, median CPU."""

    median: float
    best: float
    cpu: float

    @classmethod
    def of(cls, samples: list[tuple[float, float]]) -> "Moves":
        walls = [wall * 1000 for wall, _ in samples]
        cpus = [cpu * 1000 for _, cpu in samples]
        return cls(statistics.median(walls), min(walls), statistics.median(cpus))


def pointer_moves(small: Workspace, large: Workspace) -> dict[str, Moves]:
    """Undo and restore of the last action, taking turns, so that a busy moment hits both sizes alike."""
    samples: dict[str, list[tuple[float, float]]] = {}
    for _ in range(REPEATS):
        for size, workspace in (("10k", small), ("10m", large)):
            wall, cpu, _ = clocked(workspace.undo)
            samples.setdefault(f"undo_{size}", []).append((wall, cpu))
            workspace.redo()
    for _ in range(REPEATS):
        for size, workspace in (("10k", small), ("10m", large)):
            before = workspace.log(limit=200)[-2].id
            restore = partial(workspace.restore, before, datasets=["orders"])
            wall, cpu, _ = clocked(restore)
            samples.setdefault(f"restore_{size}", []).append((wall, cpu))
            assert workspace.dataset("orders") == workspace.dataset("orders", before)
            workspace.undo()
    return {name: Moves.of(taken) for name, taken in samples.items()}


def full_copy(source: Path, target: Path) -> float:
    wall, _, _ = clocked(lambda: shutil.copytree(source, target))
    return wall


def delta_rs(folder: Path, rows: int) -> dict[str, float]:
    """The same action with delta-rs: write, update 1% in one place, restore."""
    from deltalake import DeltaTable, write_deltalake

    with session(Limits(memory_mb=2048)) as connection:
        reader = connection.execute(f"SELECT {COLUMNS} FROM range({rows}) t(i)").to_arrow_reader(
            122_880
        )
        _, create, _ = clocked(lambda: write_deltalake(folder, reader))
    table = DeltaTable(folder)
    size = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    low = rows // 3
    where = f"id >= {low} AND id < {low + rows // 100}"
    _, edit, _ = clocked(lambda: table.update(predicate=where, updates={"note": "'checked'"}))
    after = sum(path.stat().st_size for path in folder.glob("*.parquet"))
    restore, _, _ = clocked(lambda: table.restore(0))
    return {
        "bytes": size,
        "create_s": create,
        "edit_s": edit,
        "edit_fraction": (after - size) / size,
        "restore_ms": restore * 1000,
    }


def show(
    small: Figures, large: Figures, moves: dict[str, Moves], copy_s: float, delta: dict[str, float]
) -> None:
    say("")
    say(f"{'':34}{'small':>12}{'large':>12}{'delta-rs':>12}")
    lines: list[tuple[str, ...]] = [
        ("rows", f"{small.rows:,}", f"{large.rows:,}", f"{large.rows:,}"),
        ("MB", *(f"{b / 1e6:,.1f}" for b in (small.bytes, large.bytes, delta["bytes"]))),
        (
            "write, CPU s",
            *(f"{s:.1f}" for s in (small.create_s, large.create_s, delta["create_s"])),
        ),
        (
            "edit 1% in one place, CPU s",
            *(f"{s:.2f}" for s in (small.edit_s, large.edit_s, delta["edit_s"])),
        ),
        (
            "  bytes written / size",
            f"{small.edit_bytes / small.bytes:.1%}",
            f"{large.edit_bytes / large.bytes:.1%}",
            f"{delta['edit_fraction']:.1%}",
        ),
        ("edit 1% scattered, CPU s", f"{small.scattered_s:.2f}", f"{large.scattered_s:.2f}", ""),
        (
            "  bytes written / size",
            f"{small.scattered_bytes / small.bytes:.1%}",
            f"{large.scattered_bytes / large.bytes:.1%}",
            "",
        ),
        ("row diff, CPU s", f"{small.diff_s:.2f}", f"{large.diff_s:.2f}", ""),
        ("undo, ms", f"{moves['undo_10k'].median:.1f}", f"{moves['undo_10m'].median:.1f}", ""),
        (
            "restore, ms",
            f"{moves['restore_10k'].median:.1f}",
            f"{moves['restore_10m'].median:.1f}",
            f"{delta['restore_ms']:.1f}",
        ),
        ("undo at best, ms", f"{moves['undo_10k'].best:.1f}", f"{moves['undo_10m'].best:.1f}", ""),
        ("undo, CPU ms", f"{moves['undo_10k'].cpu:.1f}", f"{moves['undo_10m'].cpu:.1f}", ""),
        ("full copy, ms", "", f"{copy_s * 1000:,.0f}", ""),
    ]
    for name, *values in lines:
        say(f"{name:34}" + "".join(f"{value!s:>12}" for value in values))
    say("")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="small sizes, for a smoke test")
    quick = parser.parse_args().quick
    few, many = (2_000, 100_000) if quick else (10_000, 10_000_000)
    with tempfile.TemporaryDirectory(prefix="steward-undo-") as name:
        folder = Path(name)
        for part in ("small", "large", "delta"):
            (folder / part).mkdir()
        say(f"Steward, {few:,} rows")
        small = steward(folder / "small", few)
        say(f"Steward, {many:,} rows")
        large = steward(folder / "large", many)
        say("undo and restore, taking turns")
        moves = pointer_moves(small.workspace, large.workspace)
        say("full copy")
        copy_s = full_copy(folder / "large" / "blobs", folder / "copy")
        shutil.rmtree(folder / "copy")
        say("delta-rs")
        delta = delta_rs(folder / "delta", many)
    show(small, large, moves, copy_s, delta)
    figures = {
        "undo_ms_10m": round(moves["undo_10m"].median, 2),
        "undo_ms_10k": round(moves["undo_10k"].median, 2),
        "restore_ms_10m": round(moves["restore_10m"].median, 2),
        "restore_ms_10k": round(moves["restore_10k"].median, 2),
        "edit_bytes_fraction": round(large.edit_bytes / large.bytes, 5),
        "scattered_bytes_fraction": round(large.scattered_bytes / large.bytes, 5),
        "full_copy_ms": round(copy_s * 1000, 1),
        "delta_rs_restore_ms": round(delta["restore_ms"], 1),
        "delta_rs_edit_bytes_fraction": round(delta["edit_fraction"], 5),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
