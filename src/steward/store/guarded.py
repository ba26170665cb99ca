"""Columns into which no stored secret gets, whoever writes: a page, a command, an agent, a service outside.

What people type is refused when it holds the value of a secret; what others report (errors, descriptions of foreign
tools, events) loses it. Looked for are the project's own secrets, in transactions that write for that project.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from sqlalchemy import JSON, String, Text, types
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeEngine

from steward.core import Invalid
from steward.store.confine import Scope
from steward.store.tables import Json

Conceal = Callable[[Any], Any]
"""A JSON value without the secrets of one project, each replaced by `[secret:NAME]`."""

_SAME_WORD: Final = 12
"""A whole value shorter than this may equal a secret by chance: a user and a password that are both "postgres"."""
_conceal: ContextVar[Conceal | None] = ContextVar("conceal", default=None)


@contextmanager
def concealing(conceal: Conceal | None) -> Iterator[None]:
    """Statements that run inside take secrets out of what they write."""
    token = _conceal.set(conceal)
    try:
        yield
    finally:
        _conceal.reset(token)


def require_no_secrets(conceal: Callable[[Scope, Any], Any], scope: Scope, value: Any) -> None:
    """For texts that are kept elsewhere than in such columns, and as they are."""
    _refuse(lambda part: conceal(scope, part), value)


class _Refused(types.TypeDecorator[Any]):
    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        conceal = _conceal.get()
        if conceal is not None:
            _refuse(conceal, value)
        return value


class _Replaced(types.TypeDecorator[Any]):
    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        conceal = _conceal.get()
        return value if conceal is None else conceal(value)


class TypedText(_Refused):
    """Text that people type: names, descriptions, messages."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return super().load_dialect_impl(dialect) if _length(self) else Text()


class ReportedText(_Replaced):
    """Text that something else words: errors, titles of services."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return super().load_dialect_impl(dialect) if _length(self) else Text()

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        found = super().process_bind_param(value, dialect)
        # The mask may be longer than what it stands for.
        return found if found is None else found[: _length(self)]


class TypedJson(_Refused):
    """A document that people write."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return Json.dialect_impl(dialect)


class ReportedJson(_Replaced):
    """A document that holds what something else words."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return Json.dialect_impl(dialect)


def _refuse(conceal: Conceal, value: Any) -> None:
    if conceal(value) == value:
        return
    for pointer in _places(conceal, value, ""):
        where = f" (at {pointer})" if pointer else ""
        raise Invalid(
            f"This text contains the value of a stored secret{where}. "
            "Write the secret's name instead of its value.",
            code="holds-secret",
        )


def _length(column: types.TypeDecorator[Any]) -> int | None:
    kind = column.impl_instance
    return kind.length if isinstance(kind, String) else None


def _places(conceal: Conceal, value: Any, pointer: str) -> Iterator[str]:
    """Where secrets are, as JSON pointers; a short value that merely equals one is none."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _places(conceal, str(key), f"{pointer}/{conceal(str(key))}")
            yield from _places(conceal, item, f"{pointer}/{conceal(str(key))}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _places(conceal, item, f"{pointer}/{number}")
    elif isinstance(value, str) and (clean := conceal(value)) != value:
        is_mask = clean.startswith("[secret:") and clean.endswith("]")
        if len(value) >= _SAME_WORD or not is_mask:
            yield pointer
