"""The policies that Steward brings along, and the schema against which every text is checked."""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Final

from steward.broker.policy_text import Fault, check, refusal
from steward.broker.tool import TOOLS, Risk
from steward.core import Invalid


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
_DOTTED = re.compile(r'Action::"([a-z]+\.[A-Za-z0-9_.\-]{1,92})"')


def preset(name: str) -> str:
    try:
        return PRESETS[name]
    except KeyError:
        known = ", ".join(PRESETS)
        raise Invalid(f"There is no preset {name!r}. Presets are: {known}.") from None


def schema_text(tools: Mapping[str, Risk]) -> str:
    """The schema with every tool as an action inside its risk class."""
    return _text("schema.cedarschema") + "".join(
        _action(name, f'"{risk.value}"') for name, risk in sorted(tools.items())
    )


def faults(text: str, tools: Mapping[str, Risk] | None = None) -> list[Fault]:
    """Everything wrong with a policy text, by line and column."""
    known = installed_tools() if tools is None else tools
    return check(text, _schema(tuple(sorted(known.items())), _of_projects(text)))


def refuse_faults(text: str, tools: Mapping[str, Risk] | None = None) -> None:
    """Raises Invalid when the text must not be saved."""
    found = faults(text, tools)
    if found:
        raise refusal(found)


def installed_tools() -> dict[str, Risk]:
    return {name: tool.risk for name, tool in TOOLS}


def _of_projects(text: str) -> tuple[str, ...]:
    """Tools that a text names and a project may have: `skill.…` and the like come and go with their owners."""
    return tuple(sorted(set(_DOTTED.findall(text))))


@lru_cache(maxsize=16)
def _schema(tools: tuple[tuple[str, Risk], ...], of_projects: tuple[str, ...] = ()) -> str:
    # Their risk is known only when they are called, so a rule may expect any.
    any_risk = ", ".join(f'"{risk.value}"' for risk in Risk)
    further = "".join(_action(name, any_risk) for name in of_projects)
    return schema_text(dict(tools)) + further


def _action(name: str, classes: str) -> str:
    return (
        f"\naction {_quoted(name)} in [{classes}] appliesTo {{ principal: [User], "
        "resource: [Project, Dataset, Branch, Destination], context: Call };"
    )


def _quoted(name: str) -> str:
    if name in list(Risk):
        raise Invalid(f"A tool cannot be called {name!r}: that is the name of a risk class.")
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
