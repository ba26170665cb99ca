"""Models of a project and its organisation: which are asked for what; keys go in and never come back."""

import asyncio
import os
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from fastapi import Path, Request, Response, status
from pydantic import ConfigDict, Field, SecretStr

from steward.api.context import steward_of
from steward.api.documents import IfMatch, Input, Output, Page, revision_from, set_etag
from steward.api.guards import AsAdmin, AsViewer
from steward.api.routing import Router
from steward.app import Steward
from steward.core import ModelChoice, ModelPrice, copied, reaching_for
from steward.flows import DirectCall
from steward.identity import Access
from steward.identity import Role as ProjectRole
from steward.models import (
    LEVELS,
    Chosen,
    Level,
    Role,
    SetUpModel,
    SetupRevision,
    examine,
    hurried,
    load_model_providers,
    own_scope,
    set_up,
)
from steward.models.local import Kept, Shelf, Weights, find_engine, find_ollama, listed_weights

router = Router(prefix="/projects/{project_id}/models", tags=["models"])
local_router = Router(prefix="/projects/{project_id}/local-models", tags=["models"])

WeightsName = Annotated[str, Path(pattern=r"^[a-z][a-z0-9.-]{0,59}$", max_length=60)]
Label = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_.-]{0,39}$", max_length=40)]
Planning = Literal["auto", "stages", "whole"]
_BESIDE_WEIGHTS: Final = 1_500_000_000
_LONGEST_TEST: Final = timedelta(seconds=120)


class PriceIO(Output):
    """US dollars for a million tokens."""

    input: str
    output: str


class AbilitiesOut(Output):
    way: Literal["json_schema", "json_object_schema", "json_object", "text"] | None
    tools: bool | None
    streams: bool | None
    parallel: bool | None
    context: int | None
    parameters: int | None
    stages: bool = Field(description="Whether plans are asked for in short stages.")


class ModelOut(Output):
    label: str = Field(description="Its name here; of the settings: `provider:name`.")
    source: Literal["settings", "project", "organisation"]
    provider: str
    name: str
    base_url: str | None
    allow_rows: bool
    planning: Planning
    stream: bool
    timeout_seconds: int
    has_key: bool
    price: PriceIO | None
    abilities: AbilitiesOut


class AskedOut(Output):
    """What is asked for a role, in this order."""

    role: Literal["planner", "operator", "explainer"]
    source: Literal["settings", "project", "organisation"] | None
    models: list[str]


class SetupOut(Output):
    level: Level
    revision: int
    may_change: bool
    uses: dict[str, list[str]]
    models: list[ModelOut]


class ModelProviderOut(Output):
    """What a form needs to know about who serves models."""

    provider: str
    title: str
    example: str = Field(description="A name of a model there.")
    address: str = Field(description="An example; empty where none is asked for.")
    needs_address: bool
    needs_key: bool
    runs_here: bool = Field(
        description="Whether it is on this machine unless its address is elsewhere."
    )
    hint: str


class ModelsOut(Output):
    providers: list[ModelProviderOut]
    asked: list[AskedOut]
    settings: list[ModelOut] = Field(description="Of the settings or the environment; they win.")
    setups: list[SetupOut]


class PriceIn(Input):
    input: float = Field(ge=0, le=100_000)
    output: float = Field(ge=0, le=100_000)


class ModelIn(Input):
    # Keys keep every character but the spaces around them, which the store takes off.
    model_config = ConfigDict(str_strip_whitespace=True)

    provider: str = Field(max_length=40)
    name: str = Field(min_length=1, max_length=200)
    base_url: str | None = Field(None, max_length=400)
    api: Literal["chat", "responses"] = "chat"
    region: str | None = Field(None, max_length=40)
    api_version: str | None = Field(None, max_length=40)
    allow_rows: bool = True
    stream: bool = True
    planning: Planning = "auto"
    timeout_seconds: int = Field(300, ge=1, le=3_600)
    price: PriceIn | None = None
    key: SecretStr | None = Field(
        None, max_length=4_000, description="Kept as a secret. Without one, the key it has stays."
    )


