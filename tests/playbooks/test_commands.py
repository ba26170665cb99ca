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
    (folder / "new.yaml").write_text(ASKING.replace("monthly-costs", "other-costs"))
    refused = filled.run("playbooks", "import", str(folder), code=1)
    assert "line 1" in refused.out
    assert "Nothing was imported: a file is refused." in refused.err
    assert "other-costs" not in filled.run("playbooks", "list").out
    assert "rollback" not in filled.run("playbooks", "rollback", "monthly-costs", code=1).out


def test_a_blueprint_is_forked(filled: Terminal) -> None:
    assert "profile-and-report" in filled.run("blueprints", "list").out
    said = filled.run("blueprints", "fork", "profile-and-report").out
    assert said.startswith("profile-and-report is a draft now.")
    cards = filled.run("playbooks", "list", "--json").json()
    assert [card["slug"] for card in cards] == ["profile-and-report"]


def test_a_playbook_is_put_away_in_two_steps_and_brought_back(filled: Terminal) -> None:
    file = filled.home.parent / "in.yaml"
    file.write_text(ASKING)
    filled.run("playbooks", "import", str(file))
    filled.run("playbooks", "deploy", "monthly-costs")
    refused = filled.run("playbooks", "delete", "monthly-costs", code=1)
    assert "steward playbooks archive monthly-costs" in refused.err
    filled.run("playbooks", "archive", "monthly-costs")
    assert "monthly-costs" not in filled.run("playbooks", "list").out
    assert "is deleted" in filled.run("playbooks", "delete", "monthly-costs").out
    assert "monthly-costs" in filled.run("playbooks", "list", "--deleted").out
    assert "in the archive" in filled.run("playbooks", "restore", "monthly-costs").out
    back = filled.run("playbooks", "restore", "monthly-costs").out
    assert back == "monthly-costs is back, with revision 1 deployed.\n"
    unknown = filled.run("playbooks", "restore", "nothing", code=1)
    assert "steward playbooks list --deleted" in unknown.err


def test_a_schedule_is_set_paused_and_removed(filled: Terminal) -> None:
    file = filled.home.parent / "in.yaml"
    file.write_text(ASKING)
    filled.run("playbooks", "import", str(file))
    filled.run("playbooks", "deploy", "monthly-costs")
    schedule = ("playbooks", "schedule", "monthly-costs")
    assert filled.run(*schedule).out == "Nothing starts it by itself.\n"
    no_inputs = filled.run(*schedule, "--cron", "0 6 * * 1", code=1)
    assert "'month' is missing" in no_inputs.err
    given = ("--inputs", '{"month": "2026-02"}')
    assert "cron" in filled.run(*schedule, "--cron", "every day", *given, code=1).err
    set_up = filled.run(*schedule, "--cron", "0 6 * * 1", "--time-zone", "Europe/Berlin", *given)
    assert "0 6 * * 1  Europe/Berlin  on" in set_up.out
    assert "paused" in filled.run(*schedule, "--pause").out
    assert "on" in filled.run(*schedule, "--resume").out
    assert (
        "has no trigger 'other'"
        in filled.run(*schedule, "--remove", "--trigger", "other", code=1).err
    )
    assert filled.run(*schedule, "--remove").out == "Nothing starts it by itself.\n"
