"""Looking at a workspace: its branches, its history, and the datasets and files of any commit."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from steward.core import NotFound
from steward.store import BlobStore, Database, Prepared, Scope
from steward.tables import Column, Table
from steward.versions import _tables as tables
from steward.versions import _undo
from steward.versions._branches import MAIN, Branches
from steward.versions._content import Content
from steward.versions._history import History, Row, branch
from steward.versions._manifest import unpack
from steward.versions._read import table
from steward.versions._record import Recorder, as_kind, refuse_lookalikes
from steward.versions.diffs import CommitDiff
from steward.versions.results import (
    Branch,
    Commit,
    Dataset,
    EntryChange,
    FileEntry,
    Kind,
    Tag,
    Touched,
    UndoPlan,
)

_VERSIONS = Prepared(
    sa.select(
        *(tables.versions.c[name] for name in ("id", "rows", "bytes", "columns")),
        # Without a byte here, its rows may be elsewhere: the manifest says so.
        sa.case((tables.versions.c.bytes == 0, tables.versions.c.manifest)).label("manifest"),
    ).where(tables.versions.c.id.in_(sa.bindparam("ids", expanding=True)))
)


@dataclass(frozen=True)
class Rooms:
    """What every workspace of one installation shares."""

    database: Database
    blobs: BlobStore
    content: Content
    branches: Branches
    recorder: Recorder


@dataclass(frozen=True)
class View:
    """Reads one workspace. A `reference` is a branch, a tag or a commit id."""

    rooms: Rooms
    scope: Scope
    id: str

    def branches(self) -> Sequence[Branch]:
        return self.rooms.branches.list(self.scope, self.id)

    def branch(self, name: str = MAIN) -> Branch:
        with self._reading() as history:
            return branch(history.branch_row(name))

    def tags(self) -> Sequence[Tag]:
        return self.rooms.branches.tags(self.scope, self.id)

    def commit_at(self, reference: str = MAIN) -> Commit:
        with self._reading() as history:
            return history.commits([history.resolve(reference)])[0]

    def log(
        self, reference: str = MAIN, *, after: str | None = None, limit: int = 50
    ) -> Sequence[Commit]:
        """Commits, newest first; `after` continues below the last commit of a page."""
        with self._reading() as history:
            rows = history.log(history.resolve(reference), after=after, limit=limit)
            return history.commits(rows)

    def history(
        self,
        name: str,
        reference: str = MAIN,
        *,
        kind: Kind = "dataset",
        after: str | None = None,
        limit: int = 50,
    ) -> Sequence[Commit]:
        """Commits that changed one dataset or file, newest first: who, what, when."""
        with self._reading() as history:
            start = history.resolve(reference)
            rows = history.log(start, after=after, limit=limit, entry=(kind, name))
            return history.commits(rows)

    def commits_on_ticket(self, ticket: str) -> Sequence[Commit]:
        """What one effect of a run committed, oldest first: the answer to whether it happened."""
        statement = sa.select(tables.commits).where(
            tables.commits.c.workspace_id == self.id, tables.commits.c.ticket == ticket
        )
        with self._reading() as history:
            return history.commits(history.tx.rows(statement.order_by(tables.commits.c.id)))

    def datasets(
        self, reference: str = MAIN, names: Collection[str] | None = None
    ) -> Sequence[Dataset]:
        """All datasets, or those among `names` that exist; these cost the same however many there are."""
        with self._reading() as history:
            tree_id, tree = history.live(reference).tree_id, history.tree
            if names is None:
                found = {key[1]: v for key, v in tree.entries(tree_id, "dataset")}
            else:
                wanted = ((name, tree.get(tree_id, ("dataset", name))) for name in set(names))
                found = {name: version for name, version in wanted if version is not None}
            known = _versions(history, set(found.values()))
        return [_dataset(name, known[found[name]]) for name in sorted(found)]

    def touched(self, names: Sequence[str], reference: str = MAIN) -> Mapping[str, Touched]:
        """Who changed datasets last, when and by what."""
        with self._reading() as history:
            start = history.resolve(reference)
            last = {
                name: rows[0]
                for name in names
                if (rows := history.log(start, limit=1, entry=("dataset", name)))
            }
        return {
            name: Touched(row.created_at, row.author, row.operation) for name, row in last.items()
        }

    def dataset(self, name: str, reference: str = MAIN) -> Dataset:
        with self._reading() as history:
            version_id = history.tree.get(history.live(reference).tree_id, ("dataset", name))
            if version_id is None:
                raise NotFound(f"There is no dataset {name!r} at {reference!r}.")
            return _dataset(name, _versions(history, {version_id})[version_id])

    def refuse_lookalike(self, name: str, reference: str = MAIN) -> None:
        """Refuses a name for a new dataset that looks like that of another, as the commit would in the end."""
        with self._reading() as history:
            tree_id = history.live(reference).tree_id
            if history.tree.get(tree_id, ("dataset", name)) is None:
                refuse_lookalikes(history, tree_id, [name])

    def table(self, name: str, reference: str = MAIN, *, ordered: bool = True) -> Table:
        """A dataset as operations take it."""
        dataset = self.dataset(name, reference)
        manifest = self.rooms.content.manifest(self.scope, dataset.version)
        return table(manifest, self.rooms.content.parts.locate, name, ordered=ordered)

    def files(self, reference: str = MAIN) -> Sequence[FileEntry]:
        with self._reading() as history:
            tree_id = history.live(reference).tree_id
            found = {key[1]: digest for key, digest in history.tree.entries(tree_id, "file")}
            sizes = _sizes(history, set(found.values()))
        return [FileEntry(path, found[path], sizes[found[path]]) for path in sorted(found)]

    def read_file(self, path: str, reference: str = MAIN) -> Iterator[bytes]:
        with self._reading() as history:
            digest = history.tree.get(history.live(reference).tree_id, ("file", path))
        if digest is None:
            raise NotFound(f"There is no file {path!r} at {reference!r}.")
        return self.rooms.blobs.read(digest)

    def diff(self, before: str, after: str) -> CommitDiff:
        """Which datasets and files differ; `Versions.diff` then compares the rows of one."""
        with self._reading() as history:
            old, new = history.live(before), history.live(after)
            entries = tuple(
                EntryChange(as_kind(kind), name, was, now)
                for (kind, name), was, now in sorted(history.tree.diff(old.tree_id, new.tree_id))
            )
        return CommitDiff(old.id, new.id, entries)

    def undo_plan(self, commit: str | None = None, branch: str = MAIN) -> UndoPlan:
        """What `undo` would do, and who built upon it."""
        with self._reading() as history:
            head = history.commit_row(history.branch_row(branch).head_id)
            return _undo.inverse(history, head, _undo.to_undo(history, head, commit)).plan

    def undo_of(self, commit: str, branch: str = MAIN) -> Commit:
        """The latest commit of a branch that undid another one."""
        with self._reading() as history:
            row = history.live(commit)
            head = history.commit_row(history.branch_row(branch).head_id)
            found = [later for later in history.later(row, head) if later.undoes_id == row.id]
            if not found:
                raise NotFound(f"No commit on branch {branch!r} undoes {commit}.")
            return history.commits([found[-1]])[0]

    @contextmanager
    def _reading(self) -> Iterator[History]:
        with self.rooms.database.read(self.scope) as tx:
            yield History(tx, self.id)


def _dataset(name: str, row: Row) -> Dataset:
    columns = tuple(Column(column, kind) for column, kind in row.columns)
    stays = unpack(row.manifest).stays if row.manifest else None
    return Dataset(name, row.id, row.rows, row.bytes, columns, stays)


def _versions(history: History, ids: set[str]) -> Mapping[str, Row]:
    found: dict[str, Row] = {}
    listed = sorted(ids)
    for start in range(0, len(listed), 500):
        chunk = history.tx.rows(_VERSIONS, {"ids": listed[start : start + 500]})
        found.update({row.id: row for row in chunk})
    return found


def _sizes(history: History, digests: set[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    listed = sorted(digests)
    statement = sa.select(tables.blobs.c.blob, tables.blobs.c.bytes)
    for start in range(0, len(listed), 500):
        chunk = tables.blobs.c.blob.in_(listed[start : start + 500])
        found.update({row.blob: row.bytes for row in history.tx.rows(statement.where(chunk))})
    return found
