"""What is wrong with the code of a step, found while it is typed: by the guards of a run, and nothing runs."""

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
