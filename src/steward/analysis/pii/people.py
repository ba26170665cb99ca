"""Short lists of common names of people, as a sign that a text is a name.

Names cannot be recognised for certain without a model. Steward goes by the column's name and by
these lists of its own; a name that is not listed is not found, and every finding says so.
"""

from functools import cache

from steward.analysis.pii.hints import words_of
from steward.core import package_words


@cache
def _names(file: str) -> frozenset[str]:
    return package_words("steward.analysis.pii", file)


def looks_like_person(value: str) -> bool:
    """One to four words of letters of which one is a listed given or family name."""
    if not 2 <= len(value) <= 60:
        return False
    words = words_of(value.replace("'", "").replace("-", " ")).split()
    if not 1 <= len(words) <= 4 or any(not word.isalpha() for word in words):
        return False
    given, family = _names("given_names.txt"), _names("family_names.txt")
    return words[0] in given or words[-1] in family or words[-1] in given
