"""A listed open-weights model in a server that Steward starts, limits and stops."""

from steward.models.providers import PROVIDERS, ModelProvider

PROVIDERS.add(
    "local",
    ModelProvider("This machine", "qwen2.5-coder-1.5b", None, is_own_server=True, runs_here=True),
    origin=__name__,
)
