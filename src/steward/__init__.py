"""Steward: a self-hosted studio in which LLM agents do data work that people can trust."""

__version__ = "0.1.0"
