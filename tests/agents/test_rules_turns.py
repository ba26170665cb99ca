"""Whole turns without a model: rules plan, tools run in the sandbox, and follow-ups build on what was there."""

from tests.agents.conftest import Chat


def test_a_figure_over_time_comes_with_a_chart_and_can_be_followed_up(chat: Chat) -> None:
    first = chat.say("count invoices by month of issue date in 2025")
    output = chat.output(first)
    assert first.status.value == "done", output
    assert [step["status"] for step in output["steps"]] == ["done", "done"], output
    assert [each["media_type"] for each in output["artifacts"]] == [
        "application/vnd.vegalite.v6+json"
    ]

    second = chat.say("those again but by product")
    output = chat.output(second)
    assert second.status.value == "done"
    plan = output["plan"]["plan"]["steps"][0]["arguments"]["plan"]
    assert plan["group"] == ["product"]
    assert plan["filters"], "the year still holds"
    assert output["plan"]["made_by"] == "rules"
    chat.replays(second)


def test_amounts_in_several_currencies_come_with_a_chart_of_one(chat: Chat) -> None:
    run = chat.say("total net by month of issue date in 2025 of billing_invoices")
    output = chat.output(run)
    assert [step["status"] for step in output["steps"]] == ["done"], output
    assert "Only EUR" in output["chart"]["description"]
    chat.replays(run)


def test_what_is_not_understood_says_so_and_only_looks(chat: Chat) -> None:
    run = chat.say("sing me a song")
    output = chat.output(run)
    assert run.status.value == "done"
    assert "could not tell what you want" in output["plan"]["said"]
    assert [step["id"] for step in output["steps"]] == ["look"]


def test_undo_takes_back_what_this_thread_did(chat: Chat) -> None:
    chat.settings(review="never")
    before = chat.steward.workbench.datasets.workspace(chat.access.scope, chat.access.user_id)
    version = before.dataset("support_tickets", "main").version
    cleaned = chat.say("trim spaces in the tickets")
    assert cleaned.status.value == "done", chat.output(cleaned)
    assert before.dataset("support_tickets", "main").version != version
    undone = chat.say("undo that")
    assert undone.status.value == "done", chat.output(undone)
    assert before.dataset("support_tickets", "main").version == version


def test_answers_are_in_the_persons_format_and_lead_on(chat: Chat) -> None:
    user = chat.steward.identity.users.get(chat.access.user_id)
    chat.steward.identity.users.update(user.id, user.revision, {"locale": "de-DE"})
    run = chat.say("total net by month of issue date in 2025 of billing_invoices")
    output = chat.output(run)
    assert "7.298,17\u00a0€ (März 2025)" in output["answer"]
    assert "| März 2025 | EUR | 7.298,17\u00a0€ |" in output["answer"]
    assert "T00:00" not in output["answer"]
    assert [each for each in output["figures"] if each["source"] is None] == []
    assert "share in %" in [each["message"] for each in output["suggestions"]]
    chat.replays(run)
    undone = chat.say("undo that")
    output = chat.output(undone)
    assert "changed no data" in output["plan"]["said"], "loading was not of this conversation"
    assert output["plan"]["plan"]["steps"][0]["tools"] == ["list_changes"]


def test_values_that_were_just_shown_are_known_without_a_profile(chat: Chat) -> None:
    assert "EUR" in chat.output(chat.say("total gross by currency"))["answer"]

    run = chat.say("only EUR")

    output = chat.output(run)
    plan = output["plan"]["plan"]["steps"][0]["arguments"]["plan"]
    assert "eur" in str(plan["filters"]).casefold()
    assert "SEK" not in output["answer"]
    # In a conversation of its own nobody knows what it means.
    chat.thread = None
    assert "could not tell" in chat.output(chat.say("only EUR"))["plan"]["said"]