class UsesIn(Input):
    default: list[str] = Field([], max_length=10)
    planner: list[str] = Field([], max_length=10)
    operator: list[str] = Field([], max_length=10)
    explainer: list[str] = Field([], max_length=10)


class TestOut(Output):
    worked: bool
    words: str
    code: str
    seconds: float
    abilities: AbilitiesOut


class SetupRevisionOut(Output):
    revision: int
    message: str
    author: str
    created_at: datetime | None


def models_out(steward: Steward, access: Access) -> ModelsOut:
    chosen = {role: steward.models.choices(access.scope, role) for role in Role}
    fixed = {
        _name(each.choice): each
        for known in chosen.values()
        for each in known
        if each.source == "settings"
    }
    return ModelsOut(
        providers=[
            copied(ModelProviderOut, each, provider=name, address=each.form_address)
            for name, each in load_model_providers()
        ],
        asked=[
            AskedOut(
                role=role.value,
                source=known[0].source if known else None,
                models=[each.label or _name(each.choice) for each in known]
                or list(steward.staff.desk.names(access.scope, role)),
            )
            for role, known in chosen.items()
        ],
        settings=[_model_out(steward, each) for each in fixed.values()],
        setups=[
            _setup_out(steward, access, steward.setups.current(access.scope, level))
            for level in LEVELS
        ],
    )


def _setup_out(steward: Steward, access: Access, found: SetupRevision) -> SetupOut:
    keys = own_scope(access.scope, found.level)
    return SetupOut(
        level=found.level,
        revision=found.revision,
        may_change=steward.setups.may_change(access, found.level),
        uses={use: list(labels) for use, labels in found.setup.uses.items()},
        models=[
            _model_out(steward, set_up(model, found.level, label, keys))
            for label, model in found.setup.models.items()
        ],
    )


def _model_out(steward: Steward, chosen: Chosen) -> ModelOut:
    choice = chosen.choice
    price = chosen.price
    return copied(
        ModelOut,
        choice,
        label=chosen.label or _name(choice),
        source=chosen.source,
        timeout_seconds=int(choice.timeout.total_seconds()),
        has_key=_has_key(choice),
        price=None
        if price is None
        else PriceIO(input=format(price.input, "f"), output=format(price.output, "f")),
        abilities=_abilities_out(steward, choice),
    )


def _abilities_out(steward: Steward, choice: ModelChoice) -> AbilitiesOut:
    known = steward.models.memory.known(choice)
    return copied(AbilitiesOut, known, stages=known.plans_in_stages(choice))


def _name(choice: ModelChoice) -> str:
    return f"{choice.provider}:{choice.name}"


def _has_key(choice: ModelChoice) -> bool:
    return any((choice.api_key, choice.api_key_secret, choice.api_key_variable))


@router.get("")
def list_models(request: Request, access: AsViewer) -> ModelsOut:
    """Which models are asked for what, and everything that is set up at the project, above it and in the settings."""
    return models_out(steward_of(request), access)


@router.put("/{level}/uses")
def choose_models(
    request: Request,
    access: AsAdmin,
    level: Level,
    body: UsesIn,
    response: Response,
    if_match: IfMatch = None,
) -> ModelsOut:
    """Which models plan, carry out and explain: the first is asked, the others when it fails."""
    steward = steward_of(request)
    revision = revision_from(if_match)
    saved = steward.setups.choose(access, level, body.model_dump(), revision=revision)
    set_etag(response, saved.revision)
    return models_out(steward, access)


