"""Files are read in a process of their own: its crash, hang or hunger is only an error."""

import gzip
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from steward import ingest
from steward.core.errors import Invalid, NotFound, TooLarge, Unavailable
from steward.ingest import Limits, Options, isolation
from steward.isolation import ForkServer

READERS = ("steward.ingest.reader_process", isolation._ENVIRONMENT)
TABLE = b"id,t\n1,a\n2,b\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(TABLE)
    return path


@pytest.fixture
def broken_reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator["BrokenReader"]:
    broken = BrokenReader(monkeypatch, tmp_path)
    yield broken
    broken.stem.close()


class BrokenReader:
    """Has readers forked that do what a broken parser might do."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self._folder = folder
        self.real_python = sys.executable
        self.stem = ForkServer(*READERS)

    def does(self, code: str, idle_seconds: float = 60) -> None:
        script = self._folder / "stem"
        script.write_text(
            "import os, sys\n"
            "from steward.ingest import reader\n"
            "from steward.isolation import forks\n"
            "def answer(request, limits, progress):\n"
            f"{textwrap.indent(code, '    ')}\n"
            "real, reader.answer = reader.answer, answer\n"
            f"forks._IDLE_SECONDS = {idle_seconds}\n"
            "forks.serve_forks((), reader.serve)\n"
        )
        runner = self._folder / "python"
        runner.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{script}"\n')
        runner.chmod(0o755)
        self._monkeypatch.setattr(sys, "executable", str(runner))
        self._monkeypatch.setattr(isolation, "stem", self.stem)


def test_inspection_and_load_are_those_of_the_process_itself(table: Path, tmp_path: Path) -> None:
    alone = isolation.inspect(table, "table.csv")
    assert alone == ingest.inspect(table, "table.csv")
    seen: list[str] = []
    loaded = isolation.load(
        table, None, tmp_path / "a", name="table.csv", progress=lambda doing, *_: seen.append(doing)
    )
    assert loaded == ingest.load(table, None, tmp_path / "b", name="table.csv")
    assert (tmp_path / "a/data.parquet").read_bytes() == (tmp_path / "b/data.parquet").read_bytes()
    assert "writing" in seen


def test_options_and_errors_cross_over(table: Path, tmp_path: Path) -> None:
    options = Options(columns={"id": ingest.ColumnOption("VARCHAR")})
    assert isolation.inspect(table, "t", options).columns[0].type == "VARCHAR"
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(Invalid) as refusal:
        isolation.load(empty, None, tmp_path / "out", name="empty.csv")
    assert refusal.value.specific_code == "empty"
    with pytest.raises(NotFound):
        isolation.inspect(tmp_path / "missing", "missing.csv")


def test_a_crash_is_an_error(table: Path, tmp_path: Path, broken_reader: BrokenReader) -> None:
    broken_reader.does("import ctypes; ctypes.string_at(0)")
    with pytest.raises(Invalid, match="crash") as error:
        isolation.load(table, None, tmp_path / "out", name="evil.csv")
    assert error.value.specific_code == "reader-crashed"


def test_an_exception_is_named_but_its_text_is_not_shown(
    table: Path, broken_reader: BrokenReader
) -> None:
    broken_reader.does("raise ZeroDivisionError('row 7: secret salary')")
    with pytest.raises(Invalid, match="ZeroDivisionError") as error:
        isolation.inspect(table, "evil.csv")
    assert "salary" not in error.value.message


def test_a_hang_ends_at_the_wall_clock(table: Path, broken_reader: BrokenReader) -> None:
    broken_reader.does("import signal\nwhile True: signal.pause()")
    with pytest.raises(TooLarge, match="longer than 1 seconds"):
        isolation.inspect(table, "slow.csv", limits=Limits(wall_seconds=1))


def test_a_loop_ends_at_the_cpu_limit(table: Path, broken_reader: BrokenReader) -> None:
    broken_reader.does("while True: pass")
    with pytest.raises(TooLarge, match="CPU seconds"):
        isolation.inspect(table, "busy.csv", limits=Limits(cpu_seconds=1))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's memory")
def test_hunger_ends_at_the_memory_limit(table: Path, broken_reader: BrokenReader) -> None:
    broken_reader.does("hoard = []\nwhile True: hoard.append(bytearray(50_000_000))")
    with pytest.raises(Invalid, match="MemoryError"):
        isolation.inspect(table, "hungry.csv", limits=Limits(memory_mb=400))


def test_a_flood_of_bytes_ends_at_the_file_limit(table: Path, broken_reader: BrokenReader) -> None:
    broken_reader.does(
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "with open('flood', 'wb') as file:\n    while True: file.write(bytes(1 << 20))"
    )
    with pytest.raises(TooLarge, match="grew beyond 3 MB"):
        isolation.inspect(table, "flood.csv", limits=Limits(output_mb=3))


def test_the_child_has_an_environment_of_its_own(
    table: Path, broken_reader: BrokenReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEWARD_SECRET", "hidden")
    broken_reader.does("progress(','.join(sorted(os.environ)), 0, None); os._exit(3)")
    seen: list[str] = []
    with pytest.raises(Invalid):
        isolation.inspect(table, "t.csv", progress=lambda doing, *_: seen.append(doing))
    assert len(seen) == 1
    assert not {"STEWARD_SECRET", "PATH", "PYTHONPATH"} & set(seen[0].split(","))


def test_a_caller_that_gives_up_leaves_no_process_and_no_scratch(
    table: Path, tmp_path: Path, broken_reader: BrokenReader
) -> None:
    pid = tmp_path / "pid"
    broken_reader.does(
        f"open({str(pid)!r}, 'w').write(str(os.getpid()))\n"
        "progress('begun', 0, None)\nimport signal\nsignal.pause()"
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def give_up(_doing: str, _done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        isolation.load(table, None, tmp_path / "out", progress=give_up, scratch=scratch)
    assert list(scratch.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), signal.SIGCONT)


def test_a_failed_load_leaves_no_files(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(bytes(90 << 20)))
    with pytest.raises(TooLarge):
        isolation.load(bomb, None, tmp_path / "out", name="bomb.csv.gz")
    assert not list((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True


def test_a_large_file_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    duckdb.connect().execute(
        "COPY (SELECT i AS id, 'some text ' || i AS t, i * 0.25 AS v FROM range(400000) r(i)) "
        f"TO '{path}' (HEADER)"
    )
    loaded = isolation.load(path, None, tmp_path / "out", Limits(memory_mb=500))
    assert loaded.rows == 400_000


def test_readings_run_beside_each_other(table: Path) -> None:
    waiting = isolation.stem.line(60)
    assert isolation.inspect(table, "t.csv").columns
    waiting.close()


def test_a_stem_that_was_killed_is_replaced(table: Path, tmp_path: Path) -> None:
    isolation.inspect(table, "t.csv")
    os.kill(_process(isolation.stem).pid, signal.SIGKILL)
    assert isolation.load(table, None, tmp_path / "out").rows == 2


def test_a_stem_that_nobody_asks_ends_and_another_one_takes_its_place(
    table: Path, broken_reader: BrokenReader
) -> None:
    broken_reader.does("return real(request, limits, progress)", idle_seconds=0)
    assert isolation.inspect(table, "t.csv").columns
    assert _process(broken_reader.stem).wait(timeout=60) == 0
    assert isolation.inspect(table, "t.csv").columns


def test_readers_end_with_a_caller_that_is_killed(
    table: Path, tmp_path: Path, broken_reader: BrokenReader
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    broken_reader.does(f"held = open({str(fifo)!r}, 'w')\nimport signal\nsignal.pause()")
    program = (
        "import sys\nfrom pathlib import Path\nfrom steward.ingest import isolation\n"
        f"sys.executable = {sys.executable!r}\n"
        f"isolation.inspect(Path({str(table)!r}), 't.csv')\n"
    )
    caller = subprocess.Popen([broken_reader.real_python, "-c", program])
    with fifo.open("rb") as held:
        # Opened by the reader: it is there. Read to its end: it has gone.
        caller.kill()
        assert held.read() == b""
    caller.wait()


def test_what_cannot_be_started_is_said(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stem = ForkServer(*READERS)
    monkeypatch.setattr(isolation, "stem", stem)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(Unavailable, match="short of memory or processes"):
        isolation.inspect(table, "t.csv")
    stem.close()


def _process(stem: ForkServer) -> subprocess.Popen[bytes]:
    assert stem.process is not None
    return stem.process


def test_a_relative_scratch_folder_is_the_callers(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("home").mkdir()
    Path("out").mkdir()
    loaded = isolation.load(table, None, Path("out"), scratch=Path("home"))
    assert loaded.rows > 0
