"""A large table through the whole product, beside DuckDB doing the same with bare files.

Steward loads a generated CSV, edits a text in every row, profiles and exports the result: each is a call through the
broker, with its policy, journal and versions, as the terminal and the pages make it. DuckDB copies CSV to Parquet,
rewrites the Parquet file with the same edit, summarises it and copies it out, with the same threads. The two take
turns in one run.

    .venv/bin/python benchmarks/scale.py --rows 1000000
    .venv/bin/python benchmarks/scale.py --rows 20000      a smoke test

The last line is JSON. `load_ratio` and the others are Steward's best wall-clock seconds divided by DuckDB's, `…_cpu`
the same of CPU seconds, children included, which are steadier on a busy machine. `export_parts_ratio` hands over the
stored parts in a zip and is divided by DuckDB's Parquet copy. `peak_mb` is the most memory that Steward and its
children held together.
"""

import argparse
import asyncio
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psutil

from steward.app import Steward, open_steward, prepare_first_start
from steward.core import load_settings
from steward.flows import DirectCall
from steward.identity import Access, Principal, Via

COLUMNS = """
    i AS id, printf('%06d', i % 99991) AS code, 'Customer ' || (hash(i) % 100000) || ' ' AS name,
    ((hash(i + 2) % 1000000)::BIGINT / 100)::DECIMAL(12, 2) AS amount,
    DATE '2020-01-01' + (hash(i + 4) % 1500)::INTEGER AS day,
    TIMESTAMP '2020-01-01' + to_seconds((hash(i + 5) % 100000000)::BIGINT) AS moment,
    ['red', 'green', 'blue', 'black'][1 + (hash(i + 7) % 4)::INTEGER] AS colour,
    CASE WHEN hash(i + 8) % 10 > 0 THEN hash(i + 8) % 5000 END AS quantity
"""
STEPS = ("load", "edit", "profile", "export_csv", "export_parquet", "export_parts")


@dataclass(frozen=True)
class Taken:
    wall: float
    cpu: float


class Watch:
    """The most memory that this process and its children hold, looked at every few milliseconds."""

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self.watching = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.02):
            if self.watching:
                held = sum(_of_family(lambda process: process.memory_info().rss))
                self.peak_mb = max(self.peak_mb, held / 1e6)


def _of_family(figure: Callable[[psutil.Process], float]) -> Iterator[float]:
    own = psutil.Process()
    for process in (own, *own.children(recursive=True)):
        try:
            yield figure(process)
        except psutil.NoSuchProcess:
            continue


def _cpu(process: psutil.Process) -> float:
    used = process.cpu_times()
    return used.user + used.system + used.children_user + used.children_system


def clocked(action: Callable[[], Any]) -> Taken:
    cpu, started = sum(_of_family(_cpu)), time.perf_counter()
    action()
    return Taken(time.perf_counter() - started, sum(_of_family(_cpu)) - cpu)


@contextmanager
def opened(home: Path) -> Iterator[tuple[Steward, Access]]:
    settings = load_settings().model_copy(update={"home": home})
    steward = open_steward(settings)
    try:
        prepare_first_start(steward, demo=False)
        owner = steward.identity.users.first_owner()
        assert owner is not None
        principal = Principal(owner.id, owner.email, owner.name, Via.session)
        project = steward.identity.projects.page(principal)[0]
        yield steward, steward.identity.projects.enter(principal, project.id)
    finally:
        steward.close()


