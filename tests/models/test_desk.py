"""Requests inside runs: recorded once, answered from the record ever after."""

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from steward.core import MovableClock
from steward.core.errors import Misconfigured
from steward.core.settings import ModelsSettings, Settings, load_settings
from steward.models import (
    NO_MODEL,
    Asking,
    Call,
    ConfiguredModels,
    Delta,
    FixedModels,
    Message,
    ModelAnswer,
    ModelDesk,
    Request,
    Role,
    Said,
    System,
    Text,
    Thought,
    ToolResult,
    Usage,
    User,
    probe,
)
from steward.models.messages import message_from_json
from steward.runs import Execution, RunRequest, StepFailed
from steward.testing import Installation, ScriptedModel, scripted_desk
from steward.testing.models import answers, calls, calls_brokenly, fails, says, waits
from tests.models.kit import Serve, Watcher, choice, desk
from tests.models.openai_server import KEY, Reply, failing


@pytest.fixture
def on_sqlite(installation: Installation, database_kind: str) -> Installation:
    """For what the journal has no part in."""
    if database_kind != "sqlite":
        pytest.skip("the same on every database")
    return installation


HELLO: tuple[Message, ...] = (User("Hello."),)


def run(installation: Installation, asked: ModelDesk, **options: Any) -> tuple[str, Any]:
    """Drives one run that asks once; its id and how it ended."""

    async def program(execution: Execution) -> Any:
        try:
            answer = await asked.request(execution, "greet", Role.planner, HELLO, **options)
        except StepFailed as failure:
            return {"code": failure.code, "message": failure.message}
        return {"text": answer.text, "cost": str(answer.usage.cost)}

    runs = installation.steward.runs
    runs.programs["asks"] = program
    run_id = runs.start(installation.scope, "usr_test", RunRequest("Ask", "asks", {})).id
    runs.drive_until_idle()
    return run_id, runs.outcome(installation.scope, run_id)


def journal(installation: Installation, run_id: str) -> list[Any]:
    entries = installation.steward.runs.journal.entries(installation.scope, run_id)
    return [entry.data for entry in entries if entry.key == "greet"]


def same_on_replay(installation: Installation, run_id: str) -> bool:
    return asyncio.run(installation.steward.runs.replay(installation.scope, run_id)).is_same


def test_an_answer_is_recorded_and_replayed_without_a_model(
    installation: Installation, clock: MovableClock
) -> None:
    model = ScriptedModel(
        [fails("model-rate-limited", after=5), waits(500, "late"), "Good day."],
        clock=clock,
        price=Decimal("0.0001"),
    )
    began = clock.monotonic()
    watcher = Watcher()
    run_id, outcome = run(installation, scripted_desk(model), on_delta=watcher)
    assert outcome["output"]["text"] == "Good day."
    assert clock.monotonic() - began == 5 + 120 + 2  # asked to wait, stalled, doubled once
    (recorded,) = journal(installation, run_id)
    assert recorded["request"]["messages"] == [{"kind": "user", "text": "Hello."}]
    answer = ModelAnswer.from_json(recorded["result"])
    assert [attempt.code for attempt in answer.attempts] == ["model-rate-limited", "model-stalled"]
    assert outcome["output"]["cost"] == str(answer.usage.cost)
    assert "".join(delta.text for delta in watcher.deltas if delta.kind == "text") == "Good day."
    # The same program with a desk that has no model at all.
    shown = len(watcher.deltas)
    installation.steward.runs.programs["asks"] = _asking(scripted_desk(), watcher)
    assert same_on_replay(installation, run_id)
    assert len(watcher.deltas) == shown
    assert len(model.requests) == 3
    model.assert_finished()


def _asking(asked: ModelDesk, watcher: Watcher) -> Any:
    async def program(execution: Execution) -> Any:
        answer = await asked.request(execution, "greet", Role.planner, HELLO, on_delta=watcher)
        return {"text": answer.text, "cost": str(answer.usage.cost)}

    return program


def test_failures_are_recorded_as_failures_of_the_step(on_sqlite: Installation) -> None:
    run_id, outcome = run(on_sqlite, scripted_desk(ScriptedModel([fails("model-key-refused")])))
    assert outcome["output"]["code"] == "model-key-refused"
    assert same_on_replay(on_sqlite, run_id)
    _, outcome = run(on_sqlite, scripted_desk())
    assert outcome["output"] == {"code": "no-model", "message": NO_MODEL}


