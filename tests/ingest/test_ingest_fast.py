"""The quick way through DuckDB gives what the exact way gives, byte for byte; or is not taken."""

import csv
import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from steward import ingest
from steward.ingest import fast, readings, scan, segments
from steward.ingest.findings import Dialect
from steward.ingest.options import ColumnOption, Limits, Options
from steward.tables.table import literal

# A sample of a few records makes every file too large to be judged by its sample alone.
QUICK = Limits(threads=2, sample_records=40)
EXACT = Limits(threads=2)
COMMAS = Dialect(",", '"', '"', "\n")


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the quick way gave a result, for each load that tried it."""
    results: list[bool] = []
    original = fast.load

    def watched(*arguments: Any, **rest: Any) -> Any:
        outcome = original(*arguments, **rest)
        results.append(outcome is not None)
        return outcome

    monkeypatch.setattr(fast, "load", watched)
    return results


@pytest.fixture(params=["one segment", "many segments"])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many files each file with line ends inside quotes was cut into: one, or as many as possible."""
    counts: list[int] = []

    def counted(
        path: Path, dialect: Dialect, first_line: int, folder: Path
    ) -> tuple[segments.Segment, ...]:
        size = segments.SEGMENT_BYTES if request.param == "one segment" else 1_000
        made = segments.cut(path, dialect, first_line, folder, size)
        counts.append(len(made))
        return made

    if request.param == "many segments":
        monkeypatch.setattr(segments, "_CHUNK", 700)
    monkeypatch.setattr(fast, "cut", counted)
    return counts


def both(path: Path, folder: Path, options: Options | None = None) -> tuple[ingest.Loaded, ...]:
    quick = ingest.load(path, options, folder / "quick", QUICK)
    exact = ingest.load(path, options, folder / "exact", EXACT)
    for name in (quick.data, quick.rejects):
        assert digest(folder / "quick" / name) == digest(folder / "exact" / name), name
    assert (quick.records, quick.rows, quick.rejected) == (
        exact.records,
        exact.rows,
        exact.rejected,
    )
    assert quick.blank_lines == exact.blank_lines
    return quick, exact


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rejects(folder: Path) -> list[tuple[Any, ...]]:
    path = folder / "quick" / "rejects.parquet"
    return duckdb.connect().execute(f"SELECT * FROM read_parquet('{path}')").fetchall()


def write(path: Path, rows: list[list[Any]], **style: Any) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n", **style).writerows(rows)
    return path


def test_a_regular_file(tmp_path: Path, taken: list[bool]) -> None:
    rows: list[list[Any]] = [["id", "name", "amount", "day"]]
    rows += [[i, f'n {i}, "x"', f"{i}.25", f"2024-01-{i % 28 + 1:02}"] for i in range(5_000)]
    quick, _ = both(write(tmp_path / "a.csv", rows), tmp_path)
    assert taken == [True]
    assert [column.type for column in quick.columns] == [
        "BIGINT",
        "VARCHAR",
        "DECIMAL(18,2)",
        "DATE",
    ]


def test_line_ends_inside_quotes(tmp_path: Path, taken: list[bool], pieces: list[int]) -> None:
    """DuckDB 1.5.5 splits such records when it reads in parallel, and rejects nothing."""
    chance = random.Random(7)
    rows: list[list[Any]] = [["id", "text", "last"]]
    for i in range(3_000):
        lines = "x,y,z\n" * chance.randint(0, 60) if i > 100 and chance.random() < 0.3 else "plain"
        rows.append([i, lines, f"v{i}"])
    path = write(tmp_path / "a.csv", rows)
    quick, _ = both(path, tmp_path)
    assert taken == [True]
    assert pieces == [1] or pieces[0] > 100
    assert quick.records == 3_000
    written = tmp_path / "quick" / quick.data
    texts = duckdb.connect().execute(f"SELECT text FROM read_parquet('{written}')").fetchall()
    assert [text for (text,) in texts] == [row[1] or None for row in rows[1:]]


