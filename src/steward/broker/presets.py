"""The policies that Steward brings along, and the schema against which every text is checked."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

import cedarpy

from steward.broker.policy_text import Fault, check, refusal
from steward.broker.tool import TOOLS, Risk
from steward.core.errors import Invalid


def _text(name: str) -> str:
    return (files("steward.broker") / "policies" / name).read_text(encoding="utf-8")


BUILT_IN: Final = _text("built_in.cedar")
"""Steward's own rules, evaluated beside every policy."""

PRESETS: Final[Mapping[str, str]] = {
    "read-only": _text("read_only.cedar"),
    "draft-only": _text("draft_only.cedar"),
    "supervised": _text("supervised.cedar"),
    "trusted": _text("trusted.cedar"),
}
DEFAULT_PRESET: Final = "supervised"


def preset(name: str) -> str:
    try:
        return PRESETS[name]
    except KeyError:
        known = ", ".join(PRESETS)
        raise Invalid(f"There is no preset {name!r}. Presets are: {known}.") from None


def schema_text(tools: Mapping[str, Risk]) -> str:
    """The schema with every tool as an action inside its risk class."""
    return _text("schema.cedarschema") + "".join(
        f'\naction {_quoted(name)} in ["{risk.value}"] appliesTo {{ principal: [User], '
        "resource: [Project, Dataset, Branch, Destination], context: Call };"
        for name, risk in sorted(tools.items())
    )


def faults(text: str, tools: Mapping[str, Risk] | None = None) -> list[Fault]:
    """Everything wrong with a policy text, by line and column."""
    return check(
        text, _schema(tuple(sorted((installed_tools() if tools is None else tools).items())))
    )


def refuse_faults(text: str, tools: Mapping[str, Risk] | None = None) -> None:
    """Raises Invalid when the text must not be saved."""
    found = faults(text, tools)
    if found:
        raise refusal(found)


def installed_tools() -> dict[str, Risk]:
    return {name: tool.risk for name, tool in TOOLS}


@lru_cache(maxsize=16)
def _schema(tools: tuple[tuple[str, Risk], ...]) -> cedarpy.Schema:
    return cedarpy.Schema.from_str(schema_text(dict(tools)))


def _quoted(name: str) -> str:
    if name in list(Risk):
        raise Invalid(f"A tool cannot be called {name!r}: that is the name of a risk class.")
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
