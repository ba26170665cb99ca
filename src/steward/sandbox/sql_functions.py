"""The functions and table functions that SQL from people and agents may call; everything else is refused.

None of them reads a file, a setting, a sequence or the catalogue, changes state, waits, or runs SQL
given as text.
"""

from typing import Final

from steward.core import package_words
from steward.sandbox.words import words

FUNCTIONS: Final = package_words("steward.sandbox", "sql_functions.txt")

OPERATORS: Final = frozenset(
    words("""
    !__postfix !~~ !~~* % & && * ** + - -> ->> / // <-> << <=> <@ >> @ @> ^ ^@ | || ~ ~~ ~~* ~~~
    """)
)

TABLE_FUNCTIONS: Final = frozenset(
    words("range generate_series unnest json_each json_tree repeat repeat_row generate_subscripts")
)
