"""Playbooks: documents of work that people author, share, deploy and run."""
