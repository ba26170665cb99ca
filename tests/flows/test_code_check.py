"""What is wrong with the code of a step, found while it is typed: by the guards of a run, and nothing runs."""

from pathlib import Path
from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Installation


@pytest.fixture
def ask(installation: Installation) -> Any:
    owner = installation.owner
    bringing = installation.steward.workbench.bringing
    access = owner.access
    bringing.load_text(
        access.scope, access.user_id, "people.csv", "name,age\nAnn,30\nBob,40\n", "people"
    )

    def asked(language: str, code: str, **parameters: Any) -> list[Any]:
        body = {"language": language, "code": code, "parameters": parameters}
        said = owner.client.post(
            f"/api/v1/projects/{access.scope.project_id}/code/check", json=body
        )
        assert said.status_code == 200, said.text
        return [
            (each["line"], each["column"], each["message"], each["is_warning"])
            for each in said.json()["problems"]
        ]

    return asked


def test_right_code_has_no_problem(ask: Any) -> None:
    assert ask("sql", "SELECT name, avg(age)\nFROM people GROUP BY name") == []
    assert ask("sql", "SELECT * FROM people WHERE age > $least", least="${inputs.least}") == []
    assert ask("sql", "SELECT substr(name, $n) FROM people", n="${inputs.n}") == []
    assert ask("python", "import pandas as pd\nresult = [n for n in range(3)]") == []
    # What would take a day or fail is not run.
    assert ask("python", "while True: pass") == []
    assert ask("python", "result = 1 / 0") == []


def test_mistakes_in_sql_have_their_place(ask: Any) -> None:
    ((line, column, message, is_warning),) = ask("sql", "SELECT name,\nFROM FROM people")
    assert (line, is_warning) == (2, False)
    assert message.startswith("This is not SQL")
    ((line, column, message, _),) = ask("sql", "SELECT name,\n       years FROM people")
    assert (line, column) == (2, 8)
    assert '"years" not found' in message
    wide = ", ".join(f"name AS n{number}" for number in range(60))
    code = f"SELECT {wide}, years, {wide} FROM people"
    ((line, column, message, _),) = ask("sql", code)
    assert (line, column) == (1, code.index("years") + 1)
    ((_, _, message, _),) = ask("sql", "SELECT name FROM people WHERE age > $least")
    assert "No value was given for the parameter $least" in message
    ((line, column, message, is_warning),) = ask("sql", "DELETE FROM people")
    assert (line, column, is_warning) == (1, 1, False)
    # An earlier step may make it.
    ((line, column, message, is_warning),) = ask("sql", "SELECT *\nFROM persons")
    assert (line, column, is_warning) == (2, 6, True)
    assert "There are: people" in message


def test_unknown_columns_are_found_beside_values_that_are_not_known_yet(ask: Any) -> None:
    code = "SELECT years FROM people WHERE age > $least"
    ((line, column, _, _),) = ask("sql", code, least="${inputs.least}")
    assert (line, column) == (1, 8)


@pytest.fixture
def asked_on(installation: Installation, tmp_path: Path) -> Any:
    """People have years on a branch, and no age."""
    owner, steward = installation.owner, installation.steward
    scope, user_id = owner.access.scope, owner.access.user_id
    steward.workbench.versions.workspace(scope, user_id).create_branch("renamed")
    for branch, column in (("main", "age"), ("renamed", "years")):
        file = tmp_path / f"{column}.csv"
        file.write_text(f"name,{column}\nAnn,30\n")
        steward.workbench.bringing.load(scope, user_id, file, file.name, "people", branch=branch)

    def asked(code: str, **where: Any) -> Any:
        body = {"language": "sql", "code": code, **where}
        said = owner.client.post(f"/api/v1/projects/{scope.project_id}/code/check", json=body)
        assert said.status_code == 200, said.text
        return said.json()

    return asked


def test_sql_is_checked_against_the_branch_that_the_step_reads(asked_on: Any) -> None:
    age, years = "SELECT age FROM people", "SELECT years FROM people"
    for where in ({"branch": "renamed"}, {"run_branch": "renamed"}):
        right, wrong = asked_on(years, **where), asked_on(age, **where)
        assert (right["problems"], right["branch"], right["note"]) == ([], "renamed", "")
        assert '"age" not found' in wrong["problems"][0]["message"]
    assert (asked_on(age)["problems"], asked_on(age)["branch"]) == ([], "main")
    assert asked_on(years)["problems"] != []
    # What the step names itself counts, whatever its run works on.
    assert asked_on(age, branch="main", run_branch="renamed")["problems"] == []


def test_where_only_the_run_knows_the_branch_its_tables_are_checked_then(asked_on: Any) -> None:
    for branch, part in (("${inputs.branch}", "known only at the run"), ("later", "no branch")):
        found = asked_on("SELECT age FROM somewhere", branch=branch)
        assert (found["problems"], found["branch"]) == ([], None)
        assert part in found["note"]
        (problem,) = asked_on("SELECT age FROM FROM somewhere", branch=branch)["problems"]
        assert problem["message"].startswith("This is not SQL")
    gone = asked_on("SELECT years FROM people", run_branch="test/gone")
    assert (gone["branch"], len(gone["problems"])) == ("main", 1)
    assert "is gone. This is checked against main." in gone["note"]


@pytest.mark.parametrize(
    ("code", "place", "part"),
    [
        ("x = (1", (1, 5), "never closed"),
        ("x = 1\nimport os", (2, 1), "'os' is not available"),
        ("def f():\n  pass\nreturn f", (3, 1), "outside function"),
        ("print(eval('1'))", (1, 7), "eval is not available"),
        ("x = 'é😀'; eval(x)", (1, 11), "eval is not available"),
    ],
)
def test_mistakes_in_python_have_their_place(
    ask: Any, code: str, place: tuple[int, int], part: str
) -> None:
    ((line, column, message, is_warning),) = ask("python", code)
    assert ((line, column), is_warning) == (place, False)
    assert part in message


def test_those_who_may_not_edit_ask_nothing(installation: Installation) -> None:
    viewer = installation.person(Role.viewer)
    url = f"/api/v1/projects/{viewer.access.scope.project_id}/code/check"
    assert viewer.client.post(url, json={"language": "sql", "code": "SELECT 1"}).status_code == 403
