"""Recipes: plans with parameters for the usual work, checked against the data before they start."""

from steward.agents.recipes.compiling import compiled
from steward.agents.recipes.model import Recipe, recipe_from_yaml
from steward.agents.recipes.preflight import Finding, Preflight, preflight
from steward.agents.recipes.shelf import RecipeShelf, builtin_recipes

__all__ = [
    "Finding",
    "Preflight",
    "Recipe",
    "RecipeShelf",
    "builtin_recipes",
    "compiled",
    "preflight",
    "recipe_from_yaml",
]
