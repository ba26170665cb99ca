"""Agents written with the OpenAI Agents SDK (PyPI `openai-agents`), run under a governor.

The SDK speaks in items of the Responses API. Here they become Steward's messages, and its answers become items again, so
that such an agent asks whatever models a project has set up. Its own runner drives it; every tool that it can reach is
replaced by one that asks the governor.
"""

import json
import weakref
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Final

from agents import Agent, Handoff, ModelResponse, RunConfig, Tool, set_tracing_disabled
from agents.agent_output import AgentOutputSchemaBase
from agents.exceptions import (
    AgentsException,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    OutputGuardrailTripwireTriggered,
)
from agents.items import TResponseInputItem, TResponseStreamEvent
from agents.model_settings import ModelSettings
from agents.models.interface import Model, ModelProvider, ModelTracing
from agents.run import AgentRunner, set_default_agent_runner
from agents.run_config import ToolExecutionConfig
from agents.tool import FunctionTool
from agents.tool_context import ToolContext
from agents.usage import Usage as SdkUsage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)
from openai.types.responses.response_prompt_param import ResponsePromptParam

from steward.core import Invalid
from steward.models.answer import ModelAnswer
from steward.models.authored import (
    AgentStopped,
    AuthoredAgent,
    AuthoredTool,
    Governor,
    joined_texts,
    no_model_in_tools,
    out_of_turns,
    refused,
    without_answer,
)
from steward.models.messages import (
    Asking,
    Call,
    Message,
    Said,
    System,
    Text,
    ToolResult,
    ToolSpec,
    User,
)

_MOST_AGENTS: Final = 20
_CURRENT: ContextVar["_Work | None"] = ContextVar("openai_agents_work", default=None)
"""The work in whose name the SDK's runner drives an agent just now."""
_IN_TOOL: ContextVar[bool] = ContextVar("openai_agents_in_tool", default=False)
_GOVERNED: Final[dict[int, FunctionTool]] = {}
"""Tools that ask the governor, by id: code of a package may run agents of its own, with no others."""


def is_agent(found: Any) -> bool:
    return isinstance(found, Agent)


class OpenAiAgent(AuthoredAgent):
    def __init__(self, name: str, start: Agent[Any]) -> None:
        set_tracing_disabled(True)
        set_default_agent_runner(_GovernedRunner())
        originals: dict[str, FunctionTool] = {}
        copies = _Copies(name, originals)
        self._start = copies.of(start)
        said = start.instructions
        self.title = start.name
        self.description = start.handoff_description or ""
        self.instructions = said if isinstance(said, str) else ""
        self.tools = {tool.name: _authored(tool) for tool in originals.values()}

    async def run(
        self,
        governor: Governor,
        said: Sequence[str],
        given: Sequence[ToolSpec],
        most_turns: int,
    ) -> Any:
        work = _Work(governor)
        tools = [
            *self._start.tools,
            *(_governed_tool(each.name, each.description, each.parameters) for each in given),
        ]
        items: list[Any] = [{"role": "user", "content": text} for text in said]
        token = _CURRENT.set(work)
        try:
            start = self._start.clone(tools=tools)
            result = await _GovernedRunner().run(start, items, max_turns=most_turns)
        except (InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered) as error:
            name = error.guardrail_result.guardrail.get_name()
            raise AgentStopped("guardrail", f"The guardrail {name!r} stopped the work.") from error
        except MaxTurnsExceeded as error:
            raise out_of_turns(most_turns) from error
        except AgentsException as error:
            raise without_answer(error) from error
        finally:
            _CURRENT.reset(token)
            for tool in tools[len(self._start.tools) :]:
                _GOVERNED.pop(id(tool), None)
        return result.final_output


@dataclass(frozen=True)
class _Work:
    governor: Governor

    @property
    def config(self) -> RunConfig:
        model = _SdkModel(self.governor)
        return RunConfig(
            model=model,
            model_provider=_SdkModels(model),
            tracing_disabled=True,
            tool_execution=ToolExecutionConfig(max_function_tool_concurrency=1),
        )


