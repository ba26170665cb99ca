"""Every file of the malformed corpus loads with the right values, or is refused with a reason."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from steward import ingest
from steward.core.errors import StewardError
from tests.ingest.malformed import Case, Loads, Refused, corpus

CASES = corpus()
INSPECTED = {
    "shift-jis.csv", "damaged-utf-8.csv", "unclosed-quote", "ragged", "preamble", "names",
    "ambiguous-dates", "day-first", "json-broken-lines", "json-nested", "fine.parquet",
    "titled.xlsx", "merged.xlsx", "chosen.zip", "fine.sqlite", "bad-text.sqlite", "fine.duckdb",
}  # fmt: skip


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(CASES) >= 60
    assert len({case.id for case in CASES}) == len(CASES)


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection.execute(f"SELECT * FROM read_parquet('{path}')").fetchall()


@pytest.fixture
def no_collecting() -> Iterator[None]:
    """Deep files are read to the end of the stack; whatever is collected there cannot end properly."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collecting")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_malformed_file(case: Case, tmp_path: Path) -> None:
    path, out = case.write(tmp_path), tmp_path / "out"
    expected = case.expected
    if isinstance(expected, Refused):
        with pytest.raises(StewardError) as refusal:
            ingest.load(path, case.options, out, case.limits, name=case.name)
        assert refusal.value.specific_code == expected.code, refusal.value.message
        assert len(refusal.value.message) > 20
        assert not (out / "data.parquet").exists()
        return
    loaded = ingest.load(path, case.options, out, case.limits, name=case.name)
    _check(loaded, expected, out)


@pytest.mark.parametrize("case", [c for c in CASES if c.id in INSPECTED], ids=lambda case: case.id)
def test_an_inspection_foresees_the_load(case: Case, tmp_path: Path) -> None:
    path, out = case.write(tmp_path), tmp_path / "out"
    loaded = ingest.load(path, case.options, out, case.limits, name=case.name)
    inspection = ingest.inspect(path, case.name, case.options, limits=case.limits)
    assert [column.name for column in inspection.columns] == [c.name for c in loaded.columns]
    assert inspection.columns == loaded.findings
    assert inspection.warnings == loaded.warnings
    assert inspection.complete
    assert inspection.records_seen == loaded.records
    assert inspection.preamble == loaded.preamble
    assert len(inspection.rows) == loaded.rows or loaded.rejected


def _check(loaded: ingest.Loaded, expected: Loads, out: Path) -> None:
    rows, rejects = rows_of(out / loaded.data), rows_of(out / loaded.rejects)
    assert loaded.records == expected.records
    assert (loaded.rows, loaded.rejected) == (len(rows), len(rejects))
    assert loaded.records == len(rows) + len(rejects)
    if expected.rows is not None:
        assert rows == expected.rows
    if expected.types is not None:
        assert [column.type for column in loaded.columns] == expected.types
    if expected.names is not None:
        assert [column.name for column in loaded.columns] == expected.names
    assert [reject[0] for reject in rejects] == [line for line, _ in expected.rejects]
    for reject, (_, words) in zip(rejects, expected.rejects, strict=True):
        assert words in reject[3]
        assert reject[2], "the text of what was rejected is kept"
    assert expected.notes <= {note.code for note in loaded.warnings}
    assert len(loaded.preamble) == expected.preamble
