"""Lists in pages: the cursor is the name of the last item that was sent."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from steward.core import Invalid

T = TypeVar("T")
PAGE: Final = 200
_MARK: Final = "after:"


def page_of(
    items: Sequence[T], name: Callable[[T], str], cursor: str | None
) -> tuple[list[T], str | None]:
    """The items after the cursor, in the order of their names, and the cursor of the next page."""
    ordered = sorted(items, key=name)
    if cursor is not None:
        if not cursor.startswith(_MARK):
            raise Invalid("The cursor is not one of this server. Begin the list again without it.")
        last = cursor.removeprefix(_MARK)
        ordered = [item for item in ordered if name(item) > last]
    shown = ordered[:PAGE]
    following = f"{_MARK}{name(shown[-1])}" if len(ordered) > PAGE else None
    return shown, following
