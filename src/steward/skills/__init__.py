"""The skills that Steward brings along, a folder each in the Agent Skills format."""
