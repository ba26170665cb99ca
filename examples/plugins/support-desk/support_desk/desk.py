"""Two agents, a guardrail and a hand-over, written with the OpenAI Agents SDK and nothing else."""

import re
from pathlib import Path
from typing import Annotated, Any

from agents import (
    Agent,
    GuardrailFunctionOutput,
    RunContextWrapper,
    TResponseInputItem,
    function_tool,
    input_guardrail,
)
from pydantic import Field

ORDERS = {"A-17": {"item": "Kettle", "paid": 39.9}, "A-18": {"item": "Lamp", "paid": 120.0}}
ledger = Path("refunds.csv")
"""Where refunds are written down."""


@function_tool
def find_order(order: str) -> dict[str, Any]:
    """What was ordered, and what was paid for it."""
    return ORDERS.get(order, {"error": f"There is no order {order}."})


@function_tool
def pay_back(
    order: Annotated[str, Field(json_schema_extra={"x-role": "target"})],
    amount: Annotated[float, Field(json_schema_extra={"x-role": "amount"})],
) -> str:
    """Pays money back to whoever ordered."""
    with ledger.open("a", encoding="utf-8") as file:
        file.write(f"{order},{amount}\n")
    return f"{amount} paid back for {order}."


@input_guardrail
async def about_an_order(
    _context: RunContextWrapper[Any], _agent: Agent[Any], given: str | list[TResponseInputItem]
) -> GuardrailFunctionOutput:
    """Stops requests that name no order."""
    text = given if isinstance(given, str) else " ".join(str(item) for item in given)
    named = re.findall(r"A-\d+", text)
    return GuardrailFunctionOutput(output_info={"orders": named}, tripwire_triggered=not named)


refunds = Agent(
    name="Refunds",
    handoff_description="Pays money back.",
    instructions="Look the order up and pay back exactly what the person asked for.",
    tools=[find_order, pay_back],
)
front_desk = Agent(
    name="Front desk",
    handoff_description="Answers questions about orders and has refunds paid.",
    instructions="Answer questions about orders. Hand refunds over to Refunds.",
    tools=[find_order],
    handoffs=[refunds],
    input_guardrails=[about_an_order],
)
