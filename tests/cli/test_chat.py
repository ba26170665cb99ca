"""`steward chat` and `steward planner`: a conversation in the terminal, and what another planner would have planned."""

import io
import json
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.agents.chat.live_text import LiveText
from steward.cli.chat_screen import Screen
from tests.cli.terminal import Terminal, until
from tests.models.openai_server import KEY, Asked, OpenAiServer, Reply

ROLES = ("planner", "operator", "explainer")
SQL = "SELECT currency, sum(gross) AS total_gross FROM billing_invoices GROUP BY ALL"
QUESTION = {"question": "Which currency?", "answer": {"type": "string", "enum": ["EUR", "SEK"]}}


@pytest.fixture
def filled(terminal: Terminal, asked_home: Path) -> Terminal:
    """A terminal whose data is known already."""
    shutil.copytree(asked_home, terminal.home)
    return terminal


def _step(name: str, tool: str, **more: Any) -> dict[str, Any]:
    about = {
        "title": f"The {name}",
        "agent": "data-analyst",
        "tools": [tool],
        "reason": "Asked for.",
    }
    return {"id": name, **about, "confidence": 0.9, **more}


def _plan(*steps: dict[str, Any]) -> Reply:
    return Reply([json.dumps({"goal": "Totals", "steps": steps})])


def _served(server: OpenAiServer) -> dict[str, str]:
    settings = {"PROVIDER": "compatible", "BASE_URL": server.url, "API_KEY": KEY}
    settings["PLANNING"] = "whole"
    return {
        f"STEWARD_MODELS__{role.upper()}__{name}": value
        for role in ROLES
        for name, value in {**settings, "NAME": role}.items()
    }


def _finished(terminal: Terminal) -> str:
    """A conversation in which nothing waits."""
    said = terminal.run("chat", "SQL: SELECT 1 AS one", "--json").json()
    return str(said["thread_id"])


@pytest.fixture
def silent() -> Iterator[OpenAiServer]:
    """Plans and calls, but whoever explains falls silent in the middle."""

    def reply(asked: Asked) -> Reply:
        match asked.body["model"]:
            case "planner":
                total = _step("totals", "execute_sql", arguments={"sql": SQL})
                look = _step("look", "execute_sql", arguments={"sql": SQL}, needs=["totals"])
                return _plan(total, look)
            case _:
                return Reply(["So ", "far."], stall_after=2)

    with OpenAiServer(reply, models=ROLES) as server:
        yield server


@pytest.fixture
def asking() -> Iterator[OpenAiServer]:
    """Asks the person, then says what they chose; every word of it costs dollars."""

    def reply(asked: Asked) -> Reply:
        match asked.body["model"]:
            case "planner":
                answered = _step("answer", "execute_sql", needs=["question"])
                return _plan(_step("question", "ask_human", arguments=QUESTION), answered)
            case "operator" if not any(m["role"] == "tool" for m in asked.body["messages"]):
                return Reply(calls=[("execute_sql", json.dumps({"sql": SQL}))])
            case _:
                chosen = "SEK" if "SEK" in json.dumps(asked.body["messages"]) else "nothing"
                return Reply([f"You chose {chosen}."])

    with OpenAiServer(reply, models=ROLES) as server:
        yield server


@pytest.fixture
def model() -> Iterator[OpenAiServer]:
    """A model that never proposes a plan."""

    def nonsense(_: Asked) -> Reply:
        return Reply(["A haiku about invoices."])

    with OpenAiServer(nonsense) as server:
        yield server


def test_a_conversation_goes_on_in_its_thread(filled: Terminal) -> None:
    first = filled.run("chat", "total gross by currency")
    assert "Plan (by rules): total gross by currency" in first.err
    assert "No language model is set up." in first.err
    assert "You could say: " in first.err
    assert "| EUR | €" in first.out
    assert "Plan" not in first.out, "the output is the answer and nothing else"
    (thread,) = re.findall(r"--thread (thr_\w+)", first.err)

    second = filled.run("chat", "only EUR", "--thread", thread)
    assert "No language model is set up." not in second.err, "once is enough"
    assert "| EUR | €" in second.out
    assert "SEK" not in second.out

    query = filled.run("chat", "SQL: SELECT 7 AS lucky", "--thread", thread, "--json").json()
    assert query["thread_id"] == thread
    assert query["turn"]["query_type"] == "sql"
    assert query["turn"]["status"] == "done"

    shadow = filled.run("planner", "shadow", "--model", "rules")
    assert "2 of 2 tasks were answered, 2 with a valid plan" in shadow.out
    assert "same arguments 100%" in shadow.out


