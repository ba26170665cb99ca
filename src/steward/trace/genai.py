"""Names of attributes and spans: OpenTelemetry's for generative AI, and OpenInference's. They still move; they live here."""

from typing import Final

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
AGENT: Final = "gen_ai.agent.name"
MODEL: Final = "gen_ai.request.model"
TOOL: Final = "gen_ai.tool.name"
CALL: Final = "gen_ai.tool.call.id"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
CONVERSATION: Final = "gen_ai.conversation.id"
INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
ARGUMENTS: Final = "gen_ai.tool.call.arguments"
RESULT: Final = "gen_ai.tool.call.result"
ERROR: Final = "error.type"

KIND: Final = "openinference.span.kind"
PROMPT_COUNT: Final = "llm.token_count.prompt"
COMPLETION_COUNT: Final = "llm.token_count.completion"
COST: Final = "llm.cost.total"
SESSION: Final = "session.id"

INVOKE_WORKFLOW: Final = "invoke_workflow"
INVOKE_AGENT: Final = "invoke_agent"
EXECUTE_TOOL: Final = "execute_tool"
CHAT: Final = "chat"
PLAN: Final = "plan"

ABOUT: Final = "steward.entry.of"
"""The key that the journal's entries about a span have in common."""

CHANGES: Final = "steward.changes"
"""1 where a call changed something that can be undone."""
STATUS: Final = "http.response.status_code"

STEP: Final = "step"
WAIT: Final = "wait"
ATTEMPT: Final = "failed attempt"
REMOTE: Final = "remote"
"""What another program did, by its own account."""

UNDER_WAY: Final = "steward.under_way"
"""True where something has begun and is not over."""
QUEUED: Final = "steward.queue.milliseconds"
"""How long a run waited for a worker before it began."""
