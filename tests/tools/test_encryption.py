"""Encrypted columns: what they hold, who sees it, and every way around them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.analysis import Cipher, Mode
from steward.core import Conflict, Denied, Invalid
from steward.tables import encryption_of
from steward.versions import unsealed
from tests.tools.room import Room

KEYS = {"a1": b"1" * 32}
PROJECT = Cipher("prj_1", KEYS)
ENCRYPT = {"dataset": "crm_customers", "columns": {"email": "deterministic", "country": "random"}}


def _column(room: Room, name: str, dataset: str = "crm_customers") -> list[str | None]:
    page = room.call("preview", {"dataset": dataset, "limit": 1000}).value
    at = [column["name"] for column in page["columns"]].index(name)
    return [row[at] for row in page["rows"]]


def _encrypt(room: Room, **more: object) -> str:
    made = room.call("encrypt_columns", ENCRYPT | more, room.context(ticket="encrypt"))
    return made.commits[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(), st.sampled_from(["deterministic", "random"]))
def test_a_value_comes_back_and_no_change_of_its_token_goes_unnoticed(
    text: str, mode: Mode
) -> None:
    token = PROJECT.encrypt(text, mode, "VARCHAR")
    assert PROJECT.decrypt(token) == text
    assert encryption_of(token) == encryption_of(token, token)
    assert (PROJECT.encrypt(text, mode, "VARCHAR") == token) is (mode == "deterministic")
    for at in {0, 5, 7, len(token) // 2, len(token) - 3}:
        changed = f"{token[:at]}{'A' if token[at] != 'A' else 'B'}{token[at + 1 :]}"
        with pytest.raises(Invalid):
            PROJECT.decrypt(changed)
    other = Cipher("prj_2", KEYS)
    assert other.encrypt(text, "deterministic", "VARCHAR") != PROJECT.encrypt(
        text, "deterministic", "VARCHAR"
    )
    with pytest.raises(Invalid):
        other.decrypt(token)


def test_older_keys_decrypt_and_the_newest_encrypts() -> None:
    token = PROJECT.encrypt("ann@x.org", "deterministic", "VARCHAR")
    both = Cipher("prj_1", KEYS | {"b2": b"2" * 32})
    assert both.decrypt(token) == "ann@x.org"
    renewed = both.encrypt(token, "deterministic", "BIGINT")
    assert both.decrypt(renewed) == "ann@x.org"
    assert (said := encryption_of(renewed)) is not None
    assert (said.key, said.type) == ("b2", "VARCHAR")
    with pytest.raises(Conflict):
        both.encrypt(token, "random", "VARCHAR")
    # A text that only looks like a token is a text.
    assert both.decrypt(both.encrypt("enc1.d.VARCHAR.b2.AAAA", "random", "VARCHAR")).endswith(
        "AAAA"
    )


def test_lengths_are_padded() -> None:
    sizes = {
        len(PROJECT.encrypt(text, "random", "VARCHAR")) for text in ("", "no", "yes", "perhaps")
    }
    assert len(sizes) == 1


def test_a_column_is_encrypted_and_comes_back_in_its_type(room: Room) -> None:
    before = room.workspace.dataset("billing_invoices")
    kinds = {column.name: column.type for column in before.columns}
    plain = {name: _column(room, name, "billing_invoices") for name in kinds}
    columns = dict.fromkeys(kinds, "random")
    arguments = {"dataset": "billing_invoices", "columns": columns}
    shown = room.preview("encrypt_columns", arguments)
    assert "plain values: 1." in shown.details["warnings"][0]
    assert {cell for row in shown.details["rows"] for cell in row} <= {"Encrypted", None}
    room.call("encrypt_columns", arguments, room.context(ticket="all"))
    held = room.workspace.dataset("billing_invoices")
    assert {name: said.mode for name, said in held.encrypted.items()} == columns
    back = {"dataset": "billing_invoices", "columns": list(kinds), "target": "again"}
    assert set(room.preview("decrypt_columns", back).details["rows"][0]) == {None}
    with unsealed():
        room.call("decrypt_columns", back, room.context(ticket="back"))
    assert {name: _column(room, name, "again") for name in kinds} == plain
    again = room.workspace.dataset("again")
    assert [each.name for each in again.columns] == list(kinds)
    assert {each.name for each in again.columns if each.type != kinds[each.name]} == {
        name for name, kind in kinds.items() if kind == "INTEGER"
    }


def test_deterministic_values_group_and_random_ones_do_not(room: Room) -> None:
    emails, countries = _column(room, "email"), _column(room, "country")
    _encrypt(room)
    tokens = _column(room, "email")
    assert [each is None for each in tokens] == [each is None for each in emails]
    assert len(set(tokens)) == len(set(emails))
    told = [each for each in _column(room, "country") if each is not None]
    assert len(set(told)) == len(told) > len(set(countries))
    assert not set(told) & set(countries)


def test_earlier_versions_are_closed_to_every_reader(room: Room, tmp_path: Path) -> None:
    plain = room.workspace.dataset("crm_customers").version
    start = room.workspace.commit_at("main").id
    versions, scope = room.steward.workbench.versions, room.scope
    room.call("profile", {"dataset": "crm_customers"})
    room.call("snapshot", {"name": "aside", "kind": "branch"}, room.context(ticket="aside"))
    _encrypt(room)
    now = room.workspace.dataset("crm_customers").version
    ways: dict[str, Callable[[], object]] = {
        "rows": lambda: versions.page(scope, plain, 0, 10),
        "query": lambda: versions.table(scope, plain),
        "comparison": lambda: versions.diff_rows(scope, plain, now),
        "export": lambda: versions.export_parquet(scope, plain, tmp_path / "x.parquet"),
        "profile": lambda: room.steward.workbench.insights.known(scope, "profile", plain),
        "history": lambda: room.call("preview", {"dataset": "crm_customers", "at": start}),
        "branch": lambda: room.call("preview", {"dataset": "crm_customers", "at": "aside"}),
        "edit": lambda: versions.edit(scope, plain),
    }
    for name, way in ways.items():
        with pytest.raises(Denied) as refused:
            way()
        assert refused.value.specific_code == "sealed", name
    with pytest.raises(Denied):
        room.call("restore", {"to": start}, room.context(ticket="restore"))
    with pytest.raises(Denied):
        room.call("undo", {}, room.context(ticket="undo"))
    assert room.workspace.dataset("crm_customers").version == now


def test_who_may_decrypt_brings_them_back_and_redo_closes_them_again(room: Room) -> None:
    plain = room.workspace.dataset("crm_customers").version
    _encrypt(room)
    with unsealed():
        room.call("undo", {}, room.context(ticket="undo"))
    assert room.workspace.dataset("crm_customers").version == plain
    assert "@" in str(_column(room, "email"))
    room.call("redo", {}, room.context(ticket="redo"))
    with pytest.raises(Denied):
        room.steward.workbench.versions.table(room.scope, plain)


def test_a_draft_branch_closes_nothing_on_main(room: Room) -> None:
    plain = room.workspace.dataset("crm_customers").version
    room.call("encrypt_columns", ENCRYPT | {"target": "safe"}, room.context(ticket="copy"))
    assert "keeps the plain values" in str(
        room.preview("encrypt_columns", ENCRYPT | {"target": "safe"}).details["warnings"]
    )
    assert room.steward.workbench.versions.table(room.scope, plain).rows
