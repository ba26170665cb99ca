"""Built-in cleaning operations; the registry imports every module of this folder."""
