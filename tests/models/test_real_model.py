"""A real model of 135 million parameters in a real llama.cpp server: fetched, verified, started, asked and stopped."""

import asyncio
import http.server
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from steward.agents.planning.answers import document_in
from steward.agents.planning.forms import FIELDS, form_schema, query_plan
from steward.agents.planning.narrow import output_schema
from steward.agents.planning.stages import KIND_SCHEMA, KINDS, kind_in
from steward.core.settings import ModelChoice, ModelsSettings
from steward.models import Asking, Chosen, ConfiguredModels, ModelAnswer, Request, System, User
from steward.models import examine as examined
from steward.models.local import LocalServers, Shelf, fetch
from tests.agents.planning_kit import catalogue, dataset
from tests.models.kit import Watcher
from tests.models.real_weights import SMALL, require_engine, small_weights
from tests.models.test_grammar import spoken_schema

KNOWN = catalogue()
pytestmark = pytest.mark.timeout(400)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    weights = small_weights()
    handler = partial(Quiet, directory=str(weights.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{weights.name}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def models(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConfiguredModels]:
    require_engine()
    shelf = Shelf(tmp_path_factory.mktemp("models"))
    found = asyncio.run(fetch(address, shelf.path(SMALL.name), SMALL.sha256, size=SMALL.bytes))
    assert (found.verified, found.bytes) == (True, SMALL.bytes)
    servers = LocalServers(shelf)
    yield ConfiguredModels(ModelsSettings(), servers=servers)
    servers.close()
    assert servers.names() == []


CHOSEN = Chosen(ModelChoice(provider="local", name=SMALL.name))


def asked(models: ConfiguredModels, text: str, asking: Asking) -> ModelAnswer:
    models.memory.learn(CHOSEN.choice, way=None)
    request = Request("planner", (System("Answer as JSON."), User(text)), asking=asking)
    return asyncio.run(models.backend(CHOSEN).answer(request, Watcher()))


def test_a_test_of_the_model_finds_out_what_its_server_can_do(models: ConfiguredModels) -> None:
    found = asyncio.run(examined(models, CHOSEN))
    assert found.worked, found.words
    assert found.abilities.way == "json_schema"
    assert found.abilities.plans_in_stages(CHOSEN.choice)
    assert models.servers is not None
    assert models.servers.names() == [SMALL.name]


ODD = {
    'say "x"': {"größe \\ €": "DOUBLE", "a\nb": "VARCHAR", "ends with '": "DATE"},
    "wide": {f"column_{number}": "VARCHAR" for number in range(80)},
}
SCHEMAS: dict[str, Any] = {
    "kind": KIND_SCHEMA,
    "form": form_schema(KNOWN),
    "form over odd names": form_schema(
        catalogue(datasets={name: dataset(name, columns, "k") for name, columns in ODD.items()})
    ),
    "plan": output_schema(KNOWN),
    "tools": spoken_schema(),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_its_server_makes_a_grammar_of_every_schema_that_is_sent(
    models: ConfiguredModels, name: str
) -> None:
    """The server itself compiles it: one that it refuses is asked for in another way, which is then remembered."""
    asked(models, "?", Asking(output_schema=SCHEMAS[name], max_tokens=2))
    assert models.memory.known(CHOSEN.choice).way == "json_schema"


def test_a_schema_that_is_no_grammar_would_be_noticed(models: ConfiguredModels) -> None:
    impossible = {"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]}
    asked(models, "?", Asking(output_schema=impossible, max_tokens=2))
    assert models.memory.known(CHOSEN.choice).way != "json_schema"


def test_whatever_it_says_the_grammar_makes_it_a_kind_of_work(models: ConfiguredModels) -> None:
    answer = asked(models, "How many orders are there?", Asking(output_schema=dict(KIND_SCHEMA)))
    document = document_in(answer.text)
    assert document["kind"] in KINDS
    assert kind_in(document) == document["kind"]
    assert answer.usage.output_tokens > 0


def test_whatever_it_says_the_grammar_makes_it_a_form_over_known_columns(
    models: ConfiguredModels,
) -> None:
    asking = Asking(output_schema=form_schema(KNOWN), temperature=0.0, max_tokens=1_000)
    document = document_in(asked(models, "How many orders are there?", asking).text)
    assert set(document) == set(FIELDS)
    plan = query_plan(document, KNOWN)
    assert plan["source"] in KNOWN.datasets