def test_a_key_comes_from_the_secrets_of_the_project_and_stays_out_of_the_record(
    on_sqlite: Installation, serve: Serve
) -> None:
    server = serve([Reply(["Good day."])])
    steward = on_sqlite.steward
    given = choice(server, api_key=None, api_key_secret="model-key", attempts=1)
    asked = ModelDesk(ConfiguredModels(ModelsSettings(default=given), steward.secrets))
    _, outcome = run(on_sqlite, asked)
    assert outcome["output"]["code"] == "model-key-missing"
    assert "'model-key'" in outcome["output"]["message"]
    steward.secrets.set(on_sqlite.scope, "model-key", KEY, author="usr_test")
    run_id, outcome = run(on_sqlite, asked)
    assert outcome["output"]["text"] == "Good day."
    entries = steward.runs.journal.entries(on_sqlite.scope, run_id)
    assert KEY not in json.dumps([entry.data for entry in entries])


def test_secrets_are_taken_out_before_anything_is_sent_or_recorded(
    on_sqlite: Installation,
) -> None:
    model = ScriptedModel(["Good day."])

    def conceal(_: Any, value: Any) -> Any:
        return json.loads(json.dumps(value).replace("Hello", "[secret:greeting]"))

    run_id, _ = run(on_sqlite, scripted_desk(model, conceal=conceal))
    assert model.requests[0].messages == (User("[secret:greeting]."),)
    assert "Hello" not in json.dumps(journal(on_sqlite, run_id))


def ask(asked: ModelDesk, watcher: Watcher | None = None, **changes: Any) -> ModelAnswer:
    request = Request(Role.operator.value, changes.pop("messages", HELLO), **changes)
    return asyncio.run(asked.answer(None, request, on_delta=watcher))


def test_what_was_shown_of_a_failed_try_is_taken_back() -> None:
    watcher = Watcher()
    model = ScriptedModel([fails(shown="Go"), "Good day."])
    assert ask(scripted_desk(model), watcher).text == "Good day."
    assert watcher.deltas == [
        Delta("text", "Go"),
        Delta("restart"),
        Delta("trying", "The script says model-unavailable. Asking again in 1 s, try 2 of 4."),
        Delta("text", "Good"),
        Delta("text", " day."),
    ]


def test_whoever_watches_is_told_why_it_takes_longer() -> None:
    watcher = Watcher()
    tired = ScriptedModel([fails("model-rate-limited", after=7), fails("model-key-refused")])
    spare = ScriptedModel(["Hi."], name="spare")
    ask(scripted_desk(tired, spare), watcher)
    assert [delta.text for delta in watcher.deltas if delta.kind == "trying"] == [
        "The script says model-rate-limited. Asking again in 7 s, try 2 of 4.",
        "The script says model-key-refused. Asking scripted:spare instead.",
    ]


def test_a_script_holds_calls_functions_and_broken_arguments() -> None:
    model = ScriptedModel(
        [
            calls("count", table="a"),
            calls_brokenly("count", "[1"),
            answers("Both:", calls("count"), calls("sum")),
            lambda request: f"Asked {len(request.messages)} times.",
            says("Too lo", finish="length"),
        ]
    )
    asked = scripted_desk(model)
    first = ask(asked)
    assert (first.finish, dict(first.calls[0].arguments)) == ("tool-calls", {"table": "a"})
    assert ask(asked).calls[0].broken == "[1"
    ids = [call.id for call in ask(asked).calls]
    assert len({*ids, first.calls[0].id}) == 3
    with pytest.raises(AssertionError, match="not asked for the rest"):
        model.assert_finished()
    assert ask(asked).text == "Asked 1 times."
    assert ask(asked).finish == "length"
    with pytest.raises(AssertionError, match="no answer left for request 6"):
        ask(asked)


def test_roles_have_models_of_their_own() -> None:
    planner, other = ScriptedModel(["A plan."], "big"), ScriptedModel(["Done."], "small")
    asked = ModelDesk(FixedModels(other, by_role={Role.planner: [planner]}))
    assert [asked.names(None, role) for role in Role] == [
        ["scripted:big"],
        ["scripted:small"],
        ["scripted:small"],
    ]
    assert ask(asked).text == "Done."


