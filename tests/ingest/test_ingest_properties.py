"""Whatever a delimited file holds: records are rows plus rejects, and every value says its text."""

import datetime as dt
import hashlib
import json
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward import ingest
from steward.core.errors import StewardError
from steward.ingest import Limits, Options
from steward.ingest.findings import ColumnFinding
from steward.tables.formula_marks import without_mark

Field = tuple[str, bool]
"""A text and whether it is written in quotes."""
BOUNDED = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
DELIMITERS = (",", ";", "\t", "|")

odd_text = st.text(
    st.sampled_from("ab0 1.,;|\t'\"\n\r=é漢\u00a0\u2028-+#\\/:eE"), max_size=12
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
integers = st.integers(-(10**25), 10**25).map(str) | st.integers(-999, 999).map(str)
odd_numbers = st.sampled_from(
    ["007", "+5", "-0", "1e5", "1,5", "1.234", "0.10", ".5", "5.", "NaN", "1 000", ""]
)
decimals = st.decimals(-(10**9), 10**9, places=3).map(str) | st.integers(0, 99).map(
    lambda n: f"{n}.50"
)
iso_dates = st.dates(dt.date(1900, 1, 1)).map(str)
spoken_dates = st.dates(dt.date(2000, 1, 1), dt.date(2030, 1, 1)).map(lambda d: f"{d:%d/%m/%Y}")
moments = st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2040, 1, 1)).map(str)  # noqa: DTZ001
words = st.sampled_from(["true", "False", "NA", "null", "", "x"])


@dataclass(frozen=True)
class Written:
    data: bytes
    options: Options
    records: list[tuple[int, list[Field], str]]
    """Line, fields and raw text of every record."""
    blank: int


def column_values() -> st.SearchStrategy[st.SearchStrategy[str]]:
    pure = [odd_text, integers, decimals, iso_dates, spoken_dates, moments, words]
    return st.sampled_from(
        [*pure, integers | odd_numbers, decimals | odd_numbers, iso_dates | odd_text]
    )


@st.composite
def files(draw: st.DrawFn) -> Written:
    """A file written by hand, so that nothing is known of it but what is known here."""
    width = draw(st.integers(2, 4))
    delimiter, end = draw(st.sampled_from(DELIMITERS)), draw(st.sampled_from(["\n", "\r\n"]))
    columns = [draw(column_values()) for _ in range(width)]
    always = draw(st.booleans())
    text = delimiter.join(f"c{i}" for i in range(width)) + end
    line, blank, ragged = 2, 0, 0
    records: list[tuple[int, list[tuple[str, bool]], str]] = []
    for _ in range(draw(st.integers(0, 60))):
        values = [draw(column) for column in columns]
        shape = draw(st.integers(0, 30))
        # Most records have the header's width, also among the first that the width is found from.
        if shape == 0 and ragged * 3 < len(records) - 12:
            ragged += 1
            values = values[:-1] if width > 2 else [*values, "more"]
        fields = [
            (value, always or _needs_quotes(value, delimiter) or draw(st.integers(0, 9)) == 0)
            for value in values
        ]
        raw = delimiter.join(_written(field) for field in fields)
        records.append((line, fields, raw))
        text += raw + end
        line += 1 + raw.count("\n") + raw.count("\r") - raw.count("\r\n")
        if shape == 1:
            text, line, blank = text + end, line + 1, blank + 1
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
    options = Options(delimiter=delimiter, quote='"', header_row=1)
    return Written(text.encode(encoding), options, records, blank)


def _needs_quotes(value: str, delimiter: str) -> bool:
    return any(mark in value for mark in (delimiter, '"', "\n", "\r"))


def _written(field: Field) -> str:
    value, quoted = field
    return '"' + value.replace('"', '""') + '"' if quoted else value


