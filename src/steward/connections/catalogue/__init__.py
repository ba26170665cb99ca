"""The catalogue: services that describe themselves, installed by a hash, called as governed tools; no code per service."""