class _Copies:
    """Copies of agents whose tools ask the governor; the objects of the package stay as they are."""

    def __init__(self, name: str, originals: dict[str, FunctionTool]) -> None:
        self._name = name
        self._originals = originals
        self._made: dict[int, Agent[Any]] = {}

    def of(self, agent: Agent[Any]) -> Agent[Any]:
        if id(agent) in self._made:
            return self._made[id(agent)]
        if len(self._made) >= _MOST_AGENTS:
            raise self._refused(f"reaches more than {_MOST_AGENTS} agents")
        if agent.mcp_servers:
            raise self._refused(
                f"has MCP servers of its own in {agent.name!r}; connect them under Connections"
            )
        copy = agent.clone(
            tools=[self._tool(agent, tool) for tool in agent.tools],
            # One after the other, so that every pass asks models in the same order.
            input_guardrails=[
                replace(each, run_in_parallel=False) for each in agent.input_guardrails
            ],
        )
        # Before those it hands over to, who may hand back.
        self._made[id(agent)] = copy
        copy.handoffs = [self._handoff(agent, each) for each in agent.handoffs]
        return copy

    def _handoff(self, agent: Agent[Any], found: Any) -> Any:
        if isinstance(found, Agent):
            return self.of(found)
        target = found._agent_ref() if found._agent_ref is not None else None
        if target is None:
            raise self._refused(
                f"hands over from {agent.name!r} to {found.agent_name!r}, which it chooses while it runs; "
                "name the agent itself"
            )
        following = self.of(target)
        invoke = found.on_invoke_handoff

        async def hand_over(context: Any, written: str) -> Any:
            # What the package does on the way still happens; who goes on is governed.
            await invoke(context, written)
            return following

        made = replace(found, on_invoke_handoff=hand_over)
        made._agent_ref = weakref.ref(following)
        return made

    def _tool(self, agent: Agent[Any], tool: Any) -> FunctionTool:
        if not isinstance(tool, FunctionTool) or tool._is_agent_tool:
            raise self._refused(
                f"gives {agent.name!r} a {type(tool).__name__} that is no plain function tool; Steward governs function "
                "tools and hand-overs only"
            )
        before = self._originals.setdefault(tool.name, tool)
        if before is not tool:
            raise self._refused(f"has two tools called {tool.name!r}; rename one")
        return _in_front_of(tool)

    def _refused(self, why: str) -> Invalid:
        return refused(self._name, why)


def _in_front_of(original: FunctionTool) -> FunctionTool:
    return _governed_tool(
        original.name,
        original.description,
        original.params_json_schema,
        is_enabled=original.is_enabled,
        tool_input_guardrails=original.tool_input_guardrails,
        tool_output_guardrails=original.tool_output_guardrails,
    )


def _governed_tool(name: str, description: str, schema: Any, **more: Any) -> FunctionTool:
    async def invoke(context: ToolContext[Any], written: str) -> str:
        return await _governor(name).call(name, context.tool_call_id, written)

    made = FunctionTool(
        name=name,
        description=description,
        params_json_schema=schema,
        on_invoke_tool=invoke,
        strict_json_schema=False,
        **more,
    )
    _GOVERNED[id(made)] = made
    return made


def _governor(tool: str) -> Governor:
    work = _CURRENT.get()
    if work is None:
        raise Invalid(f"{tool} is a governed tool; it runs inside Steward only.")
    return work.governor


def _authored(tool: FunctionTool) -> AuthoredTool:
    async def call(call_id: str, arguments: Mapping[str, Any]) -> Any:
        written = json.dumps(dict(arguments))
        context = ToolContext(
            context=None, tool_name=tool.name, tool_call_id=call_id, tool_arguments=written
        )
        token = _IN_TOOL.set(True)
        try:
            return await tool.on_invoke_tool(context, written)
        finally:
            _IN_TOOL.reset(token)

    return AuthoredTool(tool.name, tool.description, tool.params_json_schema, call)


class _GovernedRunner(AgentRunner):
    """The runner of everything that uses the SDK in this process: inside a run, models are asked in its name."""

    async def run(self, starting_agent: Any, input: Any, **kwargs: Any) -> Any:  # noqa: A002
        work = _CURRENT.get()
        if _IN_TOOL.get():
            raise no_model_in_tools()
        if work is not None:
            for agent in _reachable(starting_agent):
                if agent.mcp_servers or any(id(tool) not in _GOVERNED for tool in agent.tools):
                    raise Invalid(
                        f"The agent {agent.name!r} has tools that Steward does not govern."
                    )
            kwargs["run_config"] = work.config
        return await super().run(starting_agent, input, **kwargs)

    def run_streamed(self, *_args: Any, **_kwargs: Any) -> Any:
        raise Invalid("Agents of packages are run whole here: use Runner.run, not run_streamed.")


def _reachable(start: Agent[Any]) -> Iterator[Agent[Any]]:
    seen: set[int] = set()
    open_ends: list[Any] = [start]
    while open_ends:
        each = open_ends.pop(0)
        if isinstance(each, Handoff):
            each = each._agent_ref() if each._agent_ref is not None else None
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        open_ends += each.handoffs
        yield each


