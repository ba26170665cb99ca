"""The recipes there are, and what preparing one needs of an installation."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from steward.agents.operating.roster import Roster
from steward.agents.planning.plan_checks import Catalogue, ToolFacts
from steward.agents.recipes.compiling import Compiled, compiled
from steward.agents.recipes.model import Recipe, Stage, recipe_from_yaml
from steward.agents.recipes.preflight import Coverage, Preflight, preflight
from steward.broker import Toolbox
from steward.core import NotFound
from steward.definitions import DatasetFacts, facts_from, relations_from
from steward.store import Scope
from steward.versions import MAIN
from steward.workbench import Workbench

_STAGES: tuple[Stage, ...] = ("whole", "ingest", "profile", "correlate", "consolidate", "report")


@cache
def builtin_recipes() -> tuple[Recipe, ...]:
    folder = files("steward.agents.recipes") / "builtin"
    texts = [(item.name, item) for item in folder.iterdir() if item.name.endswith(".yaml")]
    found = [recipe_from_yaml(item.read_text("utf-8"), name) for name, item in sorted(texts)]
    return tuple(sorted(found, key=lambda each: (_STAGES.index(each.stage), each.id)))


class RecipeShelf:
    """Recipes over the data of an installation."""

    def __init__(
        self,
        workbench: Workbench,
        tools: Toolbox,
        roster: Roster,
        recipes: tuple[Recipe, ...] | None = None,
    ) -> None:
        self._workbench = workbench
        self._tools = tools
        self._roster = roster
        self._recipes: Mapping[str, Recipe] = {
            each.id: each for each in (builtin_recipes() if recipes is None else recipes)
        }

    def __iter__(self) -> Iterator[Recipe]:
        return iter(self._recipes.values())

    def get(self, recipe_id: str) -> Recipe:
        found = self._recipes.get(recipe_id)
        if found is None:
            raise NotFound(
                f"There is no recipe {recipe_id!r}. There are: {', '.join(self._recipes)}."
            )
        return found

    def catalogue(self, scope: Scope, author: str, branch: str = MAIN) -> Catalogue:
        """What a plan over a branch may name. Blocking; the turn checks it again under the policy then in force."""
        return Catalogue(
            tools={tool.name: ToolFacts.of(tool) for tool in self._tools.listed(scope)},
            agents=self._roster,
            datasets=facts_from(self._workbench, scope, author, branch),
            relations=relations_from(self._workbench, scope, author, branch),
        )

    def preflight(
        self, scope: Scope, recipe_id: str, parameters: Mapping[str, Any], catalogue: Catalogue
    ) -> Preflight:
        """Blocking: it may look at some rows."""

        def cover(
            left: DatasetFacts, column: str, right: DatasetFacts, other: str
        ) -> Coverage | None:
            if left.column(column) is None or right.column(other) is None:
                return None
            return self._workbench.insights.key_coverage(
                scope, left.version, column, right.version, other
            )

        return preflight(self.get(recipe_id), parameters, catalogue, cover)

    def compile(
        self, recipe_id: str, parameters: Mapping[str, Any], catalogue: Catalogue
    ) -> Compiled:
        return compiled(self.get(recipe_id), parameters, catalogue)
