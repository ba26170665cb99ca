"""Completes what a person types at a client: names of datasets and values that a playbook's input allows."""

import json
from typing import Final

import mcp_types as types

from steward.app import Steward
from steward.identity import Access
from steward.mcp.prompts import Prompts
from steward.mcp.resources import DATASETS

_MOST: Final = 100


class Completions:
    def __init__(self, steward: Steward, prompts: Prompts) -> None:
        self._steward = steward
        self._prompts = prompts

    def complete(self, access: Access, params: types.CompleteRequestParams) -> types.CompleteResult:
        """What begins with the typed text; an unknown reference completes to nothing and tells nothing."""
        typed = params.argument.value.casefold()
        fitting = [
            each for each in self._known(access, params) if each.casefold().startswith(typed)
        ]
        return types.CompleteResult(
            completion=types.Completion(
                values=fitting[:_MOST], total=len(fitting), has_more=len(fitting) > _MOST
            )
        )

    def _known(self, access: Access, params: types.CompleteRequestParams) -> list[str]:
        if isinstance(params.ref, types.PromptReference):
            values = self._prompts.allowed(access, params.ref.name, params.argument.name)
            return [each if isinstance(each, str) else json.dumps(each) for each in values]
        if params.ref.uri == f"{DATASETS}{{name}}" and params.argument.name == "name":
            cards = self._steward.workbench.datasets.page(access.scope, access.user_id)
            return sorted(card.name for card in cards)
        return []
