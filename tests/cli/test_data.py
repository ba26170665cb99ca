"""`steward data` and `steward undo`, as processes."""

import openpyxl

from tests.cli.terminal import Terminal


def _added(filled: Terminal, text: str) -> None:
    file = filled.folder / "orders.csv"
    file.write_text(text)
    filled.run("data", "add", str(file))


def test_a_dataset_is_loaded_looked_at_and_compared(filled: Terminal) -> None:
    _added(filled, "id,city\n1,Bonn\n2,Kiel\n")
    first = filled.run("data", "history", "orders", "--json").json()[0]["id"]
    _added(filled, "id,city\n1,Bonn\n2,Kiel\n3,Ulm\n")
    cards = {card["name"]: card for card in filled.run("data", "ls", "--json").json()}
    assert cards["orders"]["rows"] == 3
    assert "Ulm" in filled.run("data", "show", "orders").out
    assert "Ulm" not in filled.run("data", "show", "orders", "--at", first).out
    assert filled.run("data", "profile", "orders").out.startswith("orders: 3 rows")
    compared = filled.run("data", "diff", "orders", first).out
    assert compared.startswith("2 → 3 rows: 1 added, 0 removed, 0 changed.")


def test_what_was_loaded_is_taken_back_and_restored(filled: Terminal) -> None:
    _added(filled, "id\n1\n")
    first = filled.run("data", "history", "--json").json()[0]["id"]
    _added(filled, "id\n1\n2\n")
    filled.run("data", "undo")
    assert filled.run("data", "show", "orders", "--json").json()["total"] == 1
    filled.run("data", "redo")
    assert filled.run("data", "show", "orders", "--json").json()["total"] == 2
    filled.run("data", "restore", first, "orders")
    newest = filled.run("data", "history", "--json").json()[0]
    assert filled.run("data", "show", "orders", "--json").json()["total"] == 1
    filled.run("undo", newest["id"])
    assert filled.run("data", "show", "orders", "--json").json()["total"] == 2


def test_an_export_overwrites_nothing(filled: Terminal) -> None:
    _added(filled, "id\n1\n")
    target = filled.folder / "out.csv"
    assert filled.run("data", "export", "orders", str(target)).out == f"Wrote 1 rows to {target}.\n"
    assert "exists already" in filled.run("data", "export", "orders", str(target), code=1).err
    said = filled.run("data", "export", "orders", "out.doc", code=1).err
    assert "ends in none of .csv, .xlsx" in said


def test_a_viewer_changes_no_data(filled: Terminal) -> None:
    _added(filled, "id\n1\n")
    filled.run(
        "user",
        "add",
        "eve@example.org",
        "--name",
        "Eve",
        "--role",
        "viewer",
        "--password-stdin",
        stdin="a long passphrase 1",
    )
    as_eve = ("--user", "eve@example.org")
    assert "orders" in filled.run("data", "ls", *as_eve).out
    for words in (("data", "undo"), ("data", "redo"), ("data", "add", "orders.csv")):
        told = filled.run(*words, *as_eve, "--json", code=1).json()
        assert told["error"]["code"] == "denied"


def test_commands_obey_the_policy_like_pages_and_agents(filled: Terminal) -> None:
    _added(filled, "id\n1\n")
    _added(filled, "id\n1\n2\n")
    filled.run("data", "undo")
    commits = [commit["id"] for commit in filled.run("data", "history", "--json").json()]
    policy = filled.folder / "look.cedar"
    policy.write_text(
        '@id("look") @outcome("allow") permit (principal, action in [Action::"read", Action::"compute"], resource);'
    )
    filled.run("policy", "save", str(policy))
    for words in (
        ("data", "add", str(filled.folder / "orders.csv")),
        ("data", "undo"),
        ("data", "redo"),
        ("data", "restore", commits[-1]),
        ("undo", commits[0]),
    ):
        told = filled.run(*words, "--json", code=1).json()
        assert told["error"]["code"] == "denied", words
    after = [commit["id"] for commit in filled.run("data", "history", "--json").json()]
    assert after == commits, "nothing was changed"


def test_another_reading_is_shown_and_chosen(filled: Terminal) -> None:
    file = filled.folder / "figures.csv"
    file.write_text("name,weight\n,kg\nA,1.5\nB,NA\n")
    shown = filled.run("data", "inspect", str(file)).out
    assert "weight (kg): decimal" in shown
    assert "--read header_row=1 --read header_rows=1" in shown
    chosen = ("--read", "header_row=1", "--read", "header_rows=1")
    filled.run("data", "add", str(file), *chosen)
    columns = filled.run("data", "add", str(file), *chosen, "--json").json()["columns"]
    assert [column["name"] for column in columns] == ["name", "weight"]
    refused = filled.run("data", "inspect", str(file), "--read", "headers=1", code=1)
    assert "header_row" in refused.err


def test_one_of_several_tables_on_a_sheet_is_chosen(filled: Terminal) -> None:
    file = filled.folder / "two.xlsx"
    book = openpyxl.Workbook()
    for row in (("a", "n"), ("x", 1), ("y", 2), (), ("b", "m"), ("z", 3.5), ("w", 4)):
        book.active.append(row)
    book.save(file)
    assert "--read 'table=Sheet!A5:B7'" in filled.run("data", "inspect", str(file)).out
    refused = filled.run("data", "add", str(file), code=1)
    assert "Set the table to one of Sheet!A1:B3, Sheet!A5:B7" in refused.err
    done = filled.run("data", "add", str(file), "--table", "Sheet!A5:B7", "--json").json()
    assert (done["rows"], [column["name"] for column in done["columns"]]) == (2, ["b", "m"])


def test_a_load_that_would_leave_out_many_records_asks(filled: Terminal) -> None:
    file = filled.folder / "ragged.csv"
    file.write_text("a,b,c\n" + "1,2,3\n" * 20 + "1,2\n")
    refused = filled.run("data", "add", str(file), code=1)
    assert "1 of 21 records" in refused.err
    assert "rejects_allowed" in refused.err
    done = filled.run("data", "add", str(file), "--read", "rejects_allowed=1", "--json").json()
    assert (done["rows"], done["rejected"]) == (20, 1)
    padded = filled.run("data", "add", str(file), "--read", "ragged=pad", "--json").json()
    assert padded["rows"] == 21
