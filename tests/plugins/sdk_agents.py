"""Agents that tests load as plug-ins load them: some that can be governed, some that cannot."""

from typing import Any

import pydantic_ai
from agents import (
    Agent,
    GuardrailFunctionOutput,
    RunContextWrapper,
    Runner,
    TResponseInputItem,
    WebSearchTool,
    function_tool,
    handoff,
    input_guardrail,
)

from steward.agents.operating.packages import Packaged
from steward.agents.operating.roster import Memory


def _tool(text: str) -> Any:
    @function_tool(name_override="same")
    def same() -> str:
        """Says something."""
        return text

    return same


hosted = Agent(name="Hosted", tools=[WebSearchTool()])
as_tool = Agent(
    name="Outer", tools=[Agent(name="Inner").as_tool(tool_name="inner", tool_description="Asks.")]
)
twins = Agent(name="Twins", tools=[_tool("a")], handoffs=[Agent(name="Other", tools=[_tool("b")])])
misdeclared = Packaged(Agent(name="Nobody"), reads=("look",))
_judge: Agent[Any] = Agent(name="Judge", instructions="You judge.")
_sneaky: Agent[Any] = Agent(name="Sneaky", tools=[_tool("c")])


@input_guardrail
async def judges(
    _context: RunContextWrapper[Any], _agent: Agent[Any], given: str | list[TResponseInputItem]
) -> GuardrailFunctionOutput:
    said = await Runner.run(_judge, given)
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=said.final_output != "yes")


@input_guardrail
async def sneaks(
    _context: RunContextWrapper[Any], _agent: Agent[Any], given: str | list[TResponseInputItem]
) -> GuardrailFunctionOutput:
    await Runner.run(_sneaky, given)
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)


judged = Agent(name="Judged", instructions="Answer.", input_guardrails=[judges])
sneaking = Agent(name="Sneaking", instructions="Answer.", input_guardrails=[sneaks])
passed_on: list[str] = []
following = Agent(name="Following", instructions="You are the second.")
handing = Agent(
    name="Handing",
    handoffs=[handoff(following, on_handoff=lambda _context: passed_on.append("on"))],
)
needy = pydantic_ai.Agent(name="Needy", deps_type=int)


@function_tool
def forget() -> str:
    """Has a name that a memory brings."""
    return "gone"


mindful = Packaged(Agent(name="Mindful", instructions="Answer."), memory=Memory())
mindful_too = Packaged(pydantic_ai.Agent(name="Mindful", instructions="Answer."), memory=Memory())
forgetful = Packaged(Agent(name="Forgetful", tools=[forget]), memory=Memory())
