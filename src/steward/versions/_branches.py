"""Workspaces, branches and tags: names for commits."""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from steward.core import Clock, Conflict, Denied, Ids, NotFound
from steward.store import Database, Prepared, Scope, Transaction
from steward.versions import _tables as tables
from steward.versions._history import History, Row, branch, tag
from steward.versions._names import check_reference
from steward.versions._tree import EMPTY
from steward.versions.results import Branch, Tag

MAIN: Final = "main"
DEFAULT_WORKSPACE: Final = "default"
_WORKSPACE: Final = Prepared(
    sa.select(tables.workspaces.c.id).where(tables.workspaces.c.name == sa.bindparam("name"))
)


class Branches:
    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        # A workspace keeps its id, and every look at data begins with it.
        self._known: dict[tuple[Scope, str], str] = {}

    def workspace(self, scope: Scope, name: str, author: str) -> str:
        """The id of a workspace, made with an empty branch `main` when it is new."""
        known = self._known.get((scope, name))
        if known is None:
            known = self._known[scope, name] = self._opened(scope, name, author)
        return known

    def _opened(self, scope: Scope, name: str, author: str) -> str:
        with self._database.read(scope) as tx:
            row = tx.first(_WORKSPACE, {"name": name})
        if row is not None:
            return str(row.id)
        check_reference(name, "workspace")
        try:
            with self._database.write(scope) as tx:
                return self._new_workspace(tx, name, author)
        except IntegrityError:
            # Somebody else was first.
            with self._database.read(scope) as tx:
                return str(tx.execute(_WORKSPACE, {"name": name}).one().id)

    def create(
        self, scope: Scope, workspace_id: str, name: str, source: str, author: str
    ) -> Branch:
        """A branch at a commit; costs the same for any amount of data."""
        check_reference(name, "branch")
        try:
            with self._database.write(scope) as tx:
                history = History(tx, workspace_id)
                self._refuse_taken(history, name)
                start = history.live(source, lock=True)
                line_id = self._line(tx, workspace_id, start)
                self._branch(tx, workspace_id, name, line_id, start.id, author)
                return branch(history.branch_row(name))
        except IntegrityError:
            raise _taken(name) from None

    def delete(self, scope: Scope, workspace_id: str, name: str) -> None:
        """Removes the name; commits that nothing else leads to are let go by the sweep."""
        with self._database.write(scope) as tx:
            row = History(tx, workspace_id).branch_row(name, lock=True)
            if row.protected or name == MAIN:
                raise Denied(f"Branch {name!r} is protected and cannot be deleted.")
            tx.execute(sa.delete(tables.branches).where(tables.branches.c.id == row.id))

    def protect(self, scope: Scope, workspace_id: str, name: str, protected: bool) -> Branch:
        with self._database.write(scope) as tx:
            history = History(tx, workspace_id)
            row = history.branch_row(name, lock=True)
            tx.execute(
                sa.update(tables.branches)
                .where(tables.branches.c.id == row.id)
                .values(protected=protected)
            )
            return branch(history.branch_row(name))

    def list(self, scope: Scope, workspace_id: str) -> Sequence[Branch]:
        statement = sa.select(tables.branches).where(tables.branches.c.workspace_id == workspace_id)
        with self._database.read(scope) as tx:
            return [branch(row) for row in tx.rows(statement.order_by(tables.branches.c.name))]

    def tag(
        self, scope: Scope, workspace_id: str, name: str, source: str, author: str, message: str
    ) -> Tag:
        """A snapshot: a name that keeps a commit and its data for good."""
        check_reference(name, "tag")
        try:
            with self._database.write(scope) as tx:
                history = History(tx, workspace_id)
                self._refuse_taken(history, name)
                tx.execute(
                    sa.insert(tables.tags).values(
                        workspace_id=workspace_id,
                        name=name,
                        commit_id=history.live(source, lock=True).id,
                        message=message,
                        created_at=self._clock.now(),
                        created_by=author,
                    )
                )
                return tag(tx.execute(_tag(workspace_id, name)).one())
        except IntegrityError:
            raise _taken(name) from None

    def tags(self, scope: Scope, workspace_id: str) -> Sequence[Tag]:
        statement = sa.select(tables.tags).where(tables.tags.c.workspace_id == workspace_id)
        with self._database.read(scope) as tx:
            return [tag(row) for row in tx.rows(statement.order_by(tables.tags.c.name))]

    def delete_tag(self, scope: Scope, workspace_id: str, name: str) -> None:
        statement = sa.delete(tables.tags).where(
            tables.tags.c.workspace_id == workspace_id, tables.tags.c.name == name
        )
        with self._database.write(scope) as tx:
            if not tx.execute(statement).rowcount:
                raise NotFound(f"There is no tag called {name!r} in this workspace.")

    def _new_workspace(self, tx: Transaction, name: str, author: str) -> str:
        now = self._clock.now()
        workspace_id = self._ids.new("ws")
        tx.execute(
            sa.insert(tables.workspaces).values(
                id=workspace_id, name=name, created_at=now, created_by=author
            )
        )
        line_id = self._line(tx, workspace_id, None)
        commit_id = self._ids.new("cmt")
        tx.execute(
            sa.insert(tables.commits).values(
                id=commit_id,
                workspace_id=workspace_id,
                line_id=line_id,
                position=1,
                tree_id=EMPTY.id,
                author=author,
                message="Workspace created",
                operation="workspace.created",
                arguments={},
                created_at=now,
            )
        )
        self._branch(tx, workspace_id, MAIN, line_id, commit_id, author)
        return workspace_id

    def _line(self, tx: Transaction, workspace_id: str, start: Row | None) -> str:
        line_id = self._ids.new("lin")
        tx.execute(
            sa.insert(tables.lines).values(
                id=line_id,
                workspace_id=workspace_id,
                parent_line_id=None if start is None else start.line_id,
                parent_position=None if start is None else start.position,
            )
        )
        return line_id

    def _branch(
        self, tx: Transaction, workspace_id: str, name: str, line: str, head: str, author: str
    ) -> None:
        tx.execute(
            sa.insert(tables.branches).values(
                id=self._ids.new("brn"),
                workspace_id=workspace_id,
                name=name,
                line_id=line,
                head_id=head,
                protected=False,
                created_at=self._clock.now(),
                created_by=author,
            )
        )

    def _refuse_taken(self, history: History, name: str) -> None:
        """Branches and tags share one name space, so that a reference means one thing."""
        for table in (tables.branches, tables.tags):
            taken = sa.select(table.c.name).where(
                table.c.workspace_id == history.workspace_id, table.c.name == name
            )
            if history.tx.first(taken) is not None:
                raise _taken(name)


def _tag(workspace_id: str, name: str) -> sa.Select[tuple[object, ...]]:
    return sa.select(tables.tags).where(
        tables.tags.c.workspace_id == workspace_id, tables.tags.c.name == name
    )


def _taken(name: str) -> Conflict:
    return Conflict(f"The name {name!r} is taken by another branch or tag; choose another one.")
