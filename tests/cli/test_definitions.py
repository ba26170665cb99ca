"""`steward definitions`: show, confirm, set, export, import."""

from pathlib import Path

from tests.cli.terminal import Terminal


def test_definitions_from_proposals_to_a_file_and_back(filled: Terminal, tmp_path: Path) -> None:
    shown = filled.run("definitions", "show", "crm_customers", "--json").json()["entries"]
    assert shown["/tables/crm_customers"]["row"] == "crm customer"

    done = filled.run("definitions", "set", "/tables/crm_customers", "{row: customer}", "--json")
    assert done.json()["revision"] == 1
    file = tmp_path / "definitions.yaml"
    told = filled.run("definitions", "export", str(file), "--format", "ossie").out
    assert "Apache Ossie 0.1.1 cannot say" in told
    filled.run("definitions", "set", "/tables/crm_customers", "null")
    filled.run("definitions", "import", str(file))

    again = filled.run("definitions", "show", "crm_customers", "--json").json()["entries"]
    assert again["/tables/crm_customers"]["row"] == "customer"
    history = filled.run("definitions", "history", "--json").json()["items"]
    assert [each["revision"] for each in history] == [3, 2, 1]
