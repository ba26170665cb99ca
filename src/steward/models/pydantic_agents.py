"""Agents written with pydantic-ai, run under a governor.

The library's own loop drives the agent. Its model is one that asks the governor, and its tools are wrapped so that every
call goes to the governor instead of the function.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any

from pydantic import ValidationError
from pydantic_ai import Agent, RunContext, UsageLimits
from pydantic_ai import messages as sdk
from pydantic_ai.exceptions import AgentRunError, ModelRetry, UsageLimitExceeded, UserError
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import Tool, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_ai.usage import RequestUsage, RunUsage
from pydantic_core import SchemaValidator, core_schema

from steward.core import Invalid, in_words, mistakes
from steward.models.answer import ModelAnswer
from steward.models.authored import (
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
    Message,
    Said,
    System,
    ToolResult,
    ToolSpec,
    User,
)
from steward.models.translate import Names, from_sdk, part_to_sdk

_ANYTHING = SchemaValidator(core_schema.any_schema())
_SAME_NAMES = Names(())


def is_agent(found: Any) -> bool:
    return isinstance(found, Agent)


class PydanticAgent(AuthoredAgent):
    def __init__(self, name: str, agent: "Agent[Any, Any]") -> None:
        needs = getattr(agent, "deps_type", NoneType)
        if needs not in (NoneType, object, Any):
            raise refused(
                name,
                f"needs dependencies of the type {getattr(needs, '__name__', needs)}. Steward has none to give: "
                "read what its tools need inside them",
            )
        self._agent = agent
        self._toolsets = list(_function_toolsets(name, agent))
        originals: dict[str, Tool[Any]] = {}
        for toolset in self._toolsets:
            for tool in toolset.tools.values():
                if originals.setdefault(tool.name, tool) is not tool:
                    raise refused(name, f"has two tools called {tool.name!r}; rename one")
        self.title = agent.name or name
        self.description = str(agent.description or "")
        self.instructions = ""
        self.tools = {tool.name: _authored(tool) for tool in originals.values()}

    async def run(
        self,
        governor: Governor,
        said: Sequence[str],
        given: Sequence[ToolSpec],
        most_turns: int,
    ) -> Any:
        governed: list[AbstractToolset[Any]] = [
            _Governed(wrapped=each, governor=governor) for each in self._toolsets
        ]
        if given:
            governed.append(_Given(governor, given))
        with ExitStack() as stack:
            stack.enter_context(
                self._agent.override(model=_model(governor), toolsets=governed, tools=[])
            )
            try:
                result = await self._agent.run(
                    list(said),
                    usage_limits=UsageLimits(request_limit=most_turns),
                    infer_name=False,
                )
            except UsageLimitExceeded as error:
                raise out_of_turns(most_turns) from error
            except (AgentRunError, UserError) as error:
                raise without_answer(error) from error
        return result.output


def _function_toolsets(name: str, agent: "Agent[Any, Any]") -> Iterator[FunctionToolset[Any]]:
    for toolset in agent.toolsets:
        if not isinstance(toolset, FunctionToolset):
            raise refused(
                name,
                f"has tools in a {type(toolset).__name__}. Steward governs plain functions only; connect servers "
                "under Connections",
            )
        yield toolset


@dataclass
class _Governed(WrapperToolset[Any]):
    """The tools of the agent; calling one asks the governor."""

    governor: Governor

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        found = await super().get_tools(ctx)
        return {name: _one_at_a_time(self, tool) for name, tool in found.items()}

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Any],
        tool: ToolsetTool[Any],  # noqa: ARG002
    ) -> Any:
        return await self.governor.call(name, ctx.tool_call_id or name, json.dumps(tool_args))


class _Given(AbstractToolset[Any]):
    """Tools that the agent is given besides its own."""

    def __init__(self, governor: Governor, specs: Sequence[ToolSpec]) -> None:
        self._governor = governor
        self._specs = specs

    @property
    def id(self) -> str | None:
        return None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:  # noqa: ARG002
        return {
            _SAME_NAMES.outside(spec.name): ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(
                    name=_SAME_NAMES.outside(spec.name),
                    description=spec.description,
                    parameters_json_schema=spec.parameters,
                    sequential=True,
                ),
                max_retries=3,
                args_validator=_ANYTHING,
            )
            for spec in self._specs
        }

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[Any],
        tool: ToolsetTool[Any],  # noqa: ARG002
    ) -> Any:
        ours = next(each.name for each in self._specs if _SAME_NAMES.outside(each.name) == name)
        return await self._governor.call(ours, ctx.tool_call_id or name, json.dumps(tool_args))


def _one_at_a_time(toolset: AbstractToolset[Any], tool: ToolsetTool[Any]) -> ToolsetTool[Any]:
    """Arguments are checked by the broker, and one call follows the other, so that every pass is the same."""
    return ToolsetTool(
        toolset=toolset,
        tool_def=replace(tool.tool_def, sequential=True),
        max_retries=tool.max_retries,
        args_validator=_ANYTHING,
    )


def _authored(tool: "Tool[Any]") -> AuthoredTool:
    schema = tool.function_schema

    async def call(call_id: str, arguments: Mapping[str, Any]) -> Any:
        context: RunContext[Any] = RunContext(
            deps=None,
            model=FunctionModel(_no_model),
            usage=RunUsage(),
            tool_call_id=call_id,
            tool_name=tool.name,
        )
        try:
            checked = schema.validator.validate_python(dict(arguments))
            return await schema.call(checked, context)
        except ValidationError as error:
            said = in_words(mistakes(error))
            raise Invalid(f"{tool.name} does not take these arguments: {said}.") from None
        except ModelRetry as error:
            raise Invalid(error.message) from None

    return AuthoredTool(tool.name, tool.description or "", schema.json_schema, call)


async def _no_model(_messages: list[sdk.ModelMessage], _info: AgentInfo) -> sdk.ModelResponse:
    raise no_model_in_tools()


def _model(governor: Governor) -> FunctionModel:
    async def ask(messages: list[sdk.ModelMessage], info: AgentInfo) -> sdk.ModelResponse:
        specs = [
            ToolSpec(each.name, each.description or "", each.parameters_json_schema)
            for each in (*info.function_tools, *info.output_tools)
        ]
        settings = info.model_settings or {}
        parameters = info.model_request_parameters
        held = parameters.output_object if parameters.output_mode == "native" else None
        asking = Asking(
            temperature=settings.get("temperature"),
            max_tokens=settings.get("max_tokens"),
            tool_choice="auto" if info.allow_text_output or not specs else "required",
            output_schema=held.json_schema if held is not None and not specs else None,
        )
        told = messages_from_sdk(messages, info.instructions)
        return _response(await governor.ask(told, specs, asking))

    return FunctionModel(ask, model_name="steward")


def messages_from_sdk(
    messages: Sequence[sdk.ModelMessage], instructions: str | None
) -> list[Message]:
    """The conversation as Steward has it."""
    told: list[Message] = [System(instructions)] if instructions else []
    for message in messages:
        if isinstance(message, sdk.ModelResponse):
            told.append(Said(from_sdk(message, _SAME_NAMES)))
            continue
        told.extend(_message(part) for part in message.parts)
    return told


def _message(part: Any) -> Message:
    if isinstance(part, sdk.SystemPromptPart):
        return System(part.content)
    if isinstance(part, sdk.UserPromptPart):
        return User(_text(part.content))
    tool = getattr(part, "tool_name", None)
    if tool is not None and getattr(part, "tool_call_id", None):
        is_result = isinstance(part, sdk.ToolReturnPart)
        text = part.model_response_str() if is_result else part.model_response()
        return ToolResult(part.tool_call_id, tool, text, failed=not is_result, rows=is_result)
    if hasattr(part, "model_response"):
        return User(part.model_response())
    raise Invalid(
        f"An agent of a package sends a {type(part).__name__}; only text is passed on here."
    )


def _text(content: Any) -> str:
    return joined_texts([content] if isinstance(content, str) else content, "\n\n")


def _response(answer: ModelAnswer) -> sdk.ModelResponse:
    used = answer.usage
    return sdk.ModelResponse(
        parts=[part_to_sdk(part, _SAME_NAMES) for part in answer.said.parts],
        usage=RequestUsage(input_tokens=used.input_tokens, output_tokens=used.output_tokens),
        model_name="steward",
    )
