"""A question to a person: a wait that the broker opens under this tool's name, and no function.

`run` is never called: a tool cannot park the run it belongs to. The arguments are what the form shows.
"""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import CONTENT, PLAIN, Arguments, Outcome, Risk, ToolContext, add_tool
from steward.core import Bug


class AskHuman(Arguments):
    question: Annotated[str, CONTENT] = Field(
        min_length=1, max_length=2000, description="One question, in whole words."
    )
    details: Annotated[str, CONTENT] = Field(
        "", max_length=20_000, description="What the person needs to know."
    )
    answer: Annotated[dict[str, Any], PLAIN] = Field(
        default_factory=lambda: {"type": "string"},
        description="JSON Schema of the answer; the form is made from it.",
    )


async def run(_context: ToolContext, _arguments: AskHuman) -> Outcome:
    raise Bug("Questions to people are asked by the broker; ask_human was run as a function.")


add_tool(
    name="ask_human",
    title="Ask a person",
    description="Asks a person and waits, however long it takes, without holding anything up.",
    arguments=AskHuman,
    risk=Risk.read,
    run=run,
    answers="schema",
)