def test_a_change_is_asked_for_and_not_made_without_an_answer(filled: Terminal) -> None:
    message = "clean the dates in billing_invoices"
    before = filled.run("data", "history", "--json").json()

    waiting = filled.run("chat", message, "--json", code=1).json()
    assert [each["kind"] for each in waiting["waits"]] == ["plan"]
    assert waiting["turn"]["status"] == "waiting_for_approval"

    refused = filled.run("chat", message, stdin="n\n", code=1)
    assert "Run this plan?" in refused.err
    assert "The plan was not approved." in refused.out
    assert filled.run("data", "history", "--json").json() == before

    # With nobody there it is left waiting, and answered later on.
    left = filled.run("chat", message, code=1)
    (thread,) = re.findall(r"or with: steward chat --thread (thr_\w+)", left.err)
    assert filled.run("data", "history", "--json").json() == before

    done = filled.run("chat", "--thread", thread, stdin="y\ny\n")
    assert "It would change or send something" in done.err
    assert len(filled.run("data", "history", "--json").json()) > len(before)


def test_mistakes_are_told_in_one_line(filled: Terminal) -> None:
    nothing = filled.run("chat", "", "--thread", _finished(filled), code=1).err
    assert nothing.startswith("steward: Nothing waits in this conversation")
    assert filled.run("chat", "  ", code=1).err == "steward: The message is empty.\n"
    assert "SQL: to run" in filled.run("chat", "SQL:", code=1).err
    unknown = filled.run("chat", "hello", "--thread", "thr_01jqs9k7e8f7s9v6d3n5m2p4q1", code=1).err
    assert unknown.startswith("steward: ")
    assert unknown.count("\n") == 1


def test_steps_are_shown_while_a_model_works_and_ctrl_c_cancels(
    filled: Terminal, silent: OpenAiServer
) -> None:
    filled.env |= _served(silent)
    asking = filled.start("chat", "total gross by currency")

    until(lambda: "✓ 6 rows from 1 dataset" in asking.err, what="the result")
    assert asking.code is None, "it is told while the model that explains has not answered"
    plan, step, call = (asking.err.index(text) for text in ("Plan (by a model)", "Step 1", "sum("))
    assert plan < step < call
    assert "…" not in asking.err.splitlines()[0], "no moving line where nobody looks"
    asking.send(signal.SIGINT)

    assert asking.wait() == 130
    assert "Cancelled." in asking.err
    assert "Traceback" not in asking.err
    (latest,) = filled.run("runs", "ls", "--json", "--limit", "1").json()
    assert latest["status"] == "cancelled"


def test_questions_and_budgets_are_answered_at_the_prompt(
    filled: Terminal, asking: OpenAiServer
) -> None:
    prices = {"operator": {"input": 0, "output": 3_000_000}}
    filled.env |= _served(asking) | {"STEWARD_MODELS__PRICES": json.dumps(prices)}

    done = filled.run("chat", "ask me", stdin="3\nsek\nmuch\n0.5\n100000\n")

    assert "Which currency?" in done.err
    assert "That does not fit: must be one of 'EUR', 'SEK'" in done.err
    assert "New limit in dollars" in done.err
    assert done.err.count("A number of dollars above") == 2
    assert "You chose SEK." in done.out

    ended = filled.run("chat", "ask me", stdin="1\nn\n", code=1)
    assert "The budget of run" in ended.out + ended.err


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_text_of_an_answer_streams_to_a_terminal_and_cannot_steer_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, err = _Tty(), _Tty()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    screen = Screen(lambda value: value, is_first=True)

    screen.tick()
    assert "Looking at the data" in err.getvalue()
    screen.live({"answer": LiveText(1, "Twelve \x1b]0;evil\x07rows")})
    screen.live({"answer": LiveText(1, "Twelve \x1b]0;evil\x07rows, and")})
    assert out.getvalue() == "Twelve ]0;evilrows, and"
    screen.answer("Twelve \x1b]0;evil\x07rows, and more.")
    assert out.getvalue() == "Twelve ]0;evilrows, and more.\n", "nothing is told twice"

    screen.live({"answer": LiveText(2, "Other")})
    screen.live({"answer": LiveText(3, "Anew")})
    assert "The model starts again." in err.getvalue()
    screen.answer("Something else.")
    assert out.getvalue().endswith("Anew\nSomething else.\n")
    assert "This is the final answer:" in err.getvalue()


def test_a_shadow_run_says_what_is_wrong_with_the_model(
    filled: Terminal, model: OpenAiServer
) -> None:
    filled.run("chat", "total gross by currency")
    shadow = ("planner", "shadow", "--model")
    served = ("--base-url", model.url, "--key-variable", "THEIR_KEY")

    for wrong, told in {
        "magic:x": "No provider of models is called 'magic'",
        "compatible:x": "Give --base-url",
        "small": "`rules` or `provider:name`",
    }.items():
        said = filled.run(*shadow, wrong, code=1).err
        assert told in said
        assert said.count("\n") == 1
    key = {"THEIR_KEY": "sk-wrong-0123456789"}
    assert (
        "refused the key" in filled.run(*shadow, "compatible:small", *served, code=1, env=key).err
    )
    unset = filled.run("planner", "shadow", code=1).err
    assert "No language model is set up" in unset

    good = {"THEIR_KEY": KEY}
    found = filled.run(*shadow, "compatible:small", *served, env=good)
    assert "1 of 1 tasks were answered, 0 with a valid plan" in found.out
    assert "same arguments 0%" in found.out
    assert "price unknown" in found.out
    assert "1 of 1: no valid plan" in found.err
