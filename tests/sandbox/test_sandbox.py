"""Honest work comes back as it should; what is too much ends in time and is called what it was."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import psutil
import pytest

from steward.core.errors import Misconfigured
from steward.core.shares import Share, sharing
from steward.sandbox import Dataset, Request, Response, Sandbox, Walls
from steward.sandbox.contract import Envelope
from steward.sandbox.providers.embedded import Embedded
from tests.sandbox.conftest import Run

MIB = 1 << 20


def test_sql_keeps_types(run: Run) -> None:
    done = run("sql", "SELECT g, sum(amount) AS a, max(day) AS d FROM orders GROUP BY g ORDER BY g")
    assert done.status == "done", done.message
    assert [(c.name, c.type) for c in done.columns] == [
        ("g", "BIGINT"),
        ("a", "DECIMAL(38,2)"),
        ("d", "DATE"),
    ]
    assert done.rows[0] == [0, "250249.50", "2028-09-26"]
    assert done.tables == ["orders"]
    assert done.used_columns == ["orders.g", "orders.amount", "orders.day"]
    assert done.tier in {"ns", "lsm"}
    assert "seccomp" in done.walls


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("9007199254740993", 9007199254740993),
        ("TIMESTAMP '2026-01-02 03:04:05.123456'", "2026-01-02T03:04:05.123456"),
        ("TIMESTAMPTZ '2026-01-02 03:04:05+02'", "2026-01-02T01:04:05+00:00"),
        ("'NaN'::DOUBLE", "NaN"),
        ("'-Infinity'::DOUBLE", "-Infinity"),
        ("'\\xAA'::BLOB", "qg=="),
        ("[1, NULL]", [1, None]),
        ("{'a': 1, 'b': [DATE '2026-01-01']}", {"a": 1, "b": ["2026-01-01"]}),
        ("MAP {1: 'x'}", [[1, "x"]]),
        ("INTERVAL 36 HOUR", "P1DT43200S"),
        ("uuid '00000000-0000-0000-0000-000000000001'", "00000000-0000-0000-0000-000000000001"),
        (
            "170141183460469231731687303715884105727::HUGEINT",
            170141183460469231731687303715884105727,
        ),
        ("'ünï'", "ünï"),
    ],
)
def test_values_come_back(run: Run, expression: str, expected: object) -> None:
    done = run("sql", f"SELECT {expression} AS v")
    assert (done.status, done.rows) == ("done", [[expected]]), done.message


WORKLOADS = {
    "duckdb": "result_df = con.sql('SELECT g, count(*) AS n FROM orders GROUP BY g ORDER BY g')",
    "pandas": (
        "import pandas as pd\nframe = con.execute('SELECT * FROM orders').df()\n"
        "result_df = frame.groupby('g').size().rename('n').reset_index()"
    ),
    "polars": (
        "import polars as pl\nframe = con.execute('SELECT * FROM orders').pl()\n"
        "result_df = frame.group_by('g').agg(pl.len().cast(pl.Int64).alias('n')).sort('g')"
    ),
    "numpy": (
        "import numpy as np\ng = con.execute('SELECT g FROM orders').fetchnumpy()['g']\n"
        "values, counts = np.unique(g, return_counts=True)\n"
        "result_rows = [{'g': a, 'n': b} for a, b in zip(values.tolist(), counts.tolist())]"
    ),
    "arrow": (
        "import pyarrow as pa\ntable = con.execute('SELECT g FROM orders').to_arrow_table()\n"
        "result_df = table.group_by('g').aggregate([('g', 'count')]).sort_by('g')"
    ),
    "plain": (
        "from collections import Counter\n"
        "seen = Counter(row[0] for row in con.execute('SELECT g FROM orders').fetchall())\n"
        "result_rows = sorted(seen.items())"
    ),
}


@pytest.mark.parametrize("library", WORKLOADS)
def test_libraries_work(run: Run, library: str) -> None:
    done = run("python", WORKLOADS[library])
    assert done.status == "done", done.message
    assert done.rows == [[0, 334], [1, 333], [2, 333]]


def test_everything_a_program_gives_comes_back(run: Run) -> None:
    code = (
        "import math, json\nprint('hello')\nresult = {'pi': round(math.pi, 2), 'n': [1, 2]}\n"
        "chart = {'mark': 'bar', 'data': {'values': [{'a': 1}]}}\n"
        "with open('report.txt', 'w') as out:\n    out.write('text')\n"
        "(scratch / 'sub').mkdir()\n(scratch / 'sub' / 'b.json').write_text(json.dumps([1]))"
    )
    done = run("python", code)
    assert done.status == "done", done.message
    assert done.result == {"pi": 3.14, "n": [1, 2]}
    assert done.stdout == "hello\n"
    assert done.charts == [{"mark": "bar", "data": {"values": [{"a": 1}]}}]
    assert {f.path: f.content for f in done.files} == {"report.txt": b"text", "sub/b.json": b"[1]"}
    again = Response.model_validate_json(done.model_dump_json())
    assert again == done


def test_altair_where_it_is_installed(run: Run, provider: Embedded) -> None:
    if "altair" not in provider.prove().libraries:
        pytest.skip("altair is not installed")
    code = "import altair as alt\nchart = alt.Chart(alt.Data(values=[{'a': 1}])).mark_bar().encode(x='a:Q')"
    done = run("python", code)
    assert done.charts[0]["mark"]["type"] == "bar", done.message


@pytest.mark.parametrize(
    "code",
    [
        "result_df = con.sql('SELECT * FROM range(50)')",
        "result_rows = [[n] for n in range(50)]",
        "import polars as pl\nresult_df = pl.DataFrame({'a': range(50)}).lazy()",
        "import pandas as pd\nresult_df = pd.DataFrame({'a': [1, 'x', [2]] * 20})",
    ],
)
def test_rows_beyond_the_limit_are_told(run: Run, code: str) -> None:
    done = run("python", code, rows=7)
    assert (done.status, len(done.rows)) == ("too_large", 7), done.message
    assert "more than 7 rows" in done.message


def test_nothing_stays_from_one_execution_to_the_next(run: Run) -> None:
    marked = "import math\nmath.mark = 1\n(scratch / 'left').write_text('x')\ncon.execute('CREATE TABLE t AS SELECT 1')"
    assert run("python", marked).status == "done"
    look = (
        "import math\nresult = [hasattr(math, 'mark'), [p.name for p in scratch.iterdir() if p.name[0] != '.'], "
        'con.execute("SELECT count(*) FROM duckdb_tables()").fetchone()[0]]'
    )
    assert run("python", look).result == [False, [], 0]


def test_randomness_differs_between_executions(run: Run) -> None:
    code = "import numpy as np, random\nresult = [np.random.rand(), random.random()]"
    first, second = run("python", code).result, run("python", code).result
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_a_pivot_finds_its_values_by_itself(run: Run) -> None:
    done = run("sql", "PIVOT (SELECT g, id % 2 AS odd, id FROM orders) ON g USING count(id)")
    assert done.status == "done", done.message
    assert [column.name for column in done.columns] == ["odd", "0", "1", "2"]
    assert sorted(done.rows) == [[0, 167, 166, 167], [1, 167, 167, 166]]
    assert done.sql is not None
    assert "'0', '1', '2'" in done.sql
    narrow = "PIVOT (SELECT g, id FROM orders WHERE g < $most) ON g USING count(id)"
    assert run("sql", narrow, parameters={"most": 1}).rows == [[334]]


def test_errors_show_the_line_of_the_code(run: Run) -> None:
    done = run("python", "a = 1\nb = a / 0\n")
    assert done.status == "failed"
    assert "line 2" in done.message
    assert "ZeroDivisionError" in done.message
    assert "steward" not in done.message
    assert run("sql", "SELECT missing FROM orders").status == "failed"


def test_refusals_name_the_construct_and_the_place(run: Run) -> None:
    done = run("sql", "SELECT 1,\n  read_text('/etc/passwd')")
    assert done.status == "refused"
    assert [(r.what, r.line, r.column) for r in done.refusals] == [("read_text", 2, 3)]
    done = run("python", "x = 1\nimport os")
    assert [(r.what, r.line, r.column) for r in done.refusals] == [("Import", 2, 1)]


# What the contract kit does not try already.
TOO_MUCH = {
    "10 GB in SQL": ("SELECT length(list(i)) FROM range(1000000000) r(i)", "out_of_memory"),
    "endless SQL": (
        "SELECT sum(a.i * b.i % 7) FROM range(10000000) a(i), range(1000000) b(i)",
        "timeout",
    ),
    "long scalar call": (
        "SELECT regexp_replace(repeat('a', 20000000), '(a*)*b', 'x') || repeat('x', 99)",
        "",
    ),
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_too_much_ends_in_time_and_is_called_what_it_was(run: Run, case: str) -> None:
    code, expected = TOO_MUCH[case]
    # What ends by another limit has time to get there on a busy machine.
    wall = 20 if expected == "out_of_memory" else 1
    started = time.monotonic()
    done = run("sql", code, wall_seconds=wall, memory_bytes=512 * MIB, output_bytes=2 * MIB)
    assert time.monotonic() - started < wall + 5
    if expected:
        assert done.status == expected, done.message
        assert done.message


def test_what_was_ended_leaves_no_process_and_no_memory(run: Run, provider: Embedded) -> None:
    hog = "x = bytearray(400 << 20)\nfor at in range(0, len(x), 4096):\n    x[at] = 1\nwhile True:\n    pass"
    assert provider._zygote is not None
    zygote = psutil.Process(provider._zygote._process.pid)
    assert run("python", hog, wall_seconds=1).status == "timeout"
    # The burial of the last one is over when the thread that does it is free again.
    provider._after.submit(lambda: None).result()
    left = zygote.children(recursive=True)
    # Those that are ready, and with namespaces the first process of the zygote's own. One that is
    # just being made ready has a parent for a moment.
    deadline = time.monotonic() + 10
    while len(left) > provider._ready + 1 and time.monotonic() < deadline:
        psutil.wait_procs(left, timeout=0.05)
        left = zygote.children(recursive=True)
    assert len(left) <= provider._ready + 1
    assert max(process.memory_info().rss for process in left) < 400 * MIB


def test_processor_time_is_limited(run: Run) -> None:
    done = run("python", "while True:\n    pass", wall_seconds=20, cpu_seconds=1)
    assert done.status == "timeout"
    assert "processor" in done.message


class _Lent:
    """The provider of all tests, which one of them must not close."""

    def __init__(self, provider: Embedded) -> None:
        self.prove = provider.prove
        self.run = provider.run

    def close(self) -> None: ...


def test_a_client_that_hangs_up_ends_its_execution(provider: Embedded) -> None:
    async def hang_up() -> float:
        sandbox = Sandbox(_Lent(provider), concurrency=1)
        try:
            endless = Request(kind="python", code="while True:\n    pass")
            work = asyncio.create_task(sandbox.execute(endless))
            await asyncio.wait([work], timeout=0.2)
            started = time.monotonic()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            took = time.monotonic() - started
            # One that still waits for its turn is dropped, too.
            busy = asyncio.create_task(sandbox.execute(endless))
            queued = asyncio.create_task(sandbox.execute(endless))
            await asyncio.wait([busy, queued], timeout=0.1)
            for task in (queued, busy):
                task.cancel()
            await asyncio.wait([busy, queued], timeout=5)
            assert busy.cancelled()
            assert queued.cancelled()
            # The sandbox goes on working.
            assert (await sandbox.execute(Request(kind="sql", code="SELECT 1"))).rows == [[1]]
            return took
        finally:
            await sandbox.close()

    assert asyncio.run(hang_up()) < 5


def test_a_small_query_does_not_wait_for_the_endless_ones_of_somebody_else(
    provider: Embedded,
) -> None:
    async def beside() -> None:
        sandbox = Sandbox(_Lent(provider), concurrency=1)
        endless = Request(kind="python", code="while True:\n    pass")
        try:
            with sharing(Share("project", "ann")):
                tasks = [asyncio.create_task(sandbox.execute(endless)) for _ in range(5)]
            await asyncio.wait(tasks, timeout=0.2)
            with sharing(Share("project", "bob")):
                small = await sandbox.execute(Request(kind="sql", code="SELECT 1"))
            assert small.rows == [[1]]
            assert not any(task.done() for task in tasks)
            await asyncio.to_thread(_until_one_gives_way, provider)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=10)
        finally:
            await sandbox.close()

    asyncio.run(beside())


def _until_one_gives_way(provider: Embedded) -> None:
    assert provider._zygote is not None
    zygote = psutil.Process(provider._zygote._process.pid)
    deadline = time.monotonic() + 20
    while True:
        left = zygote.children(recursive=True)
        nice = set()
        for process in left:
            with suppress(psutil.NoSuchProcess):
                nice.add(process.nice())
        if 19 in nice:
            return
        assert time.monotonic() < deadline, "a long execution keeps its priority"
        psutil.wait_procs(left, timeout=0.05)


def test_datasets_that_differ_in_case_spoil_no_other_query(
    provider: Embedded, orders: Dataset
) -> None:
    pair = [orders.model_copy(update={"name": name}) for name in ("twins", "Twins")]

    async def rows(table: str) -> Response:
        sandbox = Sandbox(_Lent(provider), concurrency=1)
        try:
            code = f"SELECT count(*) FROM {table}"
            return await sandbox.execute(Request(kind="sql", code=code, datasets=[orders, *pair]))
        finally:
            await sandbox.close()

    assert asyncio.run(rows("orders")).rows == [[1000]]
    assert asyncio.run(rows("twins")).rows == []


def test_many_at_once(
    provider: Embedded, orders: Dataset, effort: Callable[[int, int], int]
) -> None:
    count = effort(12, 800)

    async def many() -> list[Response]:
        sandbox = Sandbox(_Lent(provider), concurrency=3)
        try:
            requests = [
                Request(kind="sql", code=f"SELECT count(*) + {n} FROM orders", datasets=[orders])
                for n in range(count)
            ]
            return await asyncio.gather(*(sandbox.execute(request) for request in requests))
        finally:
            await sandbox.close()

    assert [response.rows for response in asyncio.run(many())] == [
        [[1000 + n]] for n in range(count)
    ]


class _NoWalls:
    def prove(self) -> Walls:
        return Walls("none", reasons=("Darwin on arm64 has no walls",))

    def run(self, envelope: Envelope, cancelled: int) -> Response:
        raise AssertionError("nothing may run")

    def close(self) -> None: ...


def test_nothing_runs_below_the_minimum() -> None:
    async def refused() -> None:
        sandbox = Sandbox(_NoWalls(), minimum="lsm")
        try:
            with pytest.raises(Misconfigured, match="Darwin on arm64 has no walls"):
                await sandbox.execute(Request(kind="sql", code="SELECT 1"))
        finally:
            await sandbox.close()

    asyncio.run(refused())


def test_an_administrator_may_go_without_walls(orders: Dataset) -> None:
    async def unconfined() -> list[Response]:
        sandbox = Sandbox(_NoWalls(), minimum="none")
        code = "print('seen')\n(scratch / 'f').write_text('x')\nresult = con.execute('SELECT count(*) FROM orders').fetchone()[0]"
        try:
            return [
                await sandbox.execute(Request(kind="python", code=c, datasets=[orders]))
                for c in (code, "import os")
            ]
        finally:
            await sandbox.close()

    done, refused = asyncio.run(unconfined())
    assert (done.status, done.result, done.tier, done.walls) == ("done", 1000, "none", [])
    assert "seen" in done.stderr
    assert [f.path for f in done.files] == ["f"]
    assert refused.status == "refused"


def test_only_files_below_the_data_roots(provider: Embedded) -> None:
    outside = Dataset(name="x", source="read_text('/etc/passwd')", files=["/etc/passwd"])
    request = Request(kind="sql", code="SELECT * FROM x", datasets=[outside])
    with pytest.raises(Misconfigured, match="outside the folders"):
        provider.run(Envelope(request=request, scratch=""), -1)


def test_a_dead_zygote_is_replaced(provider: Embedded, run: Run) -> None:
    zygote = provider._zygote
    assert zygote is not None
    zygote._process.kill()
    zygote._reader.join(10)
    assert run("sql", "SELECT 2").rows == [[2]]
    assert provider._zygote is not zygote
