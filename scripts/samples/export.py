"""CSV bytes in the dialects of the systems the samples come from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a system writes its CSV exports."""

    encoding: str
    delimiter: str
    line_end: str
    quote_all: bool = False


def render(header: Sequence[str], rows: Iterable[Sequence[str]], dialect: Dialect) -> bytes:
    """The rows as CSV; written out here because `csv.writer` quotes differently by version."""
    lines = [_line(header, dialect)]
    lines.extend(_line(row, dialect) for row in rows)
    lines.append("")
    return dialect.line_end.join(lines).encode(dialect.encoding)


def _line(cells: Sequence[str], dialect: Dialect) -> str:
    if dialect.quote_all:
        inner = f'"{dialect.delimiter}"'.join(cell.replace('"', '""') for cell in cells)
        return f'"{inner}"'
    line = dialect.delimiter.join(cells)
    special = line.count(dialect.delimiter) >= len(cells) or '"' in line
    if not special and "\n" not in line and "\r" not in line:
        return line
    return dialect.delimiter.join(_cell(cell, dialect.delimiter) for cell in cells)


def _cell(cell: str, delimiter: str) -> str:
    if delimiter in cell or '"' in cell or "\n" in cell or "\r" in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell
