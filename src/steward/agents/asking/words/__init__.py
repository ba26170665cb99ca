"""Words of other languages for what the rules know, one file per language."""
