"""One module per language in which services describe themselves; each yields the same record."""
