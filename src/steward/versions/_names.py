"""What datasets, files, branches and snapshots may be called: one rule for every door."""

import unicodedata
from typing import Final

from steward.core import Invalid, is_id
from steward.versions import _tables as tables

LONGEST: Final = 200
"""Characters of the name of a dataset, a branch or a snapshot."""
_UNSEEN: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, unpaired surrogates and line ends, by their Unicode categories."""
_JOINERS: Final = "\u200c\u200d"
"""Some languages and emoji need these to be written; the other marks that cannot be seen only mislead."""


def checked_dataset_name(name: str) -> str:
    # A name is a part of addresses, in which `.` and `..` mean another place.
    if not _is_plain(name) or not _is_file_name(name) or _has_hidden(name):
        raise Invalid(
            f"A dataset's name has 1 to {LONGEST} characters, no slash, no control characters, no "
            f"invisible marks and no space around it, and is not '.' or '..'; {name[:50]!r} does not fit. Choose "
            "another name."
        )
    return name


def appearance(name: str) -> str:
    """Equal for names that queries or people take for the same: case, spelling of accents, width, hidden marks."""
    shown = unicodedata.normalize("NFKC", name).casefold()
    return "".join(each for each in shown if unicodedata.category(each) != "Cf")


def checked_path(path: str) -> str:
    if _has_unseen(path) or not all(map(_is_file_name, path.split("/"))):
        raise Invalid(f"{path[:80]!r} is not a plain relative path such as 'reports/may.pdf'.")
    if len(path) > tables.NAME_LENGTH:
        raise Invalid(f"A file's path has at most {tables.NAME_LENGTH} characters.")
    return path


def check_reference(name: str, noun: str) -> None:
    """Branches, snapshots and workspaces; slashes may group them."""
    is_plain = _is_plain(name) and name.isprintable()
    if not is_plain or not {".", ".."}.isdisjoint(name.split("/")) or is_id(name, "cmt"):
        raise Invalid(
            f"The name of a {noun} has 1 to {LONGEST} printable characters, no part called '.' "
            f"or '..', and does not look like a commit id; {name[:50]!r} does not fit. Choose another "
            "name."
        )


def _is_plain(name: str) -> bool:
    return 1 <= len(name) <= LONGEST and name == name.strip() and not _has_unseen(name)


def _has_unseen(text: str) -> bool:
    return any(unicodedata.category(character) in _UNSEEN for character in text)


def _has_hidden(name: str) -> bool:
    """Marks that turn the direction of text, or that nobody sees: `a` and `a` would be two datasets."""
    return any(unicodedata.category(each) == "Cf" and each not in _JOINERS for each in name)


def _is_file_name(part: str) -> bool:
    return part not in {"", ".", ".."} and "/" not in part and "\\" not in part