@router.put("/{level}/named/{label}")
def set_up_model(
    request: Request,
    access: AsAdmin,
    level: Level,
    label: Label,
    body: ModelIn,
    response: Response,
    if_match: IfMatch = None,
) -> ModelsOut:
    """Adds a model or changes it; the key is kept as a secret and goes to this server alone."""
    steward = steward_of(request)
    given = body.model_dump(exclude={"key", "price"})
    price = None if body.price is None else _price(body.price)
    saved = steward.setups.put(
        access,
        level,
        label,
        {**given, "price": price},
        key=None if body.key is None else body.key.get_secret_value(),
        revision=revision_from(if_match),
    )
    set_etag(response, saved.revision)
    return models_out(steward, access)


@router.delete("/{level}/named/{label}")
def remove_model(
    request: Request,
    access: AsAdmin,
    level: Level,
    label: Label,
    response: Response,
    if_match: IfMatch = None,
) -> ModelsOut:
    """Nothing asks it from now on; going back to the revision before undoes this."""
    steward = steward_of(request)
    saved = steward.setups.remove(access, level, label, revision=revision_from(if_match))
    set_etag(response, saved.revision)
    return models_out(steward, access)


@router.post("/{level}/named/{label}/test")
async def try_model(request: Request, access: AsAdmin, level: Level, label: Label) -> TestOut:
    """Asks it a few short things, at its price, and remembers what its server can do."""
    steward = steward_of(request)
    model: SetUpModel = steward.setups.model(access.scope, level, label)
    return await _tested(
        steward, access, set_up(model, level, label, own_scope(access.scope, level))
    )


@router.post("/settings/{role}/test")
async def try_settings_model(
    request: Request, access: AsAdmin, role: Literal["planner", "operator", "explainer"]
) -> TestOut:
    """The same for the model that is asked first for a role now, whoever chose it."""
    steward = steward_of(request)
    chosen = steward.models.choices(access.scope, Role(role))
    if not chosen:
        return _nothing()
    return await _tested(steward, access, chosen[0])


@router.get("/{level}/revisions")
def list_model_revisions(
    request: Request, access: AsViewer, level: Level
) -> Page[SetupRevisionOut]:
    """Who changed the models when, newest first."""
    access.require(ProjectRole.editor)
    found = steward_of(request).setups.history(access.scope, level)
    return Page(items=[SetupRevisionOut.model_validate(each) for each in found], next_cursor=None)


@router.post("/{level}/revisions/{revision}/restore")
def restore_models(
    request: Request,
    access: AsAdmin,
    level: Level,
    revision: Annotated[int, Path(ge=0, le=1_000_000)],
    response: Response,
) -> ModelsOut:
    """An earlier revision again, as a new one."""
    steward = steward_of(request)
    saved = steward.setups.restore(access, level, revision)
    set_etag(response, saved.revision)
    return models_out(steward, access)


class WeightsOut(Output):
    """Weights that can be run on this machine, with everything to know before they are fetched."""

    name: str
    title: str
    licence: str
    bytes: int
    memory_bytes: int
    use: str = Field(description="What it is good for.")
    sha256: str | None = Field(
        description="None: not known. Of weights that wait for a confirmation, the one that was computed."
    )
    address: str | None = Field(description="Where it is fetched from. None: give an address.")
    state: Literal["absent", "begun", "unconfirmed", "here"] = Field(
        description="`unconfirmed`: someone has to compare the SHA-256 before the model can be used."
    )
    arrived_bytes: int
    run_id: str | None = Field(description="Of the fetch that is under way.")


class LocalOut(Output):
    """What this machine has and can run."""

    engine: Literal["llama-server", "llama-cpp-python", "xllamacpp"] | None
    memory_bytes: int = Field(description="Memory of this machine.")
    running: list[str]
    ollama_address: str | None
    ollama_models: list[str]
    weights: list[WeightsOut]


class PullOut(Output):
    run_id: str


class PullIn(Input):
    url: str | None = Field(
        None, max_length=1_000, description="Of the GGUF file; unset: as listed."
    )
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")


