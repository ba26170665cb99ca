"""Texts damaged on their way: wrong encodings, split accents, characters nobody sees."""

import re
import unicodedata
from typing import Literal

import duckdb
from pydantic import Field

from steward.analysis.clean.cells import Edit, cell_change, text_columns, value
from steward.analysis.clean.lookups import convert, lookup
from steward.analysis.clean.registry import Arguments, operation
from steward.tables import Change, Table, quote

# Characters that a browser shows as nothing, and controls other than tab and line ends.
_INVISIBLE = "\u200b\u2060\ufeff\u00ad"
# Joiners shape Persian words and emoji; next to Latin letters, or to nothing, they are litter.
_LITTER = re.compile("(?<![^\x00-\u024f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u024f])")
_CONTROLS = "".join(chr(code) for code in range(32) if code not in {9, 10, 13}) + "\x7f"
_REMOVED = {ord(character): None for character in _INVISIBLE + _CONTROLS}
_REPLACEMENT = "\ufffd"


def _single_bytes() -> dict[str, int]:
    """Characters that Windows-1252 makes of single bytes, with the five it leaves undefined as controls."""
    table = {}
    for byte in range(0x80, 0x100):
        try:
            table[bytes([byte]).decode("cp1252")] = byte
        except UnicodeDecodeError:
            table[chr(byte)] = byte
    # Latin-1 shows the same bytes as controls; both readings are undone.
    table.update({chr(byte): byte for byte in range(0x80, 0xA0)})
    return table


_BYTES = _single_bytes()
# Closing marks that may stand after a capital letter in a correct text: “AMANHÃ”.
_MARKS = frozenset("‘’“”–—…‚„‹›«»")
_RUN = re.compile("[" + "".join(re.escape(character) for character in _BYTES) + "]{2,}")


class UnicodeRepair(Arguments):
    columns: list[str] | None = Field(None, description="Text columns; all of them when left out.")
    form: Literal["NFC", "NFKC"] = Field(
        "NFC", description="NFKC also makes ligatures and full-width letters plain."
    )


@operation("unicode_repair", "Repair characters", UnicodeRepair)
def unicode_repair(
    connection: duckdb.DuckDBPyConnection, table: Table, arguments: UnicodeRepair
) -> Change:
    """Undoes UTF-8 read as Windows-1252 or Latin-1 (`Ã¤` for `ä`), joins split accents, removes invisible characters.

    A damaged run is repaired only where its bytes are valid UTF-8, so correct texts stay as they are. What was
    already replaced by the character U+FFFD cannot be recovered; such values are left and counted.
    """
    edits = []
    for index, name in enumerate(text_columns(table, arguments.columns)):
        converted = convert(
            connection,
            table,
            [name],
            lambda row: (
                None if _REPLACEMENT in (row[0] or "") else repaired(row[0] or "", arguments.form)
            ),
            where=suspicious(quote(name), arguments.form),
        )
        found = lookup([name], converted.changed, f"m{index}")
        lost = f"contains({value(name)}, chr({ord(_REPLACEMENT)}))"
        expression = f"CASE WHEN {found.hit} THEN {found.value} ELSE {value(name)} END"
        edits.append(Edit(name, expression, "characters repaired", lost, found))
    what = "Repairs damaged characters"
    return cell_change(connection, table, "unicode_repair", arguments, edits, what)


def suspicious(expression: str, form: str = "NFC") -> str:
    """A condition that holds for all texts that `repaired` may change, and for few others."""
    runs = r"[\x{80}-\x{ff}\x{152}\x{153}\x{160}\x{161}\x{178}\x{17d}\x{17e}\x{192}\x{2c6}\x{2dc}\x{2013}-\x{2122}\x{20ac}]{2,}"
    hidden = (
        r"[\x{200b}-\x{200d}\x{2060}\x{feff}\x{ad}\x{fffd}\x{1}-\x{8}\x{b}\x{c}\x{e}-\x{1f}\x{7f}]"
    )
    # DuckDB knows the canonical form only; compatibility characters are all beyond ASCII.
    other = f"nfc_normalize({expression}) <> {expression}"
    if form == "NFKC":
        other = f"regexp_matches({expression}, '[^\\x{{0}}-\\x{{7f}}]')"
    return f"regexp_matches({expression}, '{runs}|{hidden}') OR {other}"


def repaired(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """The text with damaged runs decoded, also where the damage was done two or three times."""
    for _ in range(3):
        better = _RUN.sub(_decoded, text)
        if better == text:
            break
        text = better
    return unicodedata.normalize(form, _LITTER.sub("", text).translate(_REMOVED))


def _decoded(match: "re.Match[str]") -> str:
    """A run of single-byte characters as the UTF-8 it may have been; what is more likely correct stays."""
    run = match.group()
    data = bytes(_BYTES[character] for character in run)
    pieces = _pieces(data)
    foreign = [piece for piece in pieces if piece and not _european(piece)]
    whole = all(pieces) and len(foreign) >= 2
    result: list[str] = []
    index = 0
    for piece in pieces:
        length = len(piece.encode()) if piece else 1
        written = run[index : index + length]
        before = run[index - 1] if index else match.string[: match.start()][-1:]
        after = (run + match.string[match.end() :])[index + length : index + length + 1]
        sure = whole if piece and not _european(piece) else _damaged(written, before, after)
        result.append(piece if piece and sure else written)
        index += length
    return "".join(result)


def _pieces(data: bytes) -> list[str]:
    """The characters that the bytes encode; an empty one for a byte that encodes nothing."""
    pieces = []
    index = 0
    while index < len(data):
        length = _sequence_length(data[index])
        try:
            piece = data[index : index + length].decode("utf-8")
        except UnicodeDecodeError:
            piece = ""
        pieces.append(piece)
        index += length if piece else 1
    return pieces


def _european(character: str) -> bool:
    """Latin letters, punctuation, currency signs, emoji, and whatever damage done twice is made of."""
    code = ord(character)
    usual = 0xA0 <= code <= 0x24F or 0x2010 <= code <= 0x2122 or code >= 0x1F000
    return usual or character in _BYTES


def _damaged(written: str, before: str, after: str) -> bool:
    """Whether two characters are damage and not a capital letter with a closing mark."""
    if len(written) > 2 or written[-1] not in _MARKS:
        return True
    return before.islower() or after.isalpha()


def _sequence_length(lead: int) -> int:
    if 0xC2 <= lead <= 0xDF:
        return 2
    if 0xE0 <= lead <= 0xEF:
        return 3
    return 4 if 0xF0 <= lead <= 0xF4 else 0