def test_ragged_records_blank_lines_and_misfits_keep_their_lines(
    tmp_path: Path, taken: list[bool], pieces: list[int]
) -> None:
    lines = ["id,v,t"]
    lines += [f'{i},{i * 2},"a"' for i in range(1_000)]
    lines[500] = "499,998"
    lines[600] = ""
    lines[700] = "699,1398,a,b"
    lines[800] = '799,oops,"two'
    lines.insert(801, 'lines"')
    lines[950] = "948,1.5x,a"
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    quick, _ = both(path, tmp_path, Options(tolerance=0.005))
    assert taken == [True]
    assert pieces == [1] or pieces[0] > 5
    assert quick.blank_lines == 1
    found = rejects(tmp_path)
    assert [row[0] for row in found] == [501, 701, 801, 951]
    assert [row[1] for row in found] == [None, None, "v", "v"]
    assert [row[2] for row in found] == ["499,998", "699,1398,a,b", "oops", "1.5x"]
    assert found[2][4] == '["799","oops","two\\nlines"]'


def test_a_type_that_the_first_records_suggest_is_given_up(
    tmp_path: Path, taken: list[bool]
) -> None:
    rows: list[list[Any]] = [["id", "code", "price", "day", "big"]]
    rows += [[i, i, f"{i}.5", f"{i % 12 + 1:02}/{i % 12 + 1:02}/2024", i] for i in range(900)]
    rows[800][1] = "007"
    rows[801][2] = "1.12345"
    rows[802][3] = "25/12/2024"
    rows[803][4] = "123456789012345678901"
    quick, _ = both(write(tmp_path / "a.csv", rows), tmp_path)
    assert taken == [True]
    assert quick.rejected == 0
    assert [column.type for column in quick.columns] == [
        "BIGINT", "VARCHAR", "DECIMAL(18,5)", "DATE", "DECIMAL(38,0)",
    ]  # fmt: skip
    code = quick.findings[1]
    assert code.samples[0].line == 801
    assert code.samples[0].value == "007"


def test_a_column_without_values_at_first(tmp_path: Path, taken: list[bool]) -> None:
    rows: list[list[Any]] = [["id", "v"], *([i, i if i > 500 else None] for i in range(900))]
    quick, _ = both(write(tmp_path / "a.csv", rows), tmp_path)
    assert taken == [True]
    assert quick.columns[1].type == "BIGINT"


def test_declared_types_never_widen(tmp_path: Path, taken: list[bool]) -> None:
    rows: list[list[Any]] = [["id", "v"], *([i, "x" if i % 2 else i] for i in range(900))]
    options = Options(columns={"v": ColumnOption("BIGINT")})
    quick, _ = both(write(tmp_path / "a.csv", rows), tmp_path, options)
    assert taken == [True]
    assert (quick.rows, quick.rejected) == (450, 450)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "shift_jis"])
def test_other_encodings(encoding: str, tmp_path: Path, taken: list[bool]) -> None:
    text = "id,t\n" + "".join(
        f"{i},テスト\n" if encoding == "shift_jis" else f"{i},é\n" for i in range(500)
    )
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    quick, _ = both(path, tmp_path)
    assert taken == [True]
    assert quick.rows == 500


ODD = {
    "nul": lambda text: text.replace("n400", "n\x00400"),
    "bad-utf-8": lambda text: text.replace("n400", "n\udcff"),
    "lone-cr": lambda text: text.replace("n400\n", "n400\r"),
    "quote-inside": lambda text: text.replace("n400", 'n"400'),
    "space-before-quote": lambda text: text.replace("n400", ' "n400"'),
    "space-after-quote": lambda text: text.replace("n400", '"n400" '),
    "unclosed": lambda text: text.replace("n400", '"n400'),
    "after-closing": lambda text: text.replace("n400", '"n"400'),
    "some-crlf": lambda text: text.replace("n400\n", "n400\r\n"),
}


