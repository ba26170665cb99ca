"""The real client code against a real server: both of OpenAI's formats, streamed and whole."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest

from steward.core.errors import Misconfigured, StewardError, Unavailable
from steward.core.settings import ModelPrice
from steward.models import (
    Asking,
    Delta,
    Message,
    ModelAnswer,
    ModelDesk,
    Request,
    Role,
    Said,
    System,
    Text,
    ToolResult,
    ToolSpec,
    User,
)
from tests.models.kit import Pauses, Serve, Watcher, choice, desk
from tests.models.openai_server import KEY, Asked, Reply, failing

QUESTION = (System("Be short."), User("How many rows?"))
COUNT = ToolSpec(
    "count.rows",
    "Counts the rows of a table.",
    {
        "type": "object",
        "properties": {"table": {"type": "string"}},
        "required": ["table"],
        "additionalProperties": False,
    },
)
WAYS = [("chat", True), ("chat", False), ("responses", True), ("responses", False)]
ways = pytest.mark.parametrize(("api", "stream"), WAYS)


def ask(
    asked: ModelDesk,
    messages: tuple[Message, ...] = QUESTION,
    *,
    tools: tuple[ToolSpec, ...] = (),
    asking: Asking | None = None,
    watcher: Watcher | None = None,
) -> ModelAnswer:
    request = Request(Role.operator.value, messages, tools, asking or Asking())
    return asyncio.run(asked.answer(None, request, on_delta=watcher))


@ways
def test_a_text_comes_back(serve: Serve, api: str, stream: bool) -> None:
    server = serve([Reply(["There are ", "7 rows."], cached_tokens=40)])
    watcher = Watcher()
    price = ModelPrice(input=Decimal(1), output=Decimal(10), cache_read=Decimal("0.1"))
    asked = desk(choice(server, api=api, stream=stream), prices={"small": price})
    answer = ask(asked, watcher=watcher)
    assert answer.text == "There are 7 rows."
    assert answer.finish == "stop"
    assert answer.model == "compatible:small"
    assert answer.attempts == ()
    used = answer.usage
    assert (used.input_tokens, used.output_tokens, used.cache_read_tokens) == (100, 20, 40)
    assert used.cost == Decimal("0.000264")  # 60 fresh at 1, 40 cached at 0.1, 20 out at 10
    shown = [delta.text for delta in watcher.deltas if delta.kind == "text"]
    assert shown == (["There are ", "7 rows."] if stream else [])


@ways
def test_a_tool_is_called_and_the_conversation_goes_on(
    serve: Serve, api: str, stream: bool
) -> None:
    server = serve([Reply(calls=[("count_rows", '{"table": "a"}')]), Reply(["7"])])
    asked = desk(choice(server, api=api, stream=stream))
    first = ask(asked, tools=(COUNT,))
    (call,) = first.calls
    assert (call.tool, call.arguments, call.broken) == ("count.rows", {"table": "a"}, None)
    assert first.finish == "tool-calls"
    result = ToolResult(call.id, call.tool, "7 rows")
    # The answer is what the journal gives back, not the object of the SDK.
    recorded = ModelAnswer.from_json(json.loads(json.dumps(first.to_json())))
    assert recorded == first
    second = ask(asked, (*QUESTION, recorded.said, result), tools=(COUNT,))
    assert second.text == "7"
    assert _sent_result(server.asked[1], api) == "7 rows"
    sent_tool = server.asked[0].body["tools"][0]
    sent = sent_tool if api == "responses" else sent_tool["function"]
    assert (sent["name"], sent["description"]) == ("count_rows", COUNT.description)


def _sent_result(asked: Asked, api: str) -> Any:
    if api == "chat":
        return next(m["content"] for m in asked.body["messages"] if m["role"] == "tool")
    items = asked.body["input"]
    return next(i["output"] for i in items if i.get("type") == "function_call_output")


@ways
def test_arguments_that_are_no_object_are_told_apart(serve: Serve, api: str, stream: bool) -> None:
    server = serve([Reply(calls=[("count_rows", '{"table": NaN}'), ("count_rows", "[1]")])])
    answer = ask(desk(choice(server, api=api, stream=stream)), tools=(COUNT,))
    assert [(dict(c.arguments), c.broken) for c in answer.calls] == [
        ({}, '{"table": NaN}'),
        ({}, "[1]"),
    ]


def test_broken_arguments_are_shown_to_the_model_again(serve: Serve) -> None:
    server = serve([Reply(calls=[("count_rows", '{"table": ')]), Reply(["Sorry."])])
    asked = desk(choice(server))
    first = ask(asked, tools=(COUNT,))
    (call,) = first.calls
    refusal = ToolResult(call.id, call.tool, "Not a JSON object.", failed=True)
    ask(asked, (*QUESTION, first.said, refusal), tools=(COUNT,))
    (sent,) = (m for m in server.asked[1].body["messages"] if m["role"] == "assistant")
    # Wrapped by the SDK, as some servers refuse a history that is not JSON.
    shown = json.loads(sent["tool_calls"][0]["function"]["arguments"])
    assert list(shown.values()) == ['{"table": ']


@ways
def test_settings_reach_the_server(serve: Serve, api: str, stream: bool) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    server = serve([Reply(['{"n": 7}'])])
    asking = Asking(temperature=0.5, max_tokens=99, output_schema=schema)
    answer = ask(desk(choice(server, api=api, stream=stream)), asking=asking)
    assert json.loads(answer.text) == {"n": 7}
    body = server.asked[0].body
    assert body["temperature"] == 0.5
    limit = "max_output_tokens" if api == "responses" else "max_completion_tokens"
    assert body[limit] == 99
    form = body["text"]["format"] if api == "responses" else body["response_format"]
    assert form["type"] == "json_schema"


@ways
def test_a_rate_limit_is_waited_out(serve: Serve, api: str, stream: bool) -> None:
    busy = failing(429, "Slow down.", "rate_limit_exceeded", retry_after="7")
    server = serve([busy, failing(503), Reply(["Now."])])
    pauses = Pauses()
    answer = ask(desk(choice(server, api=api, stream=stream), pauses))
    assert answer.text == "Now."
    assert pauses.taken == [7.0, 2.0]
    assert [a.code for a in answer.attempts] == ["model-rate-limited", "model-unavailable"]
    assert [a.waited_s for a in answer.attempts] == [7.0, 2.0]


def test_a_provider_that_wants_too_much_time_is_left_for_the_next(serve: Serve) -> None:
    busy = serve([failing(429, "Come back tomorrow.", retry_after="3600")])
    other = serve([Reply(["Here."])])
    pauses = Pauses()
    fallback = choice(other, name="large")
    answer = ask(desk(choice(busy, fallbacks=[fallback]), pauses))
    assert (answer.text, answer.model) == ("Here.", "compatible:large")
    assert pauses.taken == []


def test_tries_are_bounded(serve: Serve) -> None:
    server = serve(lambda _: failing(500, "Oops."))
    pauses = Pauses()
    with pytest.raises(Unavailable, match="Oops") as caught:
        ask(desk(choice(server, attempts=3, longest_wait=1), pauses))
    assert caught.value.specific_code == "model-unavailable"
    assert len(server.asked) == 3
    assert pauses.taken == [1.0, 1.0]


@ways
@pytest.mark.parametrize("after", [0, 2])
def test_a_stall_is_cut_off(serve: Serve, api: str, stream: bool, after: int) -> None:
    server = serve([Reply(["One", "two", "three"], stall_after=after), *[Reply(["Whole."])] * 5])
    answer = ask(desk(choice(server, api=api, stream=stream, stall=0.5, attempts=6)))
    assert answer.text == "Whole."
    # Once; on a machine that is busy, the whole answer may come too late a few times as well.
    assert {a.code for a in answer.attempts} == {"model-stalled"}


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_line_that_is_only_kept_open_is_a_stall(serve: Serve, api: str) -> None:
    humming = Reply(["One", "two", "three"], stall_after=2, humming=True)
    server = serve([humming, *[Reply(["Whole."])] * 5])
    answer = ask(desk(choice(server, api=api, stall=0.5, timeout=3600, attempts=6)))
    assert answer.text == "Whole."
    assert {a.code for a in answer.attempts} == {"model-stalled"}


def test_an_answer_that_takes_too_long_altogether_is_cut_off(serve: Serve) -> None:
    server = serve([Reply(["One"], stall_after=0)])
    with pytest.raises(Unavailable) as caught:
        ask(desk(choice(server, timeout=0.2, attempts=1)))
    assert caught.value.specific_code == "model-stalled"


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_line_that_breaks_is_tried_again(serve: Serve, api: str) -> None:
    server = serve([Reply(["One", "two"], cut_after=3), Reply(["Whole."])])
    watcher = Watcher()
    answer = ask(desk(choice(server, api=api)), watcher=watcher)
    assert answer.text == "Whole."
    assert [a.code for a in answer.attempts] == ["model-unreachable"]
    assert answer.parts == (Text("Whole.", answer.parts[0].extra),)
    if api == "chat":
        # What people saw of the first try is taken back, and they are told why, before the second is shown.
        assert [(each.kind, each.text) for each in watcher.deltas if each.kind != "trying"] == [
            ("text", "One"),
            ("text", "two"),
            ("restart", ""),
            ("text", "Whole."),
        ]
        assert watcher.deltas[3].kind == "trying"
        assert "try 2 of" in watcher.deltas[3].text


@ways
def test_broken_json_is_tried_again(serve: Serve, api: str, stream: bool) -> None:
    server = serve([Reply(["One"], broken=True), Reply(["Whole."])])
    answer = ask(desk(choice(server, api=api, stream=stream)))
    assert answer.text == "Whole."
    assert [a.code for a in answer.attempts] == ["model-answer-broken"]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (failing(400, "Too long.", "context_length_exceeded"), "model-context-exceeded"),
        (failing(429, "Pay first.", "insufficient_quota"), "model-quota-exceeded"),
        (failing(400, "Bad schema.", "invalid_request_error"), "model-request-rejected"),
    ],
)
def test_what_waiting_does_not_mend_is_not_tried_again(
    serve: Serve, reply: Reply, code: str
) -> None:
    server = serve([reply])
    with pytest.raises(StewardError) as caught:
        ask(desk(choice(server)))
    assert caught.value.specific_code == code
    assert reply.error is not None
    assert reply.error["message"] in caught.value.message
    assert len(server.asked) == 1


def test_an_unknown_model_and_a_wrong_key_are_told(serve: Serve) -> None:
    server = serve([])
    with pytest.raises(Misconfigured, match="does not exist") as unknown:
        ask(desk(choice(server, name="huge")))
    assert unknown.value.specific_code == "model-not-found"
    wrong = "wrong-key-of-somebody"
    with pytest.raises(Misconfigured, match="refused the key") as refused:
        ask(desk(choice(server, api_key=wrong)))
    assert wrong not in refused.value.message  # the server repeats it, we do not


def test_a_server_that_is_not_there(serve: Serve) -> None:
    server = serve([])
    gone = choice(server, base_url="http://127.0.0.1:9/v1", attempts=1)
    with pytest.raises(Unavailable, match="Is its server running") as caught:
        ask(desk(gone))
    assert caught.value.specific_code == "model-unreachable"


def test_all_failures_are_told_when_no_model_answers(serve: Serve) -> None:
    first, second = serve([failing(400, "First says no.")]), serve([failing(400, "Nor second.")])
    with pytest.raises(StewardError, match="None of 2 models") as caught:
        ask(desk(choice(first, fallbacks=[choice(second, name="large")])))
    assert "First says no." in caught.value.message
    assert "Nor second." in caught.value.message


def test_a_key_of_another_provider_is_never_sent(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDKs look for keys and addresses in the environment by themselves."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server = serve([Reply(["Hello."])])
    for provider in ("compatible", "ollama"):
        keyless = choice(server, provider=provider, api_key=None)
        with pytest.raises(Misconfigured, match="refused the key"):
            ask(desk(keyless))
    assert server.asked == []  # it would have been accepted with the key of the environment


def test_a_server_that_repeats_the_key_does_not_put_it_into_the_record(serve: Serve) -> None:
    server = serve(
        [Reply([f"Your key is {KEY}."], calls=[("count_rows", f'{{"table": "{KEY}"}}')])]
    )
    answer = ask(desk(choice(server)), tools=(COUNT,))
    assert KEY not in json.dumps(answer.to_json())


def test_rows_are_kept_from_a_model_that_may_not_see_them(serve: Serve) -> None:
    cloud = serve([failing(400, "No."), Reply(["I saw none."])])
    local = serve([Reply(["I saw them."])])
    secretive = (
        User("Which customer?"),
        Said((Text("Let me look."),)),
        User("name\nAda", rows=True),
        User("name\nAda", rows=True, without_rows="one column, name, 1 row"),
    )
    private = choice(cloud, allow_rows=False, fallbacks=[choice(local, name="large")])
    answer = ask(desk(private), secretive)
    assert "Ada" not in json.dumps(cloud.asked[0].body)
    assert "one column, name, 1 row" in json.dumps(cloud.asked[0].body)
    assert "Ada" in json.dumps(local.asked[0].body)
    assert (answer.text, answer.rows_withheld) == ("I saw them.", False)
    strict = ask(desk(choice(cloud)), secretive, asking=Asking(allow_rows=False))
    assert "Ada" not in json.dumps(cloud.asked[1].body)
    assert strict.rows_withheld


def test_reasoning_goes_back_to_the_provider_it_came_from(serve: Serve) -> None:
    server = serve([Reply(["7"], reasoning="Counting."), Reply(["Yes."])])
    asked = desk(choice(server, provider="openai", name="gpt-5", api="responses"))
    first = ask(asked)
    assert [type(part).__name__ for part in first.parts] == ["Thought", "Text"]
    recorded = ModelAnswer.from_json(json.loads(json.dumps(first.to_json())))
    ask(asked, (*QUESTION, recorded.said, User("Sure?")))
    sent = next(i for i in server.asked[1].body["input"] if i.get("type") == "reasoning")
    assert (sent["id"], sent["encrypted_content"]) == ("rs_1", "sealed")


def test_usage_that_is_not_told_has_no_price(serve: Serve) -> None:
    server = serve([Reply(["7"], usage=False)])
    price = ModelPrice(input=Decimal(1), output=Decimal(1))
    answer = ask(desk(choice(server), prices={"small": price}))
    assert answer.usage.cost is None


def test_an_error_of_the_watcher_is_its_own(serve: Serve) -> None:
    server = serve([Reply(["7"])])

    async def broken(_: Delta) -> None:
        raise ZeroDivisionError

    asked = desk(choice(server))
    request = Request(Role.operator.value, QUESTION)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(asked.answer(None, request, on_delta=broken))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("provider", "path", "header", "value"),
    [
        ("openai", "/v1/chat/completions", "authorization", "Bearer other-key"),
        ("ollama", "/v1/chat/completions", "authorization", "Bearer other-key"),
        ("anthropic", "/v1/messages", "authorization", "Bearer other-key"),
        ("google", "/v1/models/small:streamGenerateContent", "x-goog-api-key", "other-key"),
        ("azure", "/openai/deployments/small/chat/completions", "api-key", "other-key"),
        ("bedrock", "/model/small/converse-stream", "authorization", "AWS4-HMAC-SHA256"),
    ],
    ids=["openai", "ollama", "anthropic", "google", "azure", "bedrock"],
)
# Compiling the SDKs for the first time warns about how some of them spell a text.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_provider_is_asked_at_its_address_with_its_key(
    serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    path: str,
    header: str,
    value: str,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    server = serve([])
    address = server.url if provider in {"openai", "ollama"} else server.url.removesuffix("/v1")
    given = choice(
        server,
        provider=provider,
        base_url=address,
        # Bedrock sends a key over TLS alone; without one it takes the machine's own credentials.
        api_key=None if provider == "bedrock" else "other-key",
        region="eu-central-1",
        api_version="2025-01-01",
        attempts=1,
    )
    with pytest.raises(Misconfigured) as caught:
        ask(desk(given))
    assert caught.value.specific_code == "model-key-refused"
    (asked,) = server.refused
    assert asked.path.split("?")[0] == path
    assert asked.headers[header].startswith(value)
    assert "How many rows?" in json.dumps(asked.body)