@given(written=files())
@BOUNDED
def test_every_record_is_a_row_or_a_reject_and_says_its_text(written: Written) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "file.csv"
        path.write_bytes(written.data)
        exact = ingest.load(path, written.options, folder / "exact", Limits(threads=1))
        quick = ingest.load(
            path, written.options, folder / "quick", Limits(threads=2, sample_records=10)
        )
        for part in (exact.data, exact.rejects):
            assert _digest(folder / "exact" / part) == _digest(folder / "quick" / part)
        rows, rejects = (
            _read(folder / "exact" / exact.data),
            _read(folder / "exact" / exact.rejects),
        )
    for loaded in (exact, quick):
        assert loaded.records == len(written.records) == loaded.rows + loaded.rejected
        assert loaded.blank_lines == written.blank
    assert (exact.rows, exact.rejected) == (len(rows), len(rejects))
    rejected = {reject[0]: reject for reject in rejects}
    assert len(rejected) == len(rejects)
    kept = [record for record in written.records if record[0] not in rejected]
    for row, (_, fields, _) in zip(rows, kept, strict=True):
        for value, field, finding in zip(row, fields, exact.findings, strict=True):
            assert _says(value, field, finding), (value, field, finding)
    for line, fields, raw in written.records:
        if line in rejected:
            _check_reject(rejected[line], fields, raw, [f.name for f in exact.findings])


def _check_reject(reject: tuple[Any, ...], fields: list[Field], raw: str, names: list[str]) -> None:
    _, column, text, reason, kept = reject
    assert reason
    if column is None:
        assert text == raw
        assert len(fields) != len(names)
        return
    values = [None if value == "" else value for value, _ in fields]
    assert [value or None for value in json.loads(kept)] == values
    assert text == values[names.index(column)]


def _says(value: Any, field: Field, finding: ColumnFinding) -> bool:
    """Whether a typed value says exactly what its text says."""
    text, quoted = field
    kind = finding.type
    if kind == "VARCHAR":
        return bool(value == (without_mark(text) if text or quoted else None))
    text = text.strip(" ") if finding.padded else text
    if text == "" or text in finding.null_markers:
        return value is None
    if kind == "BOOLEAN":
        return str(value).lower() == text.lower()
    if kind == "DOUBLE" and finding.rounded:
        return bool(value == float(text))
    if kind == "DOUBLE":
        return Decimal(repr(value)) == Decimal(text)
    if kind == "BIGINT" or kind.startswith("DECIMAL"):
        plain = text.replace(finding.thousands, "") if finding.thousands else text
        return Decimal(value) == Decimal(plain.replace(finding.decimal_mark or ".", "."))
    if finding.format in (None, "ISO 8601"):
        return str(value) == text or value.isoformat() == text
    parsed = dt.datetime.strptime(text, finding.format or "")  # noqa: DTZ007
    return bool(value == (parsed.date() if kind == "DATE" else parsed))


def _read(path: Path) -> list[tuple[Any, ...]]:
    return duckdb.connect().execute(f"SELECT * FROM read_parquet('{path}')").fetchall()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


seeds = st.sampled_from(
    [b"", b'{"a":1}\n{"a":2}\n', b'[{"a":[1,{"b":"x"}]}]', b"id,t\n1,\"a\nb\"\n2,c\n", b"PAR1", b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"SQLite format 3\x00"]
)  # fmt: skip


@given(seed=seeds, tail=st.binary(max_size=120), cut=st.integers(0, 40))
@settings(BOUNDED)
def test_any_bytes_load_with_counts_that_tie_out_or_are_refused(
    seed: bytes, tail: bytes, cut: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "file"
        path.write_bytes(seed[: len(seed) - cut] + tail)
        try:
            loaded = ingest.load(path, None, Path(name) / "out", Limits(threads=1))
        except StewardError:
            return
        assert loaded.records == loaded.rows + loaded.rejected
        assert len(_read(Path(name) / "out" / loaded.data)) == loaded.rows
        assert len(_read(Path(name) / "out" / loaded.rejects)) == loaded.rejected
