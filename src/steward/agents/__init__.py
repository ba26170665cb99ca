"""Agents: planner, operator, explainer, chat, skills; all under the broker."""
