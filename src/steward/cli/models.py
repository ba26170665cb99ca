"""`steward models`: which are asked for what; added, tested, chosen, removed, and fetched for this machine."""

import asyncio
import sys
from typing import Annotated, Any

import typer

from steward.cli.output import progress
from steward.cli.projects import Group, Here
from steward.core import Invalid, ModelChoice, reaching_for
from steward.flows import DirectCall
from steward.models import LEVELS, Chosen, Level, Role, examine, name_of, own_scope, set_up
from steward.models.local import listed_weights, pull_from_ollama

app = Group()
LabelArgument = Annotated[str, typer.Argument(help="The name under which it is set up.")]
ForAll = Annotated[
    bool, typer.Option("--organisation", help="For all projects of the organisation.")
]


@app.in_project("list")
def list_models(here: Here) -> None:
    """List the models that are set up, and which of them are asked for what."""
    asked = {role: here.steward.models.choices(here.scope, role) for role in Role}
    documents = [_document(here, each, asked) for each in _all(here, asked)]
    here.show_table(
        documents,
        ["Name", "Model", "Set up in", "Asked for", "Rows", "Key"],
        [
            (
                each["label"],
                each["model"],
                each["source"],
                ", ".join(each["asked_for"]) or None,
                "yes" if each["allow_rows"] else "no",
                "set" if each["has_key"] else "none",
            )
            for each in documents
        ],
        empty="No language model is set up. 'steward models add' adds one, 'pull' fetches one.",
    )


@app.in_project("add")
def add_model(
    here: Here,
    label: LabelArgument,
    provider: Annotated[
        str, typer.Argument(help="openai, compatible, ollama, anthropic, google, azure or bedrock.")
    ],
    name: Annotated[str, typer.Argument(help="The model's name at its provider.")],
    *,
    base_url: Annotated[str | None, typer.Option(help="Address of the server, up to /v1.")] = None,
    key: Annotated[
        bool, typer.Option("--key", help="Read the key from the terminal or standard input.")
    ] = False,
    rows: Annotated[bool, typer.Option(help="Whether rows of data may be sent to it.")] = True,
    price: Annotated[
        str | None,
        typer.Option(help="US dollars per million tokens read and written, such as 0.5,1.5."),
    ] = None,
    planning: Annotated[str, typer.Option(help="auto, stages or whole.")] = "auto",
    organisation: ForAll = False,
) -> None:
    """Add a model or change one; its key is typed in or comes on standard input, never as an argument."""
    given: dict[str, Any] = {
        "provider": provider,
        "name": name,
        "base_url": base_url,
        "allow_rows": rows,
        "planning": planning,
        "price": None if price is None else _price(price),
    }
    typed = _typed() if key else None
    saved = here.steward.setups.put(here.access, _level(organisation), label, given, key=typed)
    here.show(
        {"label": label, "revision": saved.revision},
        lambda: f"Added {label}. Test it with 'steward models test {label}'.",
    )


@app.in_project("test")
def try_model(here: Here, label: LabelArgument) -> None:
    """Ask a model a few short things and remember what it can do; exits with 1 when it does not work."""
    with reaching_for(here.scope):
        found = asyncio.run(examine(here.steward.models, _found(here, label)))
    document = {
        "label": label,
        "worked": found.worked,
        "words": found.words,
        "code": found.code,
        "abilities": found.abilities.to_json(),
    }
    here.show(document, lambda: found.words)
    if not found.worked:
        raise typer.Exit(1)


@app.in_project("use")
def choose_model(
    here: Here,
    label: LabelArgument,
    role: Annotated[
        list[str],
        typer.Option("--for", help="planner, operator or explainer; several. Unset: everything."),
    ] = [],  # noqa: B006 - typer's way of an empty list
    *,
    organisation: ForAll = False,
) -> None:
    """Choose the model that is asked for something."""
    level = _level(organisation)
    now = here.steward.setups.current(here.scope, level)
    uses: dict[str, list[str]] = {str(use): list(names) for use, names in now.setup.uses.items()}
    uses |= {each: [label] for each in role or ["default"]}
    saved = here.steward.setups.choose(here.access, level, uses)
    what = ", ".join(role) or "everything"
    here.show(
        {"revision": saved.revision, "uses": saved.setup.model_dump()["uses"]},
        lambda: f"{label} is asked for {what}.",
    )


@app.in_project("remove")
def remove_model(here: Here, label: LabelArgument, *, organisation: ForAll = False) -> None:
    """Remove a model; 'steward models undo' brings it back."""
    saved = here.steward.setups.remove(here.access, _level(organisation), label)
    here.show({"label": label, "revision": saved.revision}, lambda: f"Removed {label}.")


@app.in_project("undo")
def undo_change(here: Here, *, organisation: ForAll = False) -> None:
    """Go back to the models before the last change."""
    level = _level(organisation)
    now = here.steward.setups.current(here.scope, level)
    if now.revision == 0:
        raise Invalid("Nothing was changed here yet.")
    saved = here.steward.setups.restore(here.access, level, now.revision - 1)
    here.show({"revision": saved.revision}, lambda: f"{saved.message}.")


