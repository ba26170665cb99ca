"""A new plug-in to start from: a package that passes its check as it is written."""

import re
from pathlib import Path
from typing import Final

from steward.core import Conflict, Invalid

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")

_SANDBOXED_TOOL: Final = '''\
"""Adds value-added tax to a net price."""

from decimal import Decimal
from typing import Any

TOOL = {
    "title": "Add tax",
    "description": "Adds value-added tax to a net price.",
    "arguments": {
        "type": "object",
        "properties": {
            "net": {"type": "number", "description": "Price without tax.", "x-role": "amount"},
            "rate": {
                "type": "number",
                "description": "Tax rate in percent.",
                "default": 19,
                "x-role": "plain",
            },
        },
        "required": ["net"],
    },
    "examples": [{"arguments": {"net": 100, "rate": 19}, "result": {"gross": 119.0}}],
}


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    net, rate = Decimal(str(arguments["net"])), Decimal(str(arguments["rate"]))
    gross = net + net * rate / 100
    return {"gross": float(round(gross, 2))}
'''

_TOOL: Final = '''\
"""Says what time it is in the server's clock; a tool that uses the services of Steward."""

from typing import Annotated

from pydantic import Field

from steward.broker.roles import PLAIN
from steward.broker.tool import Arguments, Effects, Outcome, Risk, Tool, ToolContext
from steward.tools import CLOCK


class TellTime(Arguments):
    pattern: Annotated[str, PLAIN] = Field("%H:%M", max_length=40, description="As in strftime.")


async def run(context: ToolContext, arguments: TellTime) -> Outcome:
    now = context.services.use(CLOCK).now()
    return Outcome({"time": now.strftime(arguments.pattern)}, "Told the time")


TELL_TIME = Tool(
    name="tell_time",
    title="Tell the time",
    description="Says what time it is in UTC.",
    arguments=TellTime,
    risk=Risk.read,
    run=run,
    effects=Effects(),
)
'''

_NODE: Final = '''\
"""Gives back a text in capitals."""

from typing import ClassVar, Literal

from pydantic import Field

from steward.flows.node import Node, Place, Starter, TextTemplate, Valued


class ShoutNode(Node):
    type: Literal["shout"]
    text: TextTemplate = Field(description="What to say, such as ${inputs.name}.")

    group: ClassVar = "Logic"
    starters: ClassVar = (Starter("Shout", {"text": "hello"}),)

    async def run(self, at: Place) -> Valued:
        filled = at.filled(self.text)
        return Valued(str(filled.value).upper(), filled.labels)
'''

_TRIGGER: Final = '''\
"""Starts it at every full hour that can be divided by a number."""

from datetime import datetime, timedelta
from typing import ClassVar, Literal

from pydantic import Field

from steward.playbooks import Arrival, Looking, Source, Taken, Trigger
from steward.runs import Json


class HoursTrigger(Trigger):
    title: ClassVar = "At certain hours"
    starter: ClassVar = {"every": 6}
    trusted: ClassVar = True

    type: Literal["hours"]
    name: str = "hours"
    every: int = Field(ge=1, le=12, description="Hours from one start to the next.")

    def first_look(self, now: datetime) -> datetime:
        return _following(now, self.every)

    def source(self, looking: Looking) -> Source:
        return _Hours(looking, self.every)


class _Hours(Source):
    def __init__(self, looking: Looking, every: int) -> None:
        self._looking = looking
        self._every = every

    async def take(self, cursor: Json) -> Taken:
        moment = self._looking.due_at
        arrival = Arrival({"hour": moment.hour}, key=moment.isoformat())
        return Taken((arrival,), cursor, _following(self._looking.clock.now(), self._every))


def _following(now: datetime, every: int) -> datetime:
    hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return hour + timedelta(hours=-hour.hour % every)
'''

_CONNECTOR: Final = '''\
"""The API of a web shop; a kind of connection that the tool “HTTP request” can use."""

from typing import Literal

from pydantic import Field

from steward.connections.connector import Connector, SecretField, Secrets, Surroundings
from steward.connections.types.http_api import HttpApiSettings, headers
from steward.core.errors import Misconfigured, Unavailable


class ShopSettings(HttpApiSettings):
    base_url: str = Field(
        max_length=500,
        title="Address of the shop",
        description="Where its API begins, such as https://shop.example.com/api.",
        examples=["https://shop.invalid/api"],
    )
    authentication: Literal["bearer"] = Field(
        "bearer", title="Authentication", description="The shop takes a bearer token."
    )


async def check(around: Surroundings, settings: ShopSettings, secrets: Secrets) -> str:
    """Really connects, and says what was found; the secrets are never part of what it says."""
    answer = await around.http.request(
        "GET", settings.url("status"), secret_headers=headers(settings, secrets)
    )
    if answer.status in {401, 403}:
        raise Misconfigured(f"The shop does not accept the token ({answer.status}).")
    if answer.status != 200:
        raise Unavailable(f"The shop answered {answer.status}. Check its address.")
    return "The shop answered."


SHOP = Connector(
    kind="web_shop",
    title="Web shop",
    description="Reads orders and products of a web shop through its API.",
    use="http",
    settings=ShopSettings,
    check=check,
    place=lambda settings: settings.base_url,
    secrets=(SecretField("token", "Token", "Made in the settings of the shop.", required=True),),
)
'''

