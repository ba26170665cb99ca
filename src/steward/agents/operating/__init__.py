"""Agents at work: their tools, the calls that they want to make, and what holds them to the plan."""
