"""Models that people set up in the product: one document with revisions for a project, one for its organisation.

Keys are kept as Steward's own secrets: the document names them, no page shows them, and no connection can use them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from secrets import token_hex
from typing import Annotated, Any, Final, Literal

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from sqlalchemy.exc import IntegrityError

from steward.core import (
    Clock,
    Denied,
    Invalid,
    Misconfigured,
    ModelChoice,
    ModelPrice,
    NotFound,
    Stale,
    in_words,
    mistakes,
)
from steward.identity import Access
from steward.identity import Role as ProjectRole
from steward.models import _tables as tables
from steward.models.providers import check_choice, provider_of
from steward.store import OWN_SECRETS, Database, EventLog, Scope, SecretStore

Level = Literal["project", "organisation"]
Use = Literal["default", "planner", "operator", "explainer"]
Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.-]{0,39}$", max_length=40)]
LEVELS: Final[tuple[Level, ...]] = ("project", "organisation")
KEYS: Final = f"{OWN_SECRETS}model."
_THIS_MACHINE: Final = "http://127.0.0.1"
_MOST_MODELS: Final = 30
_C = tables.setups.c


class SetUpModel(BaseModel):
    """A model as somebody added it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str = Field(max_length=40)
    name: str = Field(min_length=1, max_length=200)
    base_url: str | None = Field(None, max_length=400, pattern=r"^https?://[^\s@]+$")
    api: Literal["chat", "responses"] = "chat"
    region: str | None = Field(None, max_length=40)
    api_version: str | None = Field(None, max_length=40)
    allow_rows: bool = Field(True, description="Whether rows of data may be sent to it.")
    stream: bool = True
    planning: Literal["auto", "stages", "whole"] = "auto"
    timeout_seconds: int = Field(300, ge=1, le=3_600, description="Longest time for one answer.")
    price: ModelPrice | None = None
    key: str | None = Field(None, description="Name of the secret that holds the key.")
    near: bool = Field(
        False, description="Whether its address may be on this machine or a private network."
    )

    @property
    def uses_machine(self) -> bool:
        """Whether it needs no address or key of its own: it runs here, or signs with the machine's credentials."""
        provider = provider_of(self.choice())
        return provider.runs_here or (provider.knows_machine and self.key is None)

    @model_validator(mode="after")
    def _complete(self) -> "SetUpModel":
        self.choice()
        return self

    def choice(self) -> ModelChoice:
        return ModelChoice(
            provider=self.provider,
            name=self.name,
            base_url=self.base_url,
            api=self.api,
            api_key_secret=self.key,
            region=self.region,
            api_version=self.api_version,
            allow_rows=self.allow_rows,
            stream=self.stream,
            planning=self.planning,
            timeout=self.timeout_seconds,
            stall=self.timeout_seconds,
        )


