"""Texts on their way through: batches of rows written to Parquet, so that SQL can do the rest."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from steward.ingest.arrow import arrow, arrow_parquet
from steward.tables import literal

_ROWS = 50_000
_CHARACTERS = 32_000_000
LINE = "line"


class Stage:
    """A growing table of texts with the line of each row; columns may be added on the way."""

    def __init__(self, folder: Path, name: str, width: int) -> None:
        self._folder = folder
        self._name = name
        self.width = width
        self._rows: list[Sequence[str | None]] = []
        self._lines: list[int] = []
        self._characters = 0
        self._writer: Any = None
        self._written_width = -1
        self._parts: list[Path] = []
        self.rows = 0

    def __enter__(self) -> "Stage":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def add(self, line: int, row: Sequence[str | None], size: int) -> None:
        """Takes a row, shorter than the table where it lacks later columns, and about its length."""
        self._rows.append(row)
        self._lines.append(line)
        self._characters += size
        if len(self._rows) >= _ROWS or self._characters >= _CHARACTERS:
            self._flush()

    @property
    def added(self) -> int:
        """Rows taken so far, those not yet written included."""
        return self.rows + len(self._rows)

    def _flush(self) -> None:
        pa = arrow()
        if not self._rows and self._parts:
            return
        if self.width != self._written_width:
            self._open_part()
        columns = [
            [row[i] if i < len(row) else None for row in self._rows] for i in range(self.width)
        ]
        arrays = [pa.array(self._lines, pa.int64()), *(pa.array(c, pa.string()) for c in columns)]
        names = [LINE, *(column_of(i) for i in range(self.width))]
        self._writer.write_table(pa.table(dict(zip(names, arrays, strict=True))))
        self.rows += len(self._rows)
        self._rows, self._lines, self._characters = [], [], 0

    def _open_part(self) -> None:
        pa = arrow()
        if self._writer is not None:
            self._writer.close()
        names = [column_of(i) for i in range(self.width)]
        schema = pa.schema([(LINE, pa.int64()), *((name, pa.string()) for name in names)])
        self._parts.append(self._folder / f"{self._name}-{len(self._parts)}.parquet")
        # Dictionaries for thousands of columns cost more than they save on a passing file.
        self._writer = arrow_parquet().ParquetWriter(
            self._parts[-1], schema, compression="lz4", use_dictionary=self.width <= 100
        )
        self._written_width = self.width

    @property
    def source(self) -> str:
        """The staged rows as a FROM item, once the stage is closed."""
        files = ", ".join(literal(str(part)) for part in self._parts)
        return f"read_parquet([{files}], union_by_name = true)"


def column_of(position: int) -> str:
    """The name of a staged column; the final names come with the types."""
    return f"c{position}"
