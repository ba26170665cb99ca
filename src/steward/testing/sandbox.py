"""The contract of sandbox providers as tests to inherit: honest jobs, limits, files, call-offs, escapes.

class TestMyProvider(SandboxProviderKit):
    @pytest.fixture(scope="class")
    @classmethod
    def provider(cls, data: Path) -> Iterator[Provider]:
        made = MyProvider(data)
        yield made
        made.close()
"""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from steward.sandbox import Column, Dataset, Envelope, Limits, Provider, Request, Response

Run = Callable[..., Response]
_MIB = 1 << 20
# Containers take their time to start; what counts is that everything ends.
_SLACK_SECONDS = 30.0
_PANDAS = (
    "import pandas as pd\nframe = con.execute('SELECT * FROM orders').df()\n"
    "result_df = frame.groupby('g').size().rename('n').reset_index()"
)
_GIVES_ALL = (
    "import json, math\nprint('hello')\nresult = {'pi': round(math.pi, 2)}\n"
    "chart = {'mark': 'bar', 'data': {'values': [{'a': 1}]}}\n"
    "(scratch / 'sub').mkdir()\n(scratch / 'sub' / 'b.json').write_text(json.dumps([1]))"
)
_LEAVES_LINKS = (
    "import os\n"
    "for make in (lambda: os.symlink('/etc/passwd', 'link'), lambda: os.mkfifo('pipe')):\n"
    "    try:\n        make()\n    except OSError:\n        pass\n"
    "open('plain', 'w').write('x')\nresult = 'left'"
)
_TOO_MUCH = {
    "rows": ("sql", "SELECT a.i FROM range(10000) a(i), range(10000) b(i)", "too_large"),
    "bytes": ("sql", "SELECT repeat('x', 100000) AS t FROM range(1000)", "too_large"),
    "memory": ("python", "x = bytearray(10 << 30)", "out_of_memory"),
    "time": ("python", "while True:\n    pass", "timeout"),
    "output": ("python", "while True:\n    print('x' * 10000)", "timeout"),
}
_TRIES = """
import os, socket

def works(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True

result = [name for name, attempt in {
    "a file outside": lambda: open(@SECRET@).read(),
    "another dataset": lambda: open(@OTHER@, "rb").read(),
    "changing the dataset": lambda: open(@DATA@, "r+b").write(b"x"),
    "the network": lambda: socket.socket(socket.AF_INET),
    "unix sockets": lambda: socket.socket(socket.AF_UNIX),
    "processes": os.fork,
    "programs": lambda: os.execv("/usr/local/bin/python", ["python"]),
    "signals": lambda: os.kill(os.getppid() or 1, 0),
    "becoming root": lambda: os.setuid(0),
    "mode of the root": lambda: os.chmod("/", 0o777),
    "writing outside": lambda: open("/tmp/steward-escape", "x"),
}.items() if works(attempt)] + [name for name in os.environ if "KIT" in name]
"""


def lay_out(folder: Path) -> Path:
    """The folder with the kit's data, and beside it what nobody may read."""
    data = folder / "data"
    data.mkdir(mode=0o755)
    for name in ("orders", "other"):
        file = data / f"{name}.parquet"
        duckdb.sql("SELECT i AS id, i % 3 AS g FROM range(1000) r(i)").write_parquet(str(file))
        # As the blob store keeps them: readable by the owner and its group alone.
        file.chmod(0o440)
    (folder / "secret").write_text(secrets.token_hex())
    return data


