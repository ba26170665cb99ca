"""Names and texts as SQL: whatever they hold, DuckDB reads them back as they were."""

from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.tables.engine import session
from steward.tables.table import literal, quote, type_word

# Single surrogates are no characters: no encoding has them.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\0'\\\"-;$%"))


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with session() as made:
        yield made


@settings(deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_a_text_comes_back_as_it_was(
    connection: duckdb.DuckDBPyConnection, texts: list[str]
) -> None:
    listed = ", ".join(map(literal, texts))
    assert connection.execute(f"SELECT [{listed}]").fetchone() == (texts,)
    # As an operand, where a bare concatenation would be torn apart.
    equal = " AND ".join(f"{literal(text)} = ?" for text in texts)
    assert connection.execute(f"SELECT {equal}", texts).fetchone() == (True,)


@pytest.mark.parametrize("text", ["\0", "\0\0", "a\0b", "'\0'", "\0'; DROP TABLE t; --"])
def test_a_nul_neither_ends_the_statement_nor_gets_lost(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    row = connection.execute(
        f"SELECT {literal(text)}, length({literal(text)}), 'x' || {literal(text)} LIKE 'x%'"
    ).fetchone()
    assert row == (text, len(text), True)


def test_a_text_without_nul_stays_one_constant() -> None:
    assert literal("it's") == "'it''s'"
    assert quote('a"b') == '"a""b"'


def test_types_have_names_that_people_use() -> None:
    kinds = [
        "VARCHAR",
        "BIGINT",
        "INTEGER",
        "DECIMAL(18,2)",
        "TIMESTAMP WITH TIME ZONE",
        "INTERVAL",
    ]
    said = ["text", "whole number", "whole number", "decimal", "date and time", "interval"]
    assert [type_word(kind) for kind in kinds] == said
