"""Recipes: plans with parameters for the usual work, checked against the data before they start."""

from steward.agents.recipes.model import Recipe
from steward.agents.recipes.preflight import Finding, Preflight, preflight
from steward.agents.recipes.shelf import RecipeShelf

__all__ = [
    "Finding",
    "Preflight",
    "Recipe",
    "RecipeShelf",
    "preflight",
]