class SandboxProviderKit:
    """For providers; a subclass gives one as `provider`, which may read files below `data`."""

    @pytest.fixture(scope="class")
    @classmethod
    def data(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        return lay_out(tmp_path_factory.mktemp("kit"))

    @pytest.fixture(scope="class")
    @classmethod
    def orders(cls, data: Path) -> Dataset:
        file = data / "orders.parquet"
        return Dataset(
            name="orders",
            source=f"read_parquet(['{file}'])",
            files=[str(file)],
            columns=[Column(name="id", type="BIGINT"), Column(name="g", type="BIGINT")],
        )

    @pytest.fixture
    def run(self, provider: Provider, orders: Dataset) -> Iterator[Run]:
        never, bell = os.pipe()

        def execute(kind: str, code: str, *, guarded: bool = True, **limits: float) -> Response:
            request = Request.model_validate(
                {"kind": kind, "code": code, "datasets": [orders], "limits": limits}
            )
            return provider.run(Envelope(request=request, scratch="", guarded=guarded), never)

        yield execute
        os.close(never)
        os.close(bell)

    def test_walls_are_proven(self, provider: Provider) -> None:
        walls = provider.prove()
        assert walls.tier != "none", walls.reasons
        assert walls.stood
        assert walls.tried
        assert provider.prove() == walls

    def test_sql(self, run: Run) -> None:
        done = run("sql", "SELECT g, count(*) AS n FROM orders GROUP BY g ORDER BY g")
        assert (done.status, done.rows) == ("done", [[0, 334], [1, 333], [2, 333]]), done.message
        assert [column.name for column in done.columns] == ["g", "n"]
        assert done.tables == ["orders"]
        assert done.tier != "none"
        assert done.walls
        assert done.timings.total_ms > 0

    def test_python(self, run: Run) -> None:
        done = run("python", _PANDAS)
        assert (done.status, done.rows) == ("done", [[0, 334], [1, 333], [2, 333]]), done.message

    def test_everything_a_program_gives_comes_back(self, run: Run) -> None:
        done = run("python", _GIVES_ALL)
        assert (done.status, done.result) == ("done", {"pi": 3.14}), done.message
        assert done.stdout == "hello\n"
        assert done.charts == [{"mark": "bar", "data": {"values": [{"a": 1}]}}]
        assert {file.path: file.content for file in done.files} == {"sub/b.json": b"[1]"}

    def test_only_plain_files_come_back(self, run: Run) -> None:
        done = run("python", _LEAVES_LINKS, guarded=False)
        assert [(file.path, file.content) for file in done.files] == [("plain", b"x")], done
        for skipped in done.skipped_files:
            assert skipped.partition(":")[0] in {"link", "pipe"}

    def test_what_the_guards_refuse_is_not_run(self, run: Run) -> None:
        done = run("sql", "SELECT 1,\n  read_text('/etc/passwd')")
        assert done.status == "refused"
        assert [(r.what, r.line, r.column) for r in done.refusals] == [("read_text", 2, 3)]
        assert run("python", "x = 1\nimport os").status == "refused"

    def test_errors_name_the_line(self, run: Run) -> None:
        done = run("python", "a = 1\nb = a / 0\n")
        assert done.status == "failed"
        assert "line 2" in done.message
        assert "ZeroDivisionError" in done.message

    @pytest.mark.parametrize("case", _TOO_MUCH)
    def test_too_much_ends_and_is_called_what_it_was(self, run: Run, case: str) -> None:
        kind, code, expected = _TOO_MUCH[case]
        # What ends by another limit has time to get there on a busy machine.
        wall = 1 if expected == "timeout" else 20
        started = time.monotonic()
        done = run(kind, code, wall_seconds=wall, memory_bytes=512 * _MIB, output_bytes=_MIB)
        assert time.monotonic() - started < wall + _SLACK_SECONDS
        assert done.status == expected, done.message
        assert done.message
        if case == "output":
            assert done.dropped_output_bytes > 0
            assert len(done.stdout) <= _MIB // 16

    def test_scratch_has_a_cap(self, run: Run) -> None:
        code = "with open('big', 'wb') as out:\n    for _ in range(64):\n        out.write(bytes(1 << 20))"
        done = run("python", code, scratch_bytes=8 * _MIB, wall_seconds=20)
        assert done.status in {"failed", "too_large"}, done.message
        assert not done.files or done.files[0].size <= 8 * _MIB

    def test_nothing_stays_from_one_execution_to_the_next(self, run: Run) -> None:
        marked = "import math\nmath.mark = 1\n(scratch / 'left').write_text('x')"
        assert run("python", marked).status == "done"
        look = (
            "import math\nleft = [p.name for p in scratch.iterdir() if p.name[0] != '.']\n"
            "result = [hasattr(math, 'mark'), left]"
        )
        assert run("python", look).result == [False, []]

    def test_a_call_off_ends_it(self, provider: Provider) -> None:
        cancelled, bell = os.pipe()
        limits = Limits(wall_seconds=300, cpu_seconds=300)
        request = Request(kind="python", code="while True:\n    pass", limits=limits)
        told: list[Response] = []
        work = threading.Thread(
            target=lambda: told.append(
                provider.run(Envelope(request=request, scratch=""), cancelled)
            )
        )
        work.start()
        try:
            work.join(0.5)
            assert work.is_alive()
        finally:
            os.write(bell, b"x")
            work.join(_SLACK_SECONDS)
        assert [response.status for response in told] == ["cancelled"]
        os.close(cancelled)
        os.close(bell)

    def test_the_walls_alone_hold(
        self, run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STEWARD_KIT_SECRET", "x")
        aims = {
            "@SECRET@": data.parent / "secret",
            "@OTHER@": data / "other.parquet",
            "@DATA@": data / "orders.parquet",
        }
        code = _TRIES
        for mark, path in aims.items():
            code = code.replace(mark, repr(str(path)))
        done = run("python", code, guarded=False)
        assert (done.status, done.result) == ("done", []), done.message

    def test_what_code_claims_about_itself_is_not_believed(self, run: Run) -> None:
        done = run("python", "result = {'tier': 'ns', 'walls': ['mine'], 'status': 'refused'}")
        assert done.status == "done"
        assert "mine" not in done.walls