class _SdkModel(Model):
    """Asks the governor; which model answers is decided behind it."""

    def __init__(self, governor: Governor) -> None:
        self._governor = governor

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff[Any, Any]],
        tracing: ModelTracing,  # noqa: ARG002
        *,
        previous_response_id: str | None,  # noqa: ARG002
        conversation_id: str | None,  # noqa: ARG002
        prompt: ResponsePromptParam | None,
    ) -> ModelResponse:
        if prompt is not None:
            raise Invalid(
                "This agent uses a prompt that is stored at OpenAI. Write it out instead."
            )
        specs = _specs(tools, handoffs)
        is_data = output_schema is not None and not output_schema.is_plain_text()
        asking = Asking(
            temperature=model_settings.temperature,
            max_tokens=model_settings.max_tokens,
            tool_choice=_tool_choice(model_settings.tool_choice, specs),
            # Models are held to a schema only where nothing else could be their answer.
            output_schema=output_schema.json_schema()
            if output_schema is not None and is_data and not specs
            else None,
        )
        messages = messages_from_items(system_instructions, input)
        if output_schema is not None and is_data and specs:
            messages.append(User(_format_rule(output_schema)))
        answer = await self._governor.ask(messages, specs, asking)
        return response_from_answer(answer)

    def stream_response(
        self,
        system_instructions: str | None,  # noqa: ARG002
        input: str | list[TResponseInputItem],  # noqa: A002, ARG002
        model_settings: ModelSettings,  # noqa: ARG002
        tools: list[Tool],  # noqa: ARG002
        output_schema: AgentOutputSchemaBase | None,  # noqa: ARG002
        handoffs: list[Handoff[Any, Any]],  # noqa: ARG002
        tracing: ModelTracing,  # noqa: ARG002
        *,
        previous_response_id: str | None,  # noqa: ARG002
        conversation_id: str | None,  # noqa: ARG002
        prompt: ResponsePromptParam | None,  # noqa: ARG002
    ) -> AsyncIterator[TResponseStreamEvent]:
        raise Invalid("Agents of packages are run whole here: use Runner.run, not run_streamed.")


class _SdkModels(ModelProvider):
    """Every name of a model leads to the same one: the project decides what is asked."""

    def __init__(self, model: _SdkModel) -> None:
        self._model = model

    def get_model(self, model_name: str | None) -> Model:  # noqa: ARG002
        return self._model


def messages_from_items(
    system: str | None, given: str | Sequence[Mapping[str, Any]]
) -> list[Message]:
    """Items of the Responses API as Steward's messages."""
    messages: list[Message] = [System(system)] if system else []
    if isinstance(given, str):
        return [*messages, User(given)]
    names: dict[str, str] = {}
    for item in given:
        kind = item.get("type") or "message"
        if kind == "message":
            messages.append(_message(item))
        elif kind == "function_call":
            call = _call(item)
            names[call.id] = call.tool
            _add_call(messages, call)
        elif kind == "function_call_output":
            call_id = str(item["call_id"])
            text = _text(item.get("output"))
            messages.append(ToolResult(call_id, names.get(call_id, "tool"), text, rows=False))
        elif kind != "reasoning":
            raise Invalid(
                f"An agent of a package uses {kind!r}, which only OpenAI's servers offer."
            )
    return messages


def response_from_answer(answer: ModelAnswer) -> ModelResponse:
    """An answer as items of the Responses API."""
    output: list[ResponseOutputItem] = []
    text = answer.text
    if text:
        output.append(
            ResponseOutputMessage(
                id="msg",
                role="assistant",
                status="completed",
                type="message",
                content=[ResponseOutputText(text=text, type="output_text", annotations=[])],
            )
        )
    for call in answer.calls:
        written = call.broken if call.broken is not None else json.dumps(dict(call.arguments))
        output.append(
            ResponseFunctionToolCall(
                call_id=call.id, name=call.tool, arguments=written, type="function_call"
            )
        )
    used = answer.usage
    usage = SdkUsage(
        requests=used.requests,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        total_tokens=used.input_tokens + used.output_tokens,
    )
    return ModelResponse(output=output, usage=usage, response_id=None)


def _specs(tools: Sequence[Tool], handoffs: Sequence[Handoff[Any, Any]]) -> list[ToolSpec]:
    specs = []
    for tool in tools:
        if not isinstance(tool, FunctionTool):
            raise Invalid(
                f"{type(tool).__name__} runs at OpenAI; agents here have function tools only."
            )
        specs.append(ToolSpec(tool.name, tool.description, tool.params_json_schema))
    for each in handoffs:
        schema = each.input_json_schema or {"type": "object", "properties": {}}
        specs.append(ToolSpec(each.tool_name, each.tool_description, schema))
    return specs


def _tool_choice(wanted: Any, specs: Sequence[ToolSpec]) -> Any:
    if not specs or wanted in (None, "auto"):
        return "auto"
    return wanted if wanted in ("required", "none") else "required"


def _format_rule(schema: AgentOutputSchemaBase) -> str:
    return (
        "When you give your final answer, it is one JSON document and nothing else, by this JSON Schema: "
        f"{json.dumps(schema.json_schema())}"
    )


def _message(item: Mapping[str, Any]) -> Message:
    text = _text(item.get("content"))
    match item.get("role"):
        case "system" | "developer":
            return System(text)
        case "assistant":
            return Said((Text(text),))
        case _:
            return User(text)


def _call(item: Mapping[str, Any]) -> Call:
    written = str(item.get("arguments") or "{}")
    try:
        arguments = json.loads(written)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return Call(str(item["call_id"]), str(item["name"]), {}, broken=written)
    return Call(str(item["call_id"]), str(item["name"]), arguments)


def _add_call(messages: list[Message], call: Call) -> None:
    """Calls of one answer are parts of one message."""
    if messages and isinstance(messages[-1], Said):
        messages[-1] = Said((*messages[-1].parts, call))
    else:
        messages.append(Said((call,)))


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, Mapping) else None for part in parts)
    return joined_texts(texts, "\n")
