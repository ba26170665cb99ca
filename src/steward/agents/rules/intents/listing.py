"""Which data there is."""

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.request import Ask

_ASKED = ("what data", "which data", "what datasets", "which datasets", "list datasets", "list the datasets",
          "list all datasets", "show datasets", "show the datasets", "show all datasets", "what tables", "which tables",
          "list tables", "list the tables", "show tables", "list all tables", "what do we have", "what do i have",
          "what is there", "my data", "available data", "data do we have", "data is there", "datasets", "all tables",
          "show me the tables", "what files")  # fmt: skip


def plan(ask: Ask) -> Draft | None:
    if not ask.says(*_ASKED):
        return None
    draft = Draft(goal_of(ask))
    added = draft.add(
        ask, "datasets", "List the datasets", "list_datasets", {},
        reason="It was asked which data there is",
    )  # fmt: skip
    return draft if added else None
