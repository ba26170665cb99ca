"""The datasets of a project: listed, read, compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from steward.core.errors import Invalid
from steward.data.engine import session
from steward.data.tables import Column
from steward.data.versions import (
    MAIN,
    Branch,
    Commit,
    Dataset,
    DiffPage,
    Touched,
    UndoPlan,
    VersionDiff,
    Versions,
    Workspace,
)
from steward.data.workbench.rows import MAX_LIMIT, Filter, RowPage, Sort, read_page, read_values
from steward.store import Scope


@dataclass(frozen=True)
class DatasetCard:
    """A dataset as lists show it: what it is, and who touched it last."""

    name: str
    version: str
    rows: int
    bytes: int
    columns: tuple[Column, ...]
    changed_at: datetime | None
    changed_by: str | None
    operation: str | None


class Datasets:
    def __init__(self, versions: Versions) -> None:
        self._versions = versions

    def workspace(self, scope: Scope, author: str, run_id: str | None = None) -> Workspace:
        return self._versions.workspace(scope, author, run_id=run_id)

    def page(self, scope: Scope, author: str, branch: str = MAIN) -> list[DatasetCard]:
        workspace = self.workspace(scope, author)
        found = workspace.datasets(branch)
        touched = workspace.touched([dataset.name for dataset in found], branch)
        return [_card(dataset, touched.get(dataset.name)) for dataset in found]

    def get(self, scope: Scope, author: str, name: str, reference: str = MAIN) -> DatasetCard:
        workspace = self.workspace(scope, author)
        found = workspace.dataset(name, reference)
        return _card(found, workspace.touched([name], reference).get(name))

    def rows(
        self,
        scope: Scope,
        version: str,
        *,
        offset: int = 0,
        limit: int = 100,
        filters: Sequence[Filter] = (),
        sort: Sequence[Sort] = (),
    ) -> RowPage:
        """A page of one version; without filter and order only the parts that hold it are read."""
        if offset < 0 or not 1 <= limit <= MAX_LIMIT:
            raise Invalid(f"A page holds 1 to {MAX_LIMIT} rows and starts at 0 or later.")
        if filters or sort:
            table = self._versions.table(scope, version, ordered=not sort)
            with session() as connection:
                return read_page(
                    connection, table, offset=offset, limit=limit, filters=filters, sort=sort
                )
        described = self._versions.get(scope, version)
        if offset >= described.rows:
            return RowPage(described.columns, [], offset, described.rows)
        table = self._versions.page(scope, version, offset, limit)
        with session() as connection:
            page = read_page(connection, table, offset=0, limit=limit)
        # The first column is the row's hidden identity.
        rows = [row[1:] for row in page.rows]
        return RowPage(described.columns, rows, offset, described.rows)

    def values(
        self, scope: Scope, version: str, column: str, text: str = "", limit: int = 200
    ) -> list[tuple[str, int]]:
        """Different values of a column that contain a text, with their rows, the most frequent first."""
        table = self._versions.table(scope, version)
        with session() as connection:
            return read_values(connection, table, column, text, limit)

    def history(
        self,
        scope: Scope,
        author: str,
        name: str | None,
        *,
        branch: str = MAIN,
        after: str | None = None,
        limit: int = 50,
    ) -> Sequence[Commit]:
        """Commits of one dataset, or of the whole branch, newest first."""
        workspace = self.workspace(scope, author)
        if name is None:
            return workspace.log(branch, after=after, limit=limit)
        return workspace.history(name, branch, after=after, limit=limit)

    def diff(
        self, scope: Scope, before: str, after: str, *, key: Sequence[str] | None = None
    ) -> VersionDiff:
        return self._versions.diff(scope, before, after, key=key)

    def diff_rows(
        self,
        scope: Scope,
        before: str,
        after: str,
        *,
        key: Sequence[str] | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> DiffPage:
        return self._versions.diff_rows(scope, before, after, key=key, offset=offset, limit=limit)

    def undo_plan(
        self, scope: Scope, author: str, commit: str | None = None, branch: str = MAIN
    ) -> UndoPlan:
        return self.workspace(scope, author).undo_plan(commit, branch)

    def branches(self, scope: Scope, author: str) -> Sequence[Branch]:
        return self.workspace(scope, author).branches()


def _card(dataset: Dataset, last: Touched | None) -> DatasetCard:
    return DatasetCard(
        name=dataset.name,
        version=dataset.version,
        rows=dataset.rows,
        bytes=dataset.bytes,
        columns=dataset.columns,
        changed_at=last.at if last else None,
        changed_by=last.by if last else None,
        operation=last.operation if last else None,
    )
