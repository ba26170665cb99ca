"""E-mail addresses."""

from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.operations.spaces import SPACE
from steward.analysis.clean.registry import Arguments, operation
from steward.analysis.clean.steps import Steps
from steward.tables import Change, Table

# What mail systems accept in practice: an unquoted name, and a domain with a dot and a real ending. Lengths are
# checked apart: bounded repetitions of large character classes make a slow expression.
ADDRESS = (
    r"[\p{L}\p{N}!#$%&''*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&''*+/=?^_`{|}~-]+)*"
    r"@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]*[\p{L}\p{N}]"
)
LOOKS_LIKE_ADDRESS = r"[^@\s]@[^@\s]+\.[^@\s]"


class Emails(Arguments):
    columns: list[str] = Field(min_length=1, description="Text columns with one address each.")
    name_case: Literal["lower", "keep"] = Field(
        "lower", description="The part before @; domains are always written in lower case."
    )


@operation("emails", "Tidy e-mail addresses", Emails)
def emails(connection: duckdb.DuckDBPyConnection, table: Table, arguments: Emails) -> Change:
    """Removes spaces, `mailto:`, angle brackets and display names around addresses and writes them in lower case.

    A value that is no address afterwards stays as it was and is counted. Nothing is sent or looked up.
    """
    edits = []
    for index, name in enumerate(text_columns(table, arguments.columns)):
        steps = Steps(table, index)
        address = _address(steps, value(name), arguments.name_case)
        expression = f"coalesce({address}, {value(name)})"
        failed = f"{value(name)} IS NOT NULL AND {address} IS NULL"
        edits.append(Edit(name, expression, "e-mail address tidied", failed, steps=steps))
    what = "Tidies e-mail addresses"
    return cell_change(connection, table, "emails", arguments, edits, what)


def _address(steps: Steps, old: str, name_case: str) -> str:
    """The tidy address, or null where there is none."""
    bare = steps.one(f"regexp_replace(nfc_normalize({old}), '{SPACE}+', ' ', 'g')")
    inner = f"regexp_replace({bare}, '^[^<>]*<([^<>]*)>[ ;,]*$', '\\1')"
    found = steps.one(f"regexp_replace({inner}, '^ *(?i:mailto:)? *|[ ;,.]*$', '', 'g')")
    tidy = f"lower({found})"
    if name_case == "keep":
        tidy = f"regexp_extract({found}, '^(.*)@', 1) || '@' || lower(regexp_extract({found}, '@(.*)$', 1))"
    labels = f"list_max(list_transform(string_split(split_part({found}, '@', 2), '.'), lambda label: length(label)))"
    fits = (
        f"length({found}) <= 254 AND regexp_full_match({found}, '{ADDRESS}') "
        f"AND strpos({found}, '@') <= 65 AND {labels} <= 63"
    )
    return steps.one(f"CASE WHEN {fits} THEN {tidy} END")
