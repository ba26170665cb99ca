"""The datasets of a project: listed, read, compared."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import BoundedSemaphore, Lock

from steward.core import Invalid, copied
from steward.store import Scope
from steward.tables import Column, session
from steward.versions import (
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
from steward.workbench.rows import MAX_LIMIT, Filter, RowPage, Sort, read_page, read_values


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
    stays_at: str | None = None
    """The connection where its rows are, if they were not copied."""


class SearchedValues:
    """Values that were searched lately. A version never changes, and what contains a text contains each part of it."""

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._lock = Lock()
        self._found: OrderedDict[tuple[_Searched, str], list[tuple[str, int]]] = OrderedDict()

    def found(self, key: "_Searched", text: str) -> list[tuple[str, int]] | None:
        """Values that contain the text, where a search for it or for its beginning found all there are."""
        wanted = text.lower()
        with self._lock:
            if (key, wanted) in self._found:
                self._found.move_to_end((key, wanted))
                return list(self._found[key, wanted])
            for size in range(len(wanted) - 1, -1, -1):
                begun = self._found.get((key, wanted[:size]))
                if begun is not None and len(begun) < key[2]:
                    return [each for each in begun if wanted in each[0].lower()]
        return None

    def keep(self, key: "_Searched", text: str, found: list[tuple[str, int]]) -> None:
        with self._lock:
            self._found[key, text.lower()] = list(found)
            while len(self._found) > self._most:
                self._found.popitem(last=False)


_Searched = tuple[str, str, int]
"""A version, a column, and how many values are wanted at most."""
_SEARCHES = BoundedSemaphore(2)


class Datasets:
    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._searched = SearchedValues()

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
        key = (version, column, limit)
        known = self._searched.found(key, text)
        if known is not None:
            return known
        # People type faster than large datasets can be searched: a few searches at once, the others wait.
        with _SEARCHES, session() as connection:
            found = read_values(connection, table, column, text, limit)
        self._searched.keep(key, text, found)
        return found

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
    return copied(
        DatasetCard,
        dataset,
        changed_at=last.at if last else None,
        changed_by=last.by if last else None,
        operation=last.operation if last else None,
        stays_at=dataset.stays.connection if dataset.stays else None,
    )
