"""`steward playbooks` and `steward blueprints`, as processes."""

from tests.cli.fixtures import filled, started_home, terminal
from tests.cli.terminal import Terminal
from tests.playbooks.conftest import ASKING

__all__ = ["filled", "started_home", "terminal"]


def test_from_a_file_to_a_run_and_back_to_a_file(filled: Terminal) -> None:
    file = filled.home.parent / "in.yaml"
    file.write_text(ASKING)
    assert "created" in filled.run("playbooks", "import", str(file)).out
    assert "unchanged" in filled.run("playbooks", "import", str(file)).out
    assert "monthly-costs" in filled.run("playbooks", "list").out
    assert filled.run("playbooks", "deploy", "monthly-costs").out == "Revision 1 is deployed.\n"
    run = filled.run(
        *("playbooks", "run", "monthly-costs", "--inputs", '{"month": "2026-02"}', "--drive"),
        "--json",
    ).json()
    assert run["status"] == "blocked"
    folder = filled.home.parent / "out"
    filled.run("playbooks", "export", str(folder))
    exported = (folder / "Finance/Monthly/monthly-costs.yaml").read_text()
    assert filled.run("playbooks", "show", "monthly-costs").out == exported
    (folder / "bad.yaml").write_text("format: 1\n")
    refused = filled.run("playbooks", "import", str(folder), code=1)
    assert "line 1" in refused.out
    assert "rollback" not in filled.run("playbooks", "rollback", "monthly-costs", code=1).out


def test_a_blueprint_is_forked(filled: Terminal) -> None:
    assert "profile-and-report" in filled.run("blueprints", "list").out
    said = filled.run("blueprints", "fork", "profile-and-report").out
    assert said.startswith("profile-and-report is a draft now.")
    cards = filled.run("playbooks", "list", "--json").json()
    assert [card["slug"] for card in cards] == ["profile-and-report"]