class Setup(BaseModel):
    """Models by label, and which of them are asked for what: the first, then the others in turn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    models: dict[Label, SetUpModel] = Field(default_factory=dict, max_length=_MOST_MODELS)
    uses: dict[Use, list[Label]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names_exist(self) -> "Setup":
        for use, labels in self.uses.items():
            for label in labels:
                if label not in self.models:
                    raise ValueError(f"{use} names the model {label!r}, which is not set up here")
        return self

    def chosen(self, use: str) -> list[str]:
        own = self.uses.get(use)  # type: ignore[call-overload]
        return list(own or self.uses.get("default") or ())


@dataclass(frozen=True)
class SetupRevision:
    level: Level
    revision: int = 0
    setup: Setup = field(default_factory=Setup)
    message: str = ""
    author: str = ""
    created_at: datetime | None = None


Permit = Callable[[Access, str], bool]
"""Whether somebody may have Steward ask an address on this machine or a private network; raises where it is one and
they may not. False: the address is public, and is looked at again before each request."""


@dataclass(eq=False, repr=False)
class Setups:
    _database: Database
    _secrets: SecretStore
    _events: EventLog
    _clock: Clock
    _permit: Permit
    _owns_organisation: Callable[[Scope, str], bool]

    def current(self, scope: Scope, level: Level) -> SetupRevision:
        found = self.history(scope, level, 1)
        return found[0] if found else SetupRevision(level)

    def history(self, scope: Scope, level: Level, limit: int = 50) -> list[SetupRevision]:
        """Newest first."""
        statement = sa.select(tables.setups).order_by(_C.revision.desc()).limit(limit)
        with self._database.read(own_scope(scope, level)) as tx:
            rows = tx.rows(statement)
        return [
            SetupRevision(
                level,
                row.revision,
                Setup.model_validate(row.document),
                row.message,
                row.author,
                row.created_at,
            )
            for row in rows
        ]

    def may_change(self, access: Access, level: Level) -> bool:
        if level == "project":
            return access.role >= ProjectRole.admin
        return access.role >= ProjectRole.owner and self._owns_organisation(
            access.scope, access.user_id
        )

    def put(
        self,
        access: Access,
        level: Level,
        label: str,
        given: Mapping[str, Any],
        *,
        key: str | None = None,
        revision: int | None = None,
    ) -> SetupRevision:
        """Adds a model or replaces what was set of it; without a key, the one it has stays.

        The first model of a document is for everything, until somebody chooses otherwise.
        """
        self._require(access, level)
        now = self.current(access.scope, level)
        before = now.setup.models.get(label)
        kept = before.key if before is not None and _same_place(before, given) else None
        name = f"{KEYS}{label}.{token_hex(4)}" if key is not None else kept
        model = _parsed(SetUpModel, {**given, "key": name}, "")
        try:
            check_choice(model.choice())
        except Misconfigured as problem:
            raise Invalid(f"This model cannot be set up: {problem.message}") from None
        model = self._permitted(access, model)
        setup = _parsed(
            Setup,
            {
                "models": {**now.setup.models, label: model},
                "uses": now.setup.uses or {"default": [label]},
            },
            "",
        )
        if key is not None and name is not None:
            self._secrets.set(
                own_scope(access.scope, level), name, key.strip(), author=access.user_id
            )
        said = f"{'Changed' if before is not None else 'Added'} {label}"
        return self._saved(access, now, setup, said, revision)

    def remove(
        self, access: Access, level: Level, label: str, *, revision: int | None = None
    ) -> SetupRevision:
        self._require(access, level)
        now = self.current(access.scope, level)
        if label not in now.setup.models:
            raise _no_model(label, level)
        models = {name: model for name, model in now.setup.models.items() if name != label}
        uses = {
            use: [name for name in labels if name != label]
            for use, labels in now.setup.uses.items()
        }
        setup = Setup(models=models, uses={use: labels for use, labels in uses.items() if labels})
        return self._saved(access, now, setup, f"Removed {label}", revision)

    def choose(
        self,
        access: Access,
        level: Level,
        uses: Mapping[str, list[str]],
        *,
        revision: int | None = None,
    ) -> SetupRevision:
        """Which models are asked for what; an empty list means the default ones."""
        self._require(access, level)
        now = self.current(access.scope, level)
        wanted = {use: labels for use, labels in uses.items() if labels}
        setup = _parsed(Setup, {"models": now.setup.models, "uses": wanted}, "")
        return self._saved(access, now, setup, "Chose models", revision)

    def restore(self, access: Access, level: Level, revision: int) -> SetupRevision:
        """An earlier document again, as a new revision; revision 0 is the empty one."""
        self._require(access, level)
        now = self.current(access.scope, level)
        if revision == 0:
            return self._saved(access, now, Setup(), "Went back to none", None)
        found = [
            each for each in self.history(access.scope, level, 500) if each.revision == revision
        ]
        if not found:
            raise NotFound(f"There is no revision {revision} of these models.")
        # Somebody who may not add an address may not bring it back either.
        models = {
            label: self._permitted(access, model) for label, model in found[0].setup.models.items()
        }
        setup = found[0].setup.model_copy(update={"models": models})
        return self._saved(access, now, setup, f"Went back to revision {revision}", None)

    def model(self, scope: Scope, level: Level, label: str) -> SetUpModel:
        found = self.current(scope, level).setup.models.get(label)
        if found is None:
            raise _no_model(label, level)
        return found

    def _permitted(self, access: Access, model: SetUpModel) -> SetUpModel:
        """The model, once this person may have Steward ask it; Denied otherwise."""
        address = model.base_url or (_THIS_MACHINE if model.uses_machine else None)
        near = address is not None and self._permit(access, address)
        return model.model_copy(update={"near": near})

    def _require(self, access: Access, level: Level) -> None:
        access.require(ProjectRole.admin)
        if not self.may_change(access, level):
            raise Denied("Models of the organisation are set up by its owners.")

    def _saved(
        self,
        access: Access,
        now: SetupRevision,
        setup: Setup,
        message: str,
        revision: int | None,
    ) -> SetupRevision:
        stale = Stale("The models have changed since you read them. Read them again.")
        if revision is not None and revision != now.revision:
            raise stale
        place = own_scope(access.scope, now.level)
        try:
            with self._database.write(place) as tx:
                tx.execute(
                    sa.insert(tables.setups).values(
                        revision=now.revision + 1,
                        document=setup.model_dump(mode="json"),
                        message=message[:400],
                        author=access.user_id,
                        created_at=self._clock.now(),
                    )
                )
                self._events.append(
                    tx.narrowed(access.scope),
                    "models.changed",
                    now.level,
                    {"by": access.user_id, "revision": now.revision + 1, "what": message},
                )
        except IntegrityError:
            raise stale from None
        self._forget_keys(place, {*_keys(setup), *_keys(now.setup)})
        return self.current(access.scope, now.level)

    def _forget_keys(self, place: Scope, kept: set[str]) -> None:
        """Keys that neither this document nor the one before it uses are removed for good."""
        for name in self._secrets.values(place):
            if name.startswith(KEYS) and name not in kept:
                self._secrets.forget(place, name)


def own_scope(scope: Scope, level: Level) -> Scope:
    """Where the documents and keys of a level are kept."""
    return scope if level == "project" else Scope(scope.org_id, scope.org_id)


def _keys(setup: Setup) -> list[str]:
    return [model.key for model in setup.models.values() if model.key is not None]


def _same_place(before: SetUpModel, given: Mapping[str, Any]) -> bool:
    """A key goes to the server it was given for, and to no other."""
    return (before.provider, before.base_url) == (given.get("provider"), given.get("base_url"))


def _parsed(kind: Any, given: Mapping[str, Any], where: str) -> Any:
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        found = mistakes(error, where)
        raise Invalid(f"This model cannot be set up: {in_words(found)}.", problems=found) from None


def _no_model(label: str, level: str) -> NotFound:
    return NotFound(f"There is no model {label!r} set up for this {level}.")
