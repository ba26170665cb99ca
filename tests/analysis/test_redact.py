"""Redaction: nothing readable is left, equal values stay equal, and the key is nowhere in the SQL."""

import hashlib
import hmac
import json

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from steward.analysis.redact import Drop, Hash, Mask, Method, redact, unlock
from steward.core.errors import Invalid
from steward.tables.changes import changed_cells
from tests.kits.shelf import Shelf

KEY = b"a project's own key, long enough"


def hashed(value: str, key: bytes = KEY) -> str:
    return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()


def test_each_column_by_its_method(shelf: Shelf) -> None:
    table = shelf.put(
        "people",
        {
            "name": ["Zoë Müller-Xu", None, "Bob"],
            "email": ["ann.b@x.de", "c@y.com", "no address"],
            "phone": ["+49 30 1234", "07", None],
            "iban": ["DE1", "DE2", "DE1"],
            "born": ["a", "b", "c"],
            "n": [1, 2, 3],
        },
    )
    methods: dict[str, Mask | Hash | Drop] = {
        "name": Mask(keep_first=1),
        "email": Mask(keep_domain=True),
        "phone": Mask(keep_last=2),
        "iban": Hash(length=32),
        "born": Drop(),
    }
    change = redact(shelf.connection, table, methods)
    with unlock(shelf.connection, KEY):
        rows = shelf.rows(change.sql)
    one, two = hashed("DE1")[:32], hashed("DE2")[:32]
    assert rows == [
        ("Zxx Xxxxxx-Xx", "xxx.x@x.de", "+00 00 0034", one, 1),
        (None, "x@y.com", "xx", two, 2),
        ("Bxx", "xx xxxxxxx", None, one, 3),
    ]
    assert [column.name for column in change.columns] == ["name", "email", "phone", "iban", "n"]
    assert change.counts == {"changed_cells": 10}
    assert "drops 'born'" in change.summary
    assert "stay readable" in change.warnings[0]
    assert {each.output: each.transformation for each in change.lineage}["n"] == "unchanged"


def test_the_key_is_not_in_the_change_and_not_left_on_the_connection(shelf: Shelf) -> None:
    change = redact(shelf.connection, shelf.put("t", {"c": ["x"]}), {"c": Hash()})
    stored = json.dumps(change.as_dict())
    assert KEY.decode() not in stored
    assert KEY.hex() not in stored
    assert change.variables == ("steward_redaction_inner", "steward_redaction_outer")
    with unlock(shelf.connection, KEY):
        assert shelf.column(change.sql, "c") == [hashed("x")]
    with pytest.raises(duckdb.InvalidInputException, match="key for hashing is not set"):
        shelf.rows(change.sql)
    left = shelf.rows("SELECT * FROM duckdb_variables() WHERE value IS NOT NULL")
    assert left == []


def test_old_values_are_not_listed(shelf: Shelf) -> None:
    table = shelf.put("t", {"c": ["secret", None]})
    change = redact(shelf.connection, table, {"c": Mask()})
    (cell,) = changed_cells(shelf.connection, change)
    assert (cell.row, cell.old, cell.new) == (1, None, "xxxxxx")


def test_equal_values_of_different_types_hash_alike(shelf: Shelf) -> None:
    numbers = redact(shelf.connection, shelf.put("a", {"k": [7, None]}), {"k": Hash()})
    words = redact(shelf.connection, shelf.put("b", {"k": ["7", None]}), {"k": Hash()})
    with unlock(shelf.connection, KEY):
        assert shelf.column(numbers.sql, "k") == shelf.column(words.sql, "k") == [hashed("7"), None]


@given(value=st.text(min_size=1), key=st.binary(min_size=16, max_size=130))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_hash_is_hmac_sha256(shelf: Shelf, value: str, key: bytes) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return
    change = redact(shelf.connection, shelf.put("t", {"c": [value]}), {"c": Hash()})
    with unlock(shelf.connection, key):
        assert shelf.column(change.sql, "c") == [hashed(value, key)]


@given(st.text(max_size=30))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_full_mask_leaves_no_letter_and_no_digit(shelf: Shelf, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return
    frame = pl.DataFrame({"c": [value]})
    change = redact(shelf.connection, shelf.put("t", frame), {"c": Mask()})
    (masked,) = shelf.column(change.sql, "c")
    assert len(masked) == len(value)
    for old, new in zip(value, masked, strict=True):
        assert new in "Xx0" if old.isalnum() else new == old or new in "Xx0"


def test_hostile_names(shelf: Shelf) -> None:
    name = "c'\"; DROP TABLE x; --"
    table = shelf.put(name, {name: ["it's"], "steward_row": [1]})
    change = redact(shelf.connection, table, {name: Mask()})
    assert shelf.rows(change.sql) == [("xx'x", 1)]
    assert changed_cells(shelf.connection, change)[0].column == name


def test_wrong_requests_are_refused(shelf: Shelf) -> None:
    table = shelf.put("t", {"c": ["x"]})
    with pytest.raises(Invalid, match="no column 'd'"):
        redact(shelf.connection, table, {"d": Mask()})
    with pytest.raises(Invalid, match="keep at least one"):
        redact(shelf.connection, table, {"c": Drop()})
    with pytest.raises(Invalid, match="at least 16 bytes"), unlock(shelf.connection, b"short"):
        pass
    methods: TypeAdapter[Method] = TypeAdapter(Method)
    assert methods.validate_python({"method": "hash", "length": 20}) == Hash(length=20)
    with pytest.raises(ValidationError):
        methods.validate_python({"method": "encrypt"})
