"""Tables and words that a package keeps as files beside its modules; each is read when it is first needed, and once."""

from functools import cache
from importlib.resources import files
from typing import Any


def package_text(package: str, name: str) -> str:
    return (files(package) / name).read_text(encoding="utf-8")


def package_words(package: str, name: str) -> frozenset[str]:
    return frozenset(package_text(package, name).split())


@cache
def package_yaml(package: str, name: str) -> Any:
    """Shared by all who ask: nobody changes what is in it."""
    # The terminal reads its list of commands as text, and answers without loading YAML.
    from steward.core.documents import read_yaml

    return read_yaml(package_text(package, name))
