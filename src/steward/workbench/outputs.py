"""Showing and handing out: charts, files for spreadsheets, Parquet, Delta and Iceberg."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from pydantic import ValidationError

from steward.core import Clock, Conflict, Invalid, TooLarge, in_words, mistakes, work
from steward.store import Scope
from steward.tables import Scratch, session
from steward.versions import Versions
from steward.workbench.insights import Document, as_document

Format = Literal["csv", "xlsx", "parquet", "delta", "iceberg"]
_MEDIA: Final[dict[Format, str]] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "delta": "application/zip",
    "iceberg": "application/zip",
}
_SUFFIX: Final[dict[Format, str]] = {
    "csv": ".csv",
    "xlsx": ".xlsx",
    "parquet": ".parquet",
    "delta": ".delta.zip",
    "iceberg": ".iceberg.zip",
}
_EXPORTING: Final = "exporting-"


@dataclass(frozen=True)
class Exported:
    """A file in the blob store; the sweep removes it after a day."""

    filename: str
    media_type: str
    digest: str
    bytes: int
    rows: int


class Outputs:
    def __init__(self, versions: Versions, clock: Clock, scratch: Scratch) -> None:
        self._versions = versions
        self._clock = clock
        self._scratch = scratch

    def chart(
        self, scope: Scope, name: str, version: str, request: Mapping[str, Any], *, locale: str
    ) -> Document:
        """A Vega-Lite specification with the data it shows."""
        from steward.output import ChartRequest, chart

        try:
            wanted = ChartRequest.model_validate(dict(request))
        except ValidationError as error:
            found = mistakes(error)
            raise Invalid(
                f"This chart cannot be drawn as asked: {in_words(found)}.", problems=found
            ) from None
        with session() as connection:
            drawn = chart(
                connection, self._versions.table(scope, version, name), wanted, locale=locale
            )
        return as_document(drawn)

    def chart_suggestions(self, scope: Scope, name: str, version: str) -> list[Document]:
        from steward.output import suggest

        with session() as connection:
            found = suggest(connection, self._versions.table(scope, version, name))
        return [request.model_dump(mode="json", exclude_none=True) for request in found]

    def check_export(
        self,
        scope: Scope,
        name: str,
        version: str,
        kind: Format,
        *,
        several_sheets: bool = False,
        convert_types: bool = False,
    ) -> None:
        """Refuses an export that cannot be made or opened, and says what can be done instead."""
        from steward.output import MAX_ROWS, check_size

        if kind == "iceberg" and not convert_types:
            self._refuse_conversions(scope, name, version)
        if kind != "xlsx":
            return
        found = self._versions.get(scope, version)
        check_size(name, found.rows, len(found.columns))
        sheets = -(-found.rows // (MAX_ROWS - 1))
        if sheets > 1 and not several_sheets:
            raise TooLarge(
                f"{name!r} has {found.rows:,} rows; a sheet of Excel holds {MAX_ROWS - 1:,} below its header. "
                f"Export it as CSV or Parquet, or as a workbook with {sheets} sheets.",
                code="excel-limit",
            )

    def _refuse_conversions(self, scope: Scope, name: str, version: str) -> None:
        found = self._versions.iceberg_conversions(scope, version)
        if found:
            told = [f"{column!r} from {old} to {new}" for column, (old, new) in found.items()]
            more = f" and {len(told) - 10} more" if len(told) > 10 else ""
            raise Conflict(
                f"Iceberg does not have the types of all columns of {name!r}. The export changes "
                f"{', '.join(told[:10])}{more}. Export it again with `convert_types` to agree.",
                code="types-change",
            )

    def export(
        self,
        scope: Scope,
        name: str,
        version: str,
        kind: Format,
        *,
        several_sheets: bool = False,
        convert_types: bool = False,
        location: str | None = None,
    ) -> Exported:
        """A file with the whole version, kept in the blob store for a day."""
        self.check_export(
            scope,
            name,
            version,
            kind,
            several_sheets=several_sheets,
            convert_types=convert_types,
        )
        work.report(f"Writing {name}")
        with self._place(_EXPORTING) as folder:
            path = folder / "export"
            if kind == "iceberg":
                plain = _plain(name)
                self._versions.export_iceberg(
                    scope, version, folder / "table" / plain, plain, location or plain
                )
                _pack(folder / "table", path)
            else:
                self._write(scope, name, version, kind, path)
            work.report(f"Storing {name}")
            file = self._versions.adopt_file(scope, path)
        rows = self._versions.get(scope, version).rows
        return Exported(_plain(name) + _SUFFIX[kind], _MEDIA[kind], file.digest, file.bytes, rows)

    @contextmanager
    def workbook(self, scope: Scope, sheets: Sequence[tuple[str, str]]) -> Iterator[Path]:
        """A workbook with a sheet for each name and version; it is gone when the block ends."""
        with self._place(_EXPORTING) as folder:
            path = folder / "workbook.xlsx"
            self._write_workbook(scope, sheets, path)
            yield path

    @contextmanager
    def _place(self, prefix: str) -> Iterator[Path]:
        with TemporaryDirectory(prefix=prefix, dir=self._scratch.folder()) as folder:
            yield Path(folder)

    def _write_workbook(self, scope: Scope, sheets: Sequence[tuple[str, str]], path: Path) -> None:
        from steward.output import Provenance, Sheet, SourceVersion, write_xlsx

        tables = [self._versions.table(scope, version, name) for name, version in sheets]
        sources = tuple(
            SourceVersion(dataset=name, version=version, rows=table.rows)
            for (name, version), table in zip(sheets, tables, strict=True)
        )
        with session(scratch=path.parent) as connection:
            write_xlsx(
                path,
                connection,
                [Sheet(name, table) for (name, _), table in zip(sheets, tables, strict=True)],
                provenance=Provenance(sources=sources),
                generated_at=self._clock.now(),
                title=sheets[0][0],
            )

    def _write(self, scope: Scope, name: str, version: str, kind: Format, path: Path) -> None:
        if kind == "delta":
            self._write_delta(scope, name, version, path)
            return
        if kind == "xlsx":
            self._write_workbook(scope, [(name, version)], path)
            return
        if kind == "parquet":
            self._versions.export_parquet(scope, version, path)
            return
        from steward.output import write_csv

        with session(scratch=path.parent) as connection:
            table = self._versions.table(scope, version, name)
            write_csv(path, connection, table, spreadsheet_safe=True)

    def _write_delta(self, scope: Scope, name: str, version: str, path: Path) -> None:
        folder = path.with_name("table")
        self._versions.export_delta(scope, version, folder / _plain(name), name)
        _pack(folder, path)


def _pack(folder: Path, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            work.current().check()
            archive.write(file, str(file.relative_to(folder)))


def _plain(name: str) -> str:
    kept = "".join(c if c.isalnum() or c in " ._-()" else "_" for c in name).strip(" .")
    return kept[:100] or "dataset"