_GUARDRAIL: Final = '''\
"""Keeps answers polite."""

from pydantic import Field

from steward.agents.guardrails import About, Guardrail


class NoShouting(Guardrail):
    """Refuses answers that are mostly in capitals."""

    most: float = Field(0.5, ge=0, le=1, description="The largest share of capital letters.")

    def check(self, text: str, about: About) -> str | None:
        letters = [each for each in text if each.isalpha()]
        if not letters or sum(each.isupper() for each in letters) / len(letters) <= self.most:
            return None
        return "Write in sentences, not in capitals."
'''

_AGENT: Final = '''\
"""Says whether something is in stock and orders more; an agent written with pydantic-ai."""

from typing import Annotated

from pydantic import Field
from pydantic_ai import Agent

from steward.agents.operating.packages import Packaged

Item = Annotated[
    str, Field(description="What it is called.", json_schema_extra={"x-role": "selector"})
]

keeper = Agent(
    name="Stock keeper",
    description="Says what is in stock and orders more.",
    instructions="Look the item up first. Order only what the person asked for.",
)


@keeper.tool_plain
def in_stock(item: Item) -> int:
    """How many there are."""
    return {"kettle": 12, "lamp": 0}.get(item.lower(), 0)


@keeper.tool_plain
def order(
    item: Annotated[
        str, Field(description="What to order.", json_schema_extra={"x-role": "target"})
    ],
    pieces: Annotated[
        int, Field(description="How many.", json_schema_extra={"x-role": "amount"})
    ],
) -> str:
    """Orders more of it."""
    return f"Ordered {pieces} of {item}."


KEEPER = Packaged(keeper, reads=("in_stock",))
'''

_PARTS: Final = {
    "sandboxed_tool": ("add_tax", "add_tax", "main", _SANDBOXED_TOOL),
    "tool": ("tell_time", "tell_time", "TELL_TIME", _TOOL),
    "node": ("shout", "shout", "ShoutNode", _NODE),
    "trigger": ("hours", "hours", "HoursTrigger", _TRIGGER),
    "connector": ("web_shop", "web_shop", "SHOP", _CONNECTOR),
    "guardrail": ("no-shouting", "no_shouting", "NoShouting", _GUARDRAIL),
    "agent": ("stock-keeper", "stock_keeper", "KEEPER", _AGENT),
}
"""By kind: the part's name, its module, the object in it, and its text."""
KINDS: Final = tuple(_PARTS)


def write_package(name: str, into: Path, kinds: tuple[str, ...] = ("sandboxed_tool",)) -> Path:
    """Writes a package with one part of each kind; nothing that is there is touched."""
    if not _NAME.fullmatch(name) or len(name) > 40:
        raise Invalid(
            f"{name[:60]!r} is not a name: it has small letters, digits and single hyphens, as acme-tax has."
        )
    unknown = [kind for kind in kinds if kind not in _PARTS]
    if unknown:
        raise Invalid(f"There is no kind {unknown[0]!r}. There are: {', '.join(KINDS)}.")
    folder = into / name
    if folder.exists():
        raise Conflict(f"{folder} exists already. Choose another name or folder.")
    module = name.replace("-", "_")
    files = {
        "pyproject.toml": _pyproject(name, module, kinds),
        "README.md": _readme(name, kinds),
        f"{module}/__init__.py": f'"""The plug-in {name}."""\n',
        f"{module}/py.typed": "",
    }
    for kind in kinds:
        _, file, _, text = _PARTS[kind]
        files[f"{module}/{file}.py"] = text
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


def _pyproject(name: str, module: str, kinds: tuple[str, ...]) -> str:
    points = "\n".join(
        f'[project.entry-points."steward.{kind}"]\n{part} = "{module}.{file}:{item}"\n'
        for kind in kinds
        for part, file, item, _ in [_PARTS[kind]]
    )
    return f"""\
[project]
name = "{name}"
version = "0.1.0"
description = "Says in a sentence what it adds."
requires-python = ">=3.11"
license = "Apache-2.0"
dependencies = []

{points}
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
"""


def _readme(name: str, kinds: tuple[str, ...]) -> str:
    return f"""\
# {name}

A plug-in for Steward: {", ".join(kind.replace("_", " ") for kind in kinds)}.

    steward plugin check {name}
    steward plugin build {name}
"""
