"""What a server and its model can do, found out once and remembered: each may be unknown."""

from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.core import Clock, ModelChoice
from steward.models import _tables as tables
from steward.models.providers import known_provider
from steward.store import EVERYWHERE, Database

Way = Literal["json_schema", "json_object_schema", "json_object", "text"]
"""How a model is held to a JSON Schema, the strictest first.

`json_schema` is OpenAI's way, `json_object_schema` that of llama-cpp-python's server, `json_object` holds it to some
JSON, and `text` asks for it in words."""
WAYS: Final[tuple[Way, ...]] = ("json_schema", "json_object_schema", "json_object", "text")
_SMALL_CONTEXT: Final = 16_000
_SMALL_MODEL: Final = 12_000_000_000


@dataclass(frozen=True)
class Abilities:
    way: Way | None = None
    tools: bool | None = None
    """Whether it calls tools by itself; where it does not, tools are spoken of in JSON."""
    streams: bool | None = None
    parallel: bool | None = None
    """Whether two requests at the same time are both answered."""
    context: int | None = None
    """Tokens it reads at once, where the server says so."""
    parameters: int | None = None
    """The model's size, where the server says so."""

    @property
    def is_known(self) -> bool:
        return any(value is not None for value in asdict(self).values())

    def plans_in_stages(self, choice: ModelChoice) -> bool:
        """Whether planning asks short questions one after the other, as small models need it."""
        if choice.planning != "auto":
            return choice.planning == "stages"
        if self.parameters is not None:
            return self.parameters < _SMALL_MODEL
        if self.context is not None and self.context < _SMALL_CONTEXT:
            return True
        # Where an own server tells nothing, a small model is the safe guess.
        provider = known_provider(choice)
        return provider is not None and provider.is_own_server

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Abilities":
        known = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in known})


def server_key(choice: ModelChoice) -> str:
    """The same for everyone who asks the same model of the same server in the same protocol."""
    parts = (choice.provider, choice.base_url or "", choice.region or "", choice.api, choice.name)
    return sha256("\n".join(parts).encode()).hexdigest()


class AbilityMemory:
    """Remembers in the database, or in this process alone where there is none."""

    def __init__(self, database: Database | None = None, clock: Clock | None = None) -> None:
        self._database = database
        self._clock = clock
        self._here: dict[str, Abilities] = {}

    def known(self, choice: ModelChoice) -> Abilities:
        key = server_key(choice)
        if self._database is None:
            return self._here.get(key, Abilities())
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(
                sa.select(tables.abilities.c.document).where(tables.abilities.c.server == key)
            )
        return Abilities() if row is None else Abilities.from_json(row.document)

    def learn(self, choice: ModelChoice, **found: Any) -> Abilities:
        """Adds to what is known; what is found again replaces what was found before."""
        key = server_key(choice)
        known = replace(self.known(choice), **found)
        if self._database is None or self._clock is None:
            self._here[key] = known
            return known
        fields = {"document": known.to_json(), "learned_at": self._clock.now()}
        with self._database.write(EVERYWHERE) as tx:
            insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
            tx.execute(
                insert(tables.abilities)
                .values(server=key, **fields)
                .on_conflict_do_update(index_elements=["server"], set_=fields)
            )
        return known
