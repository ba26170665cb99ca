"""Versions of data, and what can be learnt from and done to them; the only room that knows DuckDB."""