@pytest.mark.parametrize("odd", sorted(ODD))
def test_odd_files_are_read_the_exact_way(odd: str, tmp_path: Path, taken: list[bool]) -> None:
    text = "id,t\n" + "".join(f"{i},n{i}\n" for i in range(900)) + 'x,"quoted"\n'
    change: Callable[[str], str] = ODD[odd]
    path = tmp_path / "a.csv"
    path.write_bytes(change(text).encode("utf-8", "surrogateescape"))
    options = Options(encoding="utf-8", quote='"', delimiter=",", tolerance=0.1)
    both(path, tmp_path, options)
    assert True not in taken


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 7, 64])
def test_a_scan_is_the_same_however_the_file_is_cut(
    cut: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"x ""y"" é"\n2,"two\nlines"\n3,z', encoding="utf-8")
    monkeypatch.setattr(scan, "_CHUNK", cut)
    assert scan.scan(path, COMMAS) == scan.Scan(regular=True, quoted_line_ends=True, lines=4)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("chunk", [5, 64, 1 << 18])
def test_a_file_is_cut_between_records_and_nothing_is_lost(
    end: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "_CHUNK", chunk)
    records = [f'{i},"a ""{end}"" {i % 5 * end}",\ufeff' for i in range(200)]
    # What looks like a byte order mark may not come first in a file: there it would be dropped.
    records[50:60] = [f"\ufeff{i},b,c" for i in range(10)]
    head = f"a long line above{end}x,y,z{end}"
    whole = (head + end.join(records)).encode()
    path = tmp_path / "a.csv"
    path.write_bytes(whole)
    cut = segments.cut(path, COMMAS, 3, tmp_path / "cut", 100)
    texts = [segment.path.read_bytes() for segment in cut]
    assert b"".join(texts) == whole[len(head) :]
    offset = len(head)
    for segment, text in zip(cut, texts, strict=True):
        assert segment.offset == offset
        assert text[:1].isdigit()
        assert text.count(b'"') % 2 == 0
        offset += len(text)
    assert len(cut) > 1 or chunk > len(whole)


def test_a_first_record_that_begins_like_a_mark_cannot_be_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n\ufeffa,b\n", encoding="utf-8")
    assert segments.cut(path, COMMAS, 2, tmp_path / "cut") == ()


@pytest.mark.parametrize(
    ("kind", "kept", "lost"),
    [
        ("BIGINT", ["7", "-7", "0"], ["07", "+7", "7.", "7.0", "7e1", " 7", "7_0", "x", "99999999999999999999"]),
        (
            "DECIMAL(18,2)",
            ["7", "7.5", "7.50", "-0.5", ".5", "0", "-0", "0.00", "1234567890123456.25"],
            ["7.", "7.505", "07.5", "+7", "7e1", "7.5 ", "-", ".", "1.2.3", "12345678901234567.25"],
        ),
        ("DATE", ["2024-02-29", "0001-01-01"], ["2023-02-29", "infinity", "2024-2-9", "2024-01-01 00:00"]),
        (
            "TIMESTAMP",
            ["2024-01-02 03:04:05", "2024-01-02T03:04", "2024-01-02 03:04:05.10"],
            ["2024-01-02", "infinity", "2024-01-02 25:00:00", "2024-01-02 03:04:05+01"],
        ),
        ("TIME", ["03:04:05", "03:04:05.5"], ["3:4:5", "24:00:01"]),
        ("BOOLEAN", ["true", "false", "TRUE"], ["t", "1", "yes"]),
    ],
)  # fmt: skip
def test_a_value_is_kept_only_if_it_says_what_the_text_said(
    kind: str, kept: list[str], lost: list[str]
) -> None:
    reading = readings.Reading(kind)
    check = readings.kept_sql(reading, "t", readings.value_sql(reading, "t"))
    rows = ", ".join(f"({literal(text)})" for text in (*kept, *lost))
    found = (
        duckdb.connect().execute(f"SELECT t, {check} FROM (VALUES {rows}, (NULL)) v(t)").fetchall()
    )
    assert [text for text, fits in found if fits] == [*kept, None]
    assert [text for text, fits in found if not fits] == lost


def test_the_same_file_gives_the_same_bytes_whatever_the_threads(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["id", "name"], *([i, f"n{i % 97}"] for i in range(200_000))]
    path = write(tmp_path / "a.csv", rows)
    digests = set()
    for threads in (1, 2, 4):
        limits = Limits(threads=threads, sample_records=100)
        loaded = ingest.load(path, None, tmp_path / str(threads), limits)
        digests.add(digest(tmp_path / str(threads) / loaded.data))
    assert len(digests) == 1
