"""Agents to start from, one YAML file each; flows use them by name."""
