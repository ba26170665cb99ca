"""`steward chat` and `steward planner`: a conversation in the terminal, and what another planner would have planned."""

import re
from collections.abc import Iterator

import pytest

from tests.cli.terminal import Terminal
from tests.models.openai_server import KEY, Asked, OpenAiServer, Reply


@pytest.fixture
def model() -> Iterator[OpenAiServer]:
    """A model that never proposes a plan."""

    def nonsense(_: Asked) -> Reply:
        return Reply(["A haiku about invoices."])

    with OpenAiServer(nonsense) as server:
        yield server


def test_a_conversation_goes_on_in_its_thread(filled: Terminal) -> None:
    first = filled.run("chat", "total gross by currency")
    assert "Plan (by rules): total gross by currency" in first.out
    assert "No model is configured." in first.out
    assert "| EUR | €" in first.out
    assert "You could say: by month" in first.out
    (thread,) = re.findall(r"--thread (thr_\w+)", first.err)

    second = filled.run("chat", "only EUR", "--thread", thread)
    assert "No model is configured." not in second.out, "once is enough"
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

    done = filled.run("chat", message, stdin="y\ny\n")
    assert "It would change or send something" in done.err
    assert len(filled.run("data", "history", "--json").json()) > len(before)


def test_mistakes_are_told_in_one_line(filled: Terminal) -> None:
    assert filled.run("chat", "  ", code=1).err == "steward: The message is empty.\n"
    assert "SQL: to run" in filled.run("chat", "SQL:", code=1).err
    unknown = filled.run("chat", "hello", "--thread", "thr_01jqs9k7e8f7s9v6d3n5m2p4q1", code=1).err
    assert unknown.startswith("steward: ")
    assert unknown.count("\n") == 1


def test_a_shadow_run_says_what_is_wrong_with_the_model(
    filled: Terminal, model: OpenAiServer
) -> None:
    filled.run("chat", "total gross by currency")
    shadow = ("planner", "shadow", "--model")
    served = ("--base-url", model.url, "--key-variable", "THEIR_KEY")

    for wrong, told in {
        "magic:x": "'magic' is no provider",
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
    assert "No model is configured" in unset

    good = {"THEIR_KEY": KEY}
    found = filled.run(*shadow, "compatible:small", *served, env=good)
    assert "1 of 1 tasks were answered, 0 with a valid plan" in found.out
    assert "same arguments 0%" in found.out
    assert "price unknown" in found.out
    assert "1 of 1: no valid plan" in found.err