@app.in_project("pull")
def pull_model(
    here: Here,
    name: Annotated[str, typer.Argument(help="A listed model; with --ollama, one of Ollama's.")],
    *,
    url: Annotated[
        str | None, typer.Option("--from", help="Address of the GGUF file; unset: as listed.")
    ] = None,
    sha256: Annotated[str | None, typer.Option(help="SHA-256 of the file.")] = None,
    ollama: Annotated[bool, typer.Option(help="Have Ollama on this machine fetch it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before fetching.")] = False,
) -> None:
    """Fetch an open model onto this machine and set it up; says licence, size and memory first."""
    if ollama:
        asyncio.run(pull_from_ollama(name, _shown))
        given = {"provider": "ollama", "name": name}
    else:
        _confirm(name, yes)
        arguments = {"name": name, "url": url, "sha256": sha256}
        call = DirectCall(
            "fetch_model",
            {key: value for key, value in arguments.items() if value},
            f"Fetch {name}",
        )
        done = asyncio.run(here.steward.governing.direct_calls.run(here.access, call))
        progress(done.summary)
        if not done.value["verified"]:
            _confirm_digest(here, name, done.value["sha256"])
        given = {"provider": "local", "name": name}
    label = name.replace(":", "-").lower()
    saved = here.steward.setups.put(here.access, "project", label, given)
    here.show(
        {"label": label, "revision": saved.revision},
        lambda: f"{label} is set up. Test it with 'steward models test {label}'.",
    )


def _confirm(name: str, yes: bool) -> None:
    listed = next((each for each in listed_weights() if each.name == name), None)
    told = (
        f"{listed.title}: {listed.bytes / 1e9:.1f} GB, licence {listed.licence}, needs about "
        f"{listed.memory_bytes / 1e9:.1f} GB of memory, SHA-256 {listed.sha256 or 'not known'}."
        if listed is not None
        else f"{name} is not listed: its size, licence and memory are not known."
    )
    progress(told)
    if not yes and sys.stdin.isatty():
        typer.confirm("Fetch it?", abort=True)


def _confirm_digest(here: Here, name: str, digest: str) -> None:
    """Weights of a digest that was not known before are used once somebody has compared it."""
    if not sys.stdin.isatty() or not typer.confirm("Does the publisher give the same SHA-256?"):
        progress(
            f"{name} is not set up yet. Compare its SHA-256 with the publisher's, then run "
            f"'steward models pull {name} --sha256 {digest}'."
        )
        raise typer.Exit(1)
    call = DirectCall("fetch_model", {"name": name, "sha256": digest}, f"Confirm {name}")
    progress(asyncio.run(here.steward.governing.direct_calls.run(here.access, call)).summary)


def _shown(done: int, total: int | None) -> None:
    if total:
        progress(f"{done / total:.0%} of {total / 1e9:.1f} GB")


def _all(here: Here, asked: dict[Role, list[Chosen]]) -> list[Chosen]:
    settings = {
        name_of(each.choice): each
        for known in asked.values()
        for each in known
        if each.source == "settings"
    }
    found = list(settings.values())
    for level in LEVELS:
        setup = here.steward.setups.current(here.scope, level).setup
        keys = own_scope(here.scope, level)
        found += [set_up(model, level, label, keys) for label, model in setup.models.items()]
    return found


def _found(here: Here, label: str) -> Chosen:
    asked = {role: here.steward.models.choices(here.scope, role) for role in Role}
    known = _all(here, asked)
    for each in known:
        if label in {each.label, name_of(each.choice)}:
            return each
    names = ", ".join(each.label or name_of(each.choice) for each in known) or "none"
    raise Invalid(f"There is no model {label!r}. There are: {names}.")


def _document(here: Here, chosen: Chosen, asked: dict[Role, list[Chosen]]) -> dict[str, Any]:
    choice: ModelChoice = chosen.choice
    return {
        "label": chosen.label or name_of(choice),
        "model": name_of(choice),
        "source": chosen.source,
        "base_url": choice.base_url,
        "allow_rows": choice.allow_rows,
        "has_key": any((choice.api_key, choice.api_key_secret, choice.api_key_variable)),
        "asked_for": [
            role.value
            for role, known in asked.items()
            if any(
                (each.source, each.label) == (chosen.source, chosen.label) and each.choice == choice
                for each in known
            )
        ],
        "abilities": here.steward.models.memory.known(choice).to_json(),
    }


def _level(organisation: bool) -> Level:
    return "organisation" if organisation else "project"


def _price(text: str) -> dict[str, str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2:
        raise Invalid("--price is two amounts, such as 0.5,1.5.")
    return {"input": parts[0], "output": parts[1]}


def _typed() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("Key", hide_input=True))
    return sys.stdin.readline().rstrip("\n")
