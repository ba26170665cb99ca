"""Copies of the same facts in another form: a row as a dataclass, a dataclass as an answer of the API."""

from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")


def copied(kind: type[T], source: object, /, **other: Any) -> T:
    """An instance with the attributes that the source has under the same names, and those given beside them.

    Nothing is left to defaults: a field that neither has is a bug, and says so.
    """
    described: Any = kind
    names = getattr(described, "model_fields", None) or [
        each.name for each in fields(described) if each.init
    ]
    return kind(**{name: getattr(source, name) for name in names if name not in other}, **other)
