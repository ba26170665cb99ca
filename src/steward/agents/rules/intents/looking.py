"""Looks at data that need no more than the datasets a message names: what there is, its columns, keys, what goes together."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from steward.agents.rules.drafting import Draft, goal_of
from steward.agents.rules.naming import best_dataset, datasets_in
from steward.agents.rules.request import Ask

Arguments = dict[str, Any]


class Look(NamedTuple):
    """A tool that is called where one of the phrases is said."""

    name: str
    tool: str
    title: str
    reason: str
    arguments: Callable[[Ask], Arguments | None]
    """Those of the call; None where the message is about something else."""
    asked: tuple[str, ...]
    notes: str = ""

    def plan(self, ask: Ask) -> Draft | None:
        arguments = self.arguments(ask) if ask.says(*self.asked) else None
        if arguments is None:
            return None
        draft = Draft(goal_of(ask), notes=self.notes)
        title = self.title.format(arguments.get("dataset"))
        added = draft.add(ask, self.name, title, self.tool, arguments, reason=self.reason)
        return draft if added else None


def _several(ask: Ask) -> Arguments:
    named = [each.name for each in datasets_in(ask)[:20]]
    return {"datasets": named} if len(named) > 1 else {}


def _best(ask: Ask) -> Arguments | None:
    dataset = best_dataset(ask)
    return None if dataset is None else {"dataset": dataset.name}


def _named(ask: Ask) -> Arguments | None:
    named = datasets_in(ask)
    return {"dataset": named[0].name} if named else None


RELATE: Final = Look(
    "relate", "relate", "Look for keys between the datasets", "It was asked how data belongs together", _several,
    ("relate", "related", "relations", "relationships", "foreign keys", "primary keys", "primary key",
     "which keys", "keys", "belong together", "how do the tables", "how do the datasets", "linked",
     "can i match", "can i join", "connected", "entity relationship"),
)  # fmt: skip
CORRELATE: Final = Look(
    "correlate", "correlate", "Correlate the columns of {}", "It was asked what goes together", _best,
    ("correlate", "correlation", "correlated", "correlates", "go together", "depend on", "depends on",
     "influence", "influences", "what drives", "relationship between", "associated with",
     "affect", "affects", "explains"),
    notes="Columns that go together need not be cause and effect.",
)  # fmt: skip
LISTING: Final = Look(
    "datasets", "list_datasets", "List the datasets", "It was asked which data there is", lambda _: {},
    ("what data", "which data", "what datasets", "which datasets", "list datasets", "list the datasets",
     "list all datasets", "show datasets", "show the datasets", "show all datasets", "what tables", "which tables",
     "list tables", "list the tables", "show tables", "list all tables", "what do we have", "what do i have",
     "what is there", "my data", "available data", "data do we have", "data is there", "datasets", "all tables",
     "show me the tables", "what files"),
)  # fmt: skip
SCHEMA: Final = Look(
    "schema", "get_dataset_schema", "Columns of {}", "Its columns were asked for", _named,
    ("columns", "schema", "structure", "describe", "which fields", "what fields", "fields of", "data types",
     "column names", "column types", "what is in", "what's in"),
)  # fmt: skip