def test_roles_of_the_settings_fall_back_to_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _configured(load_settings())
    for name, value in {
        "DEFAULT__PROVIDER": "ollama",
        "DEFAULT__NAME": "local",
        "PLANNER__PROVIDER": "anthropic",
        "PLANNER__NAME": "clever",
        "PLANNER__API_KEY_VARIABLE": "SOME_KEY",
        "PLANNER__FALLBACKS": '[{"provider": "ollama", "name": "local"}]',
    }.items():
        monkeypatch.setenv(f"STEWARD_MODELS__{name}", value)
    models = ConfiguredModels(load_settings().models)
    assert models.names(None, Role.planner) == ["anthropic:clever", "ollama:local"]
    assert (
        models.names(None, Role.operator) == models.names(None, Role.explainer) == ["ollama:local"]
    )
    asked = ModelDesk(models)
    assert asked.configured(None, Role.planner)


def _configured(settings: Settings) -> bool:
    asked = ModelDesk(ConfiguredModels(settings.models))
    return any(asked.configured(None, role) for role in Role)


def test_a_key_comes_from_the_variable_that_is_named(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve([Reply(["Good day."])])
    given = choice(server, api_key=None, api_key_variable="THE_KEY", attempts=1)
    monkeypatch.setenv("THE_KEY", KEY)
    assert ask(desk(given)).text == "Good day."
    monkeypatch.delenv("THE_KEY")
    fallback = choice(serve([Reply(["From the other."])]), name="large")
    answer = ask(desk(given.model_copy(update={"fallbacks": [fallback]})))
    assert answer.text == "From the other."
    assert answer.attempts[0].code == "model-key-missing"
    assert "THE_KEY is not set" in answer.attempts[0].message


@pytest.mark.parametrize(
    "message",
    [
        System("Be short."),
        User("Hello."),
        User("a,b", rows=True, without_rows="two columns"),
        ToolResult("1", "count", "7"),
        ToolResult("1", "count", "7", failed=True, rows=False),
        Said((Thought("Hm.", {"signature": "x"}), Text("Yes."), Call("1", "t", {"a": [1, None]}))),
        Said((Call("1", "t", {}, broken="[", extra={"id": "fc_1"}),)),
    ],
)
def test_messages_survive_the_journal(message: Message) -> None:
    assert message_from_json(json.loads(json.dumps(message.to_json()))) == message


def test_tool_results_are_rows_unless_said_otherwise() -> None:
    request = Request(
        "operator",
        (
            ToolResult("1", "query", "Ada"),
            ToolResult("2", "query", "Ada", without_rows="1 row"),
            ToolResult("3", "count", "7", rows=False),
        ),
    )
    hidden = [m.text for m in request.without_rows().messages if isinstance(m, ToolResult)]
    assert hidden[1:] == ["1 row", "7"]
    assert "not sent" in hidden[0]
    model = ScriptedModel(["Seen."], may_see_rows=False)
    answer = ask(scripted_desk(model), messages=request.messages)
    assert answer.rows_withheld
    assert "Ada" not in str(model.requests[0])
    open_model = ScriptedModel(["Seen.", "Seen."])
    ask(scripted_desk(open_model), messages=request.messages, asking=Asking(allow_rows=False))
    assert "Ada" not in str(open_model.requests[0])
    assert not ask(scripted_desk(open_model), messages=request.messages).rows_withheld


def test_a_pinned_model_sees_rows_only_where_pin_and_settings_both_allow_it() -> None:
    closed = [{"model": "scripted:scripted", "settings": "", "rows": False}]
    rows = (ToolResult("1", "query", "Ada"),)
    model = ScriptedModel(["Seen.", "Seen."])
    desk = scripted_desk(model)
    assert ask(desk, messages=rows, asking=Asking(pinned=closed)).rows_withheld
    pinned = desk.pins(None, Role.operator)
    assert pinned == [{**closed[0], "rows": True}]
    assert not ask(desk, messages=rows, asking=Asking(pinned=pinned)).rows_withheld
    strict = scripted_desk(ScriptedModel(["Seen."], may_see_rows=False))
    assert ask(strict, messages=rows, asking=Asking(pinned=pinned)).rows_withheld


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    one = Usage(10, 5, 3, 1, 1, Decimal("0.1"))
    assert one + one == Usage(20, 10, 6, 2, 2, Decimal("0.2"))
    assert (one + Usage(1, 1, requests=1, cost=None)).cost is None
    assert Usage.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_nothing_of_an_sdk_is_loaded_before_a_model_is_used() -> None:
    code = (
        "import sys; from steward.models import *; from steward.app import Steward; "
        "print([n for n in ('pydantic_ai', 'openai', 'anthropic', 'genai_prices') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


class TestDoctor:
    def settings(self, tmp_path: Path, **models: Any) -> Settings:
        return Settings(home=tmp_path, models=ModelsSettings(**models))

    def test_no_model(self, tmp_path: Path) -> None:
        found = probe(self.settings(tmp_path))
        assert (found.subject, found.state) == ("model", "info")
        assert "no model in the settings" in found.message
        assert "steward models add" in found.remedy

    def test_a_model_that_calls_tools(self, tmp_path: Path, serve: Serve) -> None:
        server = serve([Reply(calls=[("report_ready", '{"word": "ready"}')])])
        found = probe(self.settings(tmp_path, default=choice(server)))
        assert (found.state, found.remedy) == ("ok", "")
        told = r"compatible:small answers and calls tools \(\d+\.\d s, price unknown\)"
        assert re.fullmatch(told, found.message)
        assert len(server.asked) == 1

    def test_a_model_that_only_talks(self, tmp_path: Path, serve: Serve) -> None:
        found = probe(self.settings(tmp_path, default=choice(serve([Reply(["ready"])]))))
        assert found.state == "warning"

    def test_only_an_operator_must_call_tools(self, tmp_path: Path, serve: Serve) -> None:
        talks = serve([Reply(["ready"])] * 2)
        acts = serve([Reply(calls=[("report_ready", "{}")])])
        found = probe(
            self.settings(
                tmp_path,
                planner=choice(talks, name="small"),
                operator=choice(acts, name="large"),
                explainer=choice(talks, name="gpt-5", fallbacks=[choice(talks, name="small")]),
            )
        )
        assert found.state == "ok", found.message
        assert "compatible:small (planner, fallback of explainer) answers (" in found.message
        assert "compatible:large (operator) answers and calls tools" in found.message
        assert all(not asked.body.get("tools") for asked in talks.asked)

    def test_the_worst_of_several_counts(self, tmp_path: Path, serve: Serve) -> None:
        good = serve([Reply(calls=[("report_ready", "{}")])])
        bad = serve([failing(400, "Broken.")])
        later = choice(good, name="large", api_key=None, api_key_secret="key")
        found = probe(
            self.settings(tmp_path, default=choice(good), planner=choice(bad), explainer=later)
        )
        assert found.state == "failed"
        assert "answers and calls tools" in found.message
        assert "planner: compatible:small rejected the request. It said: Broken." in found.message
        assert "its key is the secret 'key'" in found.message


def test_the_guide_tells_the_truth() -> None:
    page = (Path(__file__).parents[2] / "docs/guides/models.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "docs/guides/models.md", "exec"), {})
    (written,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    models = ConfiguredModels(ModelsSettings.model_validate(tomllib.loads(written)["models"]))
    assert models.names(None, Role.planner) == ["anthropic:claude-sonnet-4-5", "ollama:qwen3:8b"]
    assert models.names(None, Role.explainer) == ["ollama:qwen3:8b"]
    assert [each.choice.allow_rows for each in models.choices(None, Role.planner)] == [False, True]


def test_a_cancel_does_not_wait_for_a_model(on_sqlite: Installation, serve: Serve) -> None:
    runs = on_sqlite.steward.runs

    async def program(execution: Execution) -> Any:
        async def cancel(_: Delta) -> None:
            execution.control = "cancel"

        stalling = serve([Reply(["One", "two"], stall_after=2)])
        asked = desk(choice(stalling, stall=60))
        answer = await asked.request(execution, "greet", Role.planner, HELLO, on_delta=cancel)
        return answer.text

    runs.programs["asks"] = program
    run_id = runs.start(on_sqlite.scope, "usr_test", RunRequest("Ask", "asks", {})).id
    runs.drive_until_idle()
    assert runs.get(on_sqlite.scope, run_id).status == "cancelled"
    assert journal(on_sqlite, run_id) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"provider": "compatible", "name": "a"}, "base_url is needed"),
        ({"provider": "openai", "name": "a", "api_key": "k", "api_key_secret": "s"}, "give one of"),
        ({"provider": "nobody", "name": "a"}, "provider"),
        ({"provider": "openai"}, "name"),
    ],
)
def test_wrong_settings_are_told_by_name(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], said: str
) -> None:
    monkeypatch.setenv("STEWARD_MODELS__DEFAULT", json.dumps(given))
    with pytest.raises(Misconfigured, match=rf"models\.default.*{said}"):
        ConfiguredModels(load_settings().models)
