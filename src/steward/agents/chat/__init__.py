"""Conversations: threads, their turns as runs, and how both are shown."""
