"""What servers can do is found out, remembered, and made up for where it is missing."""

import asyncio
import json
from typing import Any

import pytest

from steward.core.settings import ModelsSettings
from steward.models import (
    Asking,
    Call,
    Chosen,
    ConfiguredModels,
    Failed,
    ModelAnswer,
    Request,
    Said,
    ToolResult,
    ToolSpec,
    User,
    examine,
)
from steward.models.abilities import Abilities
from steward.models.provided import ProvidedModel
from tests.models.kit import Serve, Watcher, choice
from tests.models.openai_server import Asked, OpenAiServer, Reply, failing

SCHEMA = {
    "type": "object",
    "properties": {"kind": {"oneOf": [{"const": "count"}, {"const": "sum"}]}},
    "required": ["kind"],
}
COUNT = ToolSpec(
    "count.rows",
    "Counts rows.",
    {"type": "object", "properties": {"table": {"type": "string"}}, "required": ["table"]},
)


def held(models: ConfiguredModels, server: OpenAiServer, **changes: Any) -> ModelAnswer:
    backend = models.backend(Chosen(choice(server, **changes)))
    request = Request("planner", (User("?"),), asking=Asking(output_schema=SCHEMA))
    return asyncio.run(backend.answer(request, Watcher()))


def format_of(asked: Asked) -> str:
    wanted = asked.body.get("response_format") or {}
    return "with schema" if "schema" in wanted else str(wanted.get("type"))


def own_way(asked: Asked) -> Reply:
    """As llama-cpp-python's server does."""
    if format_of(asked) == "json_schema":
        return failing(500, "Input should be 'text' or 'json_object'")
    return Reply(['{"kind": "count"}'])


def test_a_server_that_fails_at_json_schema_is_asked_its_own_way_and_it_is_remembered(
    serve: Serve,
) -> None:
    server, models = serve(own_way), ConfiguredModels(ModelsSettings())
    assert held(models, server).text == '{"kind": "count"}'
    assert [format_of(each) for each in server.asked] == ["json_schema", "with schema"]
    sent = server.asked[-1].body["response_format"]["schema"]
    assert sent["properties"]["kind"] == {"anyOf": [{"enum": ["count"]}, {"enum": ["sum"]}]}
    held(models, server)
    assert [format_of(each) for each in server.asked[2:]] == ["with schema"]


def test_it_goes_down_to_words_step_by_step(serve: Serve) -> None:
    def refuses(asked: Asked) -> Reply:
        return failing(400, "no") if "response_format" in asked.body else Reply(['{"kind": "sum"}'])

    server, models = serve(refuses), ConfiguredModels(ModelsSettings())
    assert held(models, server).text == '{"kind": "sum"}'
    assert [format_of(each) for each in server.asked] == [
        "json_schema",
        "with schema",
        "json_object",
        "None",
    ]
    assert models.memory.known(choice(server)).way == "text"


def test_a_way_that_worked_is_not_doubted_when_the_server_is_in_trouble(serve: Serve) -> None:
    replies = [
        Reply(['{"kind": "sum"}']),
        failing(500, "out of memory"),
        Reply(['{"kind": "sum"}']),
    ]
    server, models = serve(replies), ConfiguredModels(ModelsSettings())
    held(models, server)
    with pytest.raises(Failed, match="down or busy"):
        held(models, server)
    assert models.memory.known(choice(server)).way == "json_schema"
    assert len(server.asked) == 2


def test_a_model_without_tools_writes_its_calls(serve: Serve) -> None:
    def says(asked: Asked) -> Reply:
        told = json.dumps(asked.body["messages"])
        if "count.rows answered" in told:
            return Reply(['{"answer": "7 rows."}'])
        return Reply(['{"tool": "count.rows", "arguments": {"table": "cars"}}'])

    server, models = serve(says), ConfiguredModels(ModelsSettings())
    models.memory.learn(choice(server), tools=False, way="json_schema")
    backend = models.backend(Chosen(choice(server)))
    first = Request("operator", (User("How many cars?"),), (COUNT,))
    answer = asyncio.run(backend.answer(first, Watcher()))
    assert answer.calls == (Call("spoken-1", "count.rows", {"table": "cars"}),)
    assert answer.finish == "tool-calls"
    assert "tools" not in server.asked[0].body
    found = ToolResult("spoken-1", "count.rows", "7")
    following = Request("operator", (*first.messages, Said(answer.parts), found), (COUNT,))
    last = asyncio.run(backend.answer(following, Watcher()))
    assert (last.text, last.calls) == ("7 rows.", ())


def test_a_call_that_a_server_left_in_the_text_is_understood_and_remembered(serve: Serve) -> None:
    text = '<tool_call>\n{"name": "count.rows", "arguments": {"table": "cars"}}\n</tool_call>'
    server, models = serve([Reply([text])]), ConfiguredModels(ModelsSettings())
    request = Request("operator", (User("?"),), (COUNT,))
    backend = models.backend(Chosen(choice(server)))
    answer = asyncio.run(backend.answer(request, Watcher()))
    assert [call.arguments for call in answer.calls] == [{"table": "cars"}]
    assert models.memory.known(choice(server)).tools is False


def test_an_examination_finds_out_what_a_server_can_do(serve: Serve) -> None:
    def server_of_today(asked: Asked) -> Reply:
        if asked.body.get("tools"):
            return Reply(calls=[("report_ready", '{"word": "ready"}')])
        if format_of(asked) == "json_schema":
            return Reply(['{"flower": "marigold"}'])
        return Reply(["ready"])

    server, models = serve(server_of_today), ConfiguredModels(ModelsSettings())
    found = asyncio.run(examine(models, Chosen(choice(server))))
    assert found.worked, found.words
    assert found.abilities.way == "json_schema"
    assert (found.abilities.tools, found.abilities.parallel) == (True, True)
    assert "answers in a given JSON Schema, calls tools" in found.words


def test_a_server_that_ignores_the_schema_is_not_trusted_with_one(serve: Serve) -> None:
    server, models = (
        serve(lambda _: Reply(['{"flower": "rose"}'])),
        ConfiguredModels(ModelsSettings()),
    )
    found = asyncio.run(examine(models, Chosen(choice(server))))
    assert found.abilities.way == "json_object"
    assert found.abilities.tools is False


def test_size_context_or_the_setting_decide_how_plans_are_asked_for(serve: Serve) -> None:
    server = serve([])
    small = choice(server)
    assert Abilities(parameters=1_500_000_000).plans_in_stages(small)
    assert not Abilities(parameters=70_000_000_000).plans_in_stages(small)
    assert Abilities(context=4_096).plans_in_stages(choice(server, provider="openai"))
    assert not Abilities().plans_in_stages(choice(server, provider="openai"))
    assert not Abilities(context=4_096).plans_in_stages(choice(server, planning="whole"))
    assert isinstance(ConfiguredModels(ModelsSettings()).backend(Chosen(small)), ProvidedModel)
