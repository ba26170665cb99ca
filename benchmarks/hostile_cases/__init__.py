"""Cases in which a model does what hostile text says."""
