"""The contract of connectors: what every kind of connection must declare, and what its check must do and never say.

check_connector(connector, settings)                        # what it declares
run_check(connector, settings, secrets, around)             # and one check of it, against something real
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from steward.connections import Connector, DatabasePlace, Folders, Http, Mailer, Surroundings
from steward.core import StewardError, Unavailable

_KIND = re.compile(r"[a-z][a-z0-9_]*")
_PROBE = "s3cret-probe-value"


@dataclass(frozen=True)
class NoDatabases:
    """Stands in for databases where a connector needs none."""

    def version(self, place: DatabasePlace) -> str:
        where = "a file" if place.file is not None else "a server"
        raise Unavailable(f"There are no databases here, not even {where}.")


def surroundings(*, allow_private: tuple[str, ...] = ("127.0.0.1",), **parts: Any) -> Surroundings:
    """What a connector may use, real unless given: HTTP and mail that reach this machine, no folders."""
    known: dict[str, Any] = {
        "http": Http(allow_private=allow_private),
        "mail": Mailer(allow_private=allow_private),
        "folders": Folders(),
        "databases": NoDatabases(),
    }
    return Surroundings(**(known | parts))


def check_connector(connector: Connector[Any], settings: Mapping[str, Any]) -> None:
    """Fails with what is wrong about what the connector declares; `settings` are good ones."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    assert _KIND.fullmatch(connector.kind), f"{connector.kind!r} is not a name in snake_case"
    assert connector.title, f"{connector.kind} has no title"
    assert connector.description.endswith("."), f"{connector.kind}: the description is no sentence"
    schema = connector.schema()
    Draft202012Validator.check_schema(schema)
    assert schema.get("additionalProperties") is False, f"{connector.kind} takes unknown settings"
    for name, field in schema.get("properties", {}).items():
        assert field.get("title"), f"{connector.kind}: the setting {name} has no title"
        hidden = re.search(r"password|secret|token", name)
        assert not hidden, f"{connector.kind}: {name} looks like a secret and is a setting"
    try:
        connector.settings.model_validate({**settings, "no such setting": 1})
    except ValidationError:
        pass
    else:
        raise AssertionError(f"{connector.kind} takes unknown settings")
    parsed = connector.settings.model_validate(dict(settings))
    again = connector.settings.model_validate(parsed.model_dump(mode="json"))
    assert again == parsed, f"{connector.kind} does not read back what it keeps"
    assert connector.place(parsed), f"{connector.kind} does not say where it leads"
    _check_failure(connector, parsed)


def example_settings(connector: Connector[Any]) -> dict[str, Any]:
    """Good settings, of the examples that the fields declare."""
    schema = connector.schema()
    found = {}
    for name in schema.get("required", ()):
        examples = schema["properties"][name].get("examples")
        assert examples, (
            f"{connector.kind}: the setting {name} has no examples; add one, so that the check can try it"
        )
        found[name] = examples[0]
    return found


def run_check(
    connector: Connector[Any],
    settings: Mapping[str, Any],
    secrets: Mapping[str, str],
    around: Surroundings,
) -> str:
    """What a check says; its secrets must not be in it, whether it worked or not."""
    parsed = connector.settings.model_validate(dict(settings))

    async def checked() -> str:
        async with asyncio.timeout(connector.time.total_seconds()):
            return await connector.check(around, parsed, secrets)

    try:
        words = asyncio.run(checked())
    except StewardError as problem:
        _refuse_secrets(connector, problem.message, secrets)
        raise
    assert words.endswith("."), f"{connector.kind}: {words!r} is no sentence"
    _refuse_secrets(connector, words, secrets)
    return words


def _check_failure(connector: Connector[Any], parsed: Any) -> None:
    """Where nothing may be reached a check fails by one of our errors, and tells no secret."""
    secrets = {field.name: _PROBE for field in connector.secrets}
    around = surroundings(allow_private=())
    try:
        run_check(connector, parsed.model_dump(mode="json"), secrets, around)
    except StewardError:
        return
    raise AssertionError(f"{connector.kind} says that it works where nothing can be reached")


def _refuse_secrets(connector: Connector[Any], words: str, secrets: Mapping[str, str]) -> None:
    told = [name for name, value in secrets.items() if value and value in words]
    assert told == [], f"{connector.kind} tells its secret {told[0] if told else ''}: {words}"