class Ours:
    """Every step as one call through the broker."""

    def __init__(self, steward: Steward, access: Access, file: Path) -> None:
        self._steward = steward
        self._access = access
        self._file = file
        self._name = ""

    def begin(self, number: int) -> None:
        self._name = f"table {number}"

    def _call(self, tool: str, **arguments: Any) -> Any:
        wanted = DirectCall(tool, arguments, seen=True)
        calls = self._steward.governing.direct_calls
        return asyncio.run(calls.run(self._access, wanted)).value

    def load(self) -> None:
        with self._file.open("rb") as file:
            pieces = iter(lambda: file.read(1 << 20), b"")
            upload = self._steward.workbench.bringing.take(
                self._access.scope, self._file.name, pieces
            )
        self._call("ingest", dataset=self._name, upload=upload.id)

    def edit(self) -> None:
        columns = {"columns": ["name"]}
        self._call("clean", dataset=self._name, operation="trim", arguments=columns)

    def profile(self) -> None:
        self._call("profile", dataset=self._name)

    def export_csv(self) -> None:
        self._export("csv")

    def export_parquet(self) -> None:
        self._export("parquet")

    def export_parts(self) -> None:
        self._export("delta")

    def _export(self, kind: str) -> None:
        datasets = self._steward.workbench.datasets
        card = datasets.get(self._access.scope, self._access.user_id, self._name, "main")
        self._call("export_dataset", dataset=self._name, format=kind, version=card.version)


class Bare:
    """The same with DuckDB and files."""

    def __init__(self, folder: Path, file: Path, threads: int) -> None:
        self._folder = folder
        self._file = file
        self._threads = threads

    def begin(self, _number: int) -> None:
        for name in ("loaded", "edited", "out"):
            (self._folder / name).unlink(missing_ok=True)

    def _run(self, sql: str) -> None:
        with duckdb.connect(config={"threads": self._threads}) as connection:
            connection.execute(sql)

    def _copy(self, source: str, target: str, form: str) -> None:
        self._run(f"COPY ({source}) TO '{self._folder / target}' (FORMAT {form})")

    @property
    def _edited(self) -> str:
        return f"FROM read_parquet('{self._folder / 'edited'}')"

    def load(self) -> None:
        self._copy(f"FROM read_csv('{self._file}')", "loaded", "parquet")

    def edit(self) -> None:
        loaded = f"read_parquet('{self._folder / 'loaded'}')"
        self._copy(f"SELECT * REPLACE (trim(name) AS name) FROM {loaded}", "edited", "parquet")

    def profile(self) -> None:
        self._run(f"SUMMARIZE {self._edited}")

    def export_csv(self) -> None:
        self._copy(self._edited, "out", "csv")

    def export_parquet(self) -> None:
        self._copy(self._edited, "out", "parquet")

    export_parts = export_parquet


def write(file: Path, first: int, rows: int) -> None:
    """Other rows in every round: Steward does not profile the same rows twice."""
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {COLUMNS} FROM range({first}, {first + rows}) t(i)) TO '{file}' (HEADER)"
        )


def compare(folder: Path, rows: int, rounds: int) -> dict[str, float]:
    file = folder / "input.csv"
    taken: dict[tuple[str, str], list[Taken]] = {}
    with opened(folder / "home") as (steward, access), Watch() as watch:
        ours = Ours(steward, access, file)
        bare = Bare(folder, file, psutil.cpu_count() or 2)
        for number in range(rounds):
            write(file, rows * number, rows)
            for side in (ours, bare):
                side.begin(number)
            for step in STEPS:
                for name, side in (("steward", ours), ("duckdb", bare)):
                    watch.watching = name == "steward"
                    used = clocked(getattr(side, step))
                    taken.setdefault((step, name), []).append(used)
                    print(f"{step:16}{name:10}{used.wall:8.2f} s{used.cpu:8.2f} s CPU", flush=True)
    figures: dict[str, float] = {"rows": rows, "input_mb": round(file.stat().st_size / 1e6, 1)}
    for step in STEPS:
        for what, key in (("wall", f"{step}_ratio"), ("cpu", f"{step}_ratio_cpu")):
            best = [
                min(getattr(t, what) for t in taken[step, side]) for side in ("steward", "duckdb")
            ]
            figures[key] = round(best[0] / max(best[1], 1e-3), 2)
    return {**figures, "peak_mb": round(watch.peak_mb)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as name:
        print(json.dumps(compare(Path(name), arguments.rows, arguments.rounds)))


if __name__ == "__main__":
    main()