@local_router.get("")
async def look_at_machine(request: Request, access: AsAdmin) -> LocalOut:
    """Which models this machine has, and which it can fetch; for those who keep the machine."""
    steward = steward_of(request)
    steward.connections.keepers.require_sight(access)
    found = await find_ollama()
    servers = steward.models.servers
    return LocalOut(
        engine=find_engine(),
        memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        running=servers.names() if servers is not None else [],
        ollama_address=found.address if found else None,
        ollama_models=list(found.names) if found else [],
        weights=await asyncio.to_thread(_all_weights, steward, access),
    )


def _all_weights(steward: Steward, access: Access) -> list[WeightsOut]:
    """Those that are listed, then those that are here besides."""
    servers = steward.models.servers
    shelf = servers.shelf if servers is not None else None
    kept = {each.name: each for each in shelf.kept()} if shelf is not None else {}
    listed = {each.name: each for each in listed_weights()}
    found = [_weights_out(each, kept.get(name), shelf) for name, each in listed.items()]
    found += [_unlisted_out(each) for name, each in kept.items() if name not in listed]
    return [_with_run(steward, access, each) for each in found]


@local_router.post("/{name}/pull", status_code=status.HTTP_202_ACCEPTED)
def pull_model(request: Request, access: AsAdmin, name: WeightsName, body: PullIn) -> PullOut:
    """Fetches weights onto this machine, as a run that can be followed, cancelled and begun again.

    With the SHA-256 of weights that are here already, it confirms them and fetches nothing.
    """
    steward = steward_of(request)
    steward.connections.keepers.require(access, "fetch models onto this machine")
    arguments = {"name": name, **body.model_dump(exclude_none=True)}
    call = DirectCall("fetch_model", arguments, f"Fetch {name}", subject=_subject(name))
    return PullOut(run_id=steward.governing.direct_calls.start_once(access, call).id)


def _subject(name: str) -> str:
    return f"model:{name}"


def _with_run(steward: Steward, access: Access, weights: WeightsOut) -> WeightsOut:
    found = steward.governing.direct_calls.under_way(access, _subject(weights.name))
    return weights.model_copy(update={"run_id": found.id if found is not None else None})


def _weights_out(weights: Weights, kept: Kept | None, shelf: Shelf | None) -> WeightsOut:
    arrived = shelf.arrived(weights.name) if shelf is not None else None
    return copied(
        WeightsOut,
        weights,
        sha256=(kept.sha256 if kept is not None else None) or weights.sha256,
        address=weights.url,
        state=_state(kept) if kept is not None else "absent" if arrived is None else "begun",
        arrived_bytes=kept.bytes if kept is not None else arrived or 0,
        run_id=None,
    )


def _state(kept: Kept) -> Literal["unconfirmed", "here"]:
    return "here" if kept.confirmed else "unconfirmed"


def _unlisted_out(kept: Kept) -> WeightsOut:
    return WeightsOut(
        name=kept.name,
        title=kept.name,
        use="",
        licence="not known",
        bytes=kept.bytes,
        memory_bytes=kept.bytes + _BESIDE_WEIGHTS,
        sha256=kept.sha256,
        address=None,
        state=_state(kept),
        arrived_bytes=kept.bytes,
        run_id=None,
    )


async def _tested(steward: Steward, access: Access, chosen: Chosen) -> TestOut:
    with reaching_for(access.scope):
        found = await examine(steward.models, hurried(chosen, _LONGEST_TEST))
    return TestOut(
        worked=found.worked,
        words=found.words,
        code=found.code,
        seconds=round(found.seconds, 2),
        abilities=_abilities_out(steward, chosen.choice),
    )


def _nothing() -> TestOut:
    unknown = AbilitiesOut(
        way=None,
        tools=None,
        streams=None,
        parallel=None,
        context=None,
        parameters=None,
        stages=False,
    )
    return TestOut(
        worked=False,
        words="No model is asked for this.",
        code="no-model",
        seconds=0.0,
        abilities=unknown,
    )


def _price(given: PriceIn) -> ModelPrice:
    # As text: a binary float cannot hold a cent.
    return ModelPrice.model_validate({"input": str(given.input), "output": str(given.output)})
