"""Reading history: branches, commits, lines and ancestors, all without touching data."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from steward.core import Invalid, NotFound, copied, is_id
from steward.store import Prepared, Transaction
from steward.versions import _tables as tables
from steward.versions._tree import Node, Tree, parse
from steward.versions.results import Branch, Commit, EntryChange, Tag

Row = sa.Row[Any]
_COMMITS = tables.commits.c
_CHANGES = tables.changes.c


def _named(table: sa.Table, column: str) -> Prepared:
    return Prepared(
        sa.select(tables.commits)
        .join(table, table.c[column] == _COMMITS.id)
        .where(
            table.c.workspace_id == sa.bindparam("workspace"), table.c.name == sa.bindparam("name")
        )
    )


_BRANCH = sa.select(tables.branches).where(
    tables.branches.c.workspace_id == sa.bindparam("workspace"),
    tables.branches.c.name == sa.bindparam("name"),
)
_BRANCHES = {False: Prepared(_BRANCH), True: Prepared(_BRANCH.with_for_update())}
_NAMED = (_named(tables.branches, "head_id"), _named(tables.tags, "commit_id"))
_OF_COMMIT = sa.select(tables.commits).where(
    _COMMITS.workspace_id == sa.bindparam("workspace"), _COMMITS.id == sa.bindparam("commit")
)
_COMMIT = Prepared(_OF_COMMIT)
_COMMIT_LOCKED = Prepared(_OF_COMMIT.with_for_update())
_LINE = Prepared(sa.select(tables.lines).where(tables.lines.c.id == sa.bindparam("line")))
_NODE = Prepared(sa.select(tables.trees.c.body).where(tables.trees.c.id == sa.bindparam("node")))
_CHANGES_OF = Prepared(
    sa.select(tables.changes)
    .where(_CHANGES.commit_id.in_(sa.bindparam("commits", expanding=True)))
    .order_by(_CHANGES.kind, _CHANGES.name)
)
_STRETCH = (
    sa.select(tables.commits)
    .where(_COMMITS.line_id == sa.bindparam("line"), _COMMITS.position <= sa.bindparam("last"))
    .order_by(_COMMITS.position.desc())
    .limit(sa.bindparam("most"))
)
_LOG = Prepared(_STRETCH)
_LOG_OF_ENTRY = Prepared(
    _STRETCH.join(
        tables.changes,
        sa.and_(
            _CHANGES.commit_id == _COMMITS.id,
            _CHANGES.kind == sa.bindparam("kind"),
            _CHANGES.name == sa.bindparam("name"),
        ),
    )
)


@dataclass(frozen=True)
class Stretch:
    """The commits of one line up to a position, both ends included."""

    line: str
    last: int


class History:
    """Looks things up within one transaction."""

    def __init__(self, transaction: Transaction, workspace_id: str) -> None:
        self.tx = transaction
        self.workspace_id = workspace_id
        self.tree = Tree(self._node)
        # Commits, lines and nodes never change, so one transaction asks for each only once.
        self._commits: dict[str, Row] = {}
        self._changes: dict[str, tuple[EntryChange, ...]] = {}
        self._lines: dict[str, Row] = {}
        self._nodes: dict[str, Node] = {}

    def branch_row(self, name: str, *, lock: bool = False) -> Row:
        row = self.tx.first(_BRANCHES[lock], {"workspace": self.workspace_id, "name": name})
        if row is None:
            raise NotFound(f"There is no branch called {name!r} in this workspace.")
        return row

    def commit_row(self, commit_id: str, *, lock: bool = False) -> Row:
        known = None if lock else self._commits.get(commit_id)
        if known is not None:
            return known
        wanted = {"workspace": self.workspace_id, "commit": commit_id}
        row = self.tx.first(_COMMIT_LOCKED if lock else _COMMIT, wanted)
        if row is None:
            raise NotFound(f"There is no commit {commit_id!r} in this workspace.")
        self._commits[commit_id] = row
        return row

    def resolve(self, reference: str) -> Row:
        """The commit that a branch name, tag name or commit id stands for."""
        if is_id(reference, "cmt"):
            return self.commit_row(reference)
        for statement in _NAMED:
            row = self.tx.first(statement, {"workspace": self.workspace_id, "name": reference})
            if row is not None:
                return self._commits.setdefault(row.id, row)
        raise NotFound(f"{reference!r} is neither a branch, a tag nor a commit of this workspace.")

    def live(self, reference: str, *, lock: bool = False) -> Row:
        """Like `resolve`, for commits whose data is needed; locked, when it shall be held from now on."""
        row = self.resolve(reference)
        if lock:
            row = self.commit_row(row.id, lock=True)
        refuse_expired(row)
        return row

    def stretches(self, row: Row) -> list[Stretch]:
        """The straight history of a commit, newest first: its line, then the line that one left, …"""
        found = [Stretch(row.line_id, row.position)]
        line = self._line(row.line_id)
        while line.parent_line_id is not None:
            found.append(Stretch(line.parent_line_id, line.parent_position))
            line = self._line(line.parent_line_id)
        return found

    def is_in(self, stretches: Sequence[Stretch], row: Row) -> bool:
        return any(s.line == row.line_id and row.position <= s.last for s in stretches)

    def log(
        self,
        row: Row,
        *,
        after: str | None = None,
        limit: int = 50,
        entry: tuple[str, str] | None = None,
    ) -> list[Row]:
        """Commits of the straight history, newest first; those before `after`, those that changed `entry`."""
        stretches = self.stretches(row)
        if after is not None:
            stretches = _before(stretches, self.commit_row(after))
        found: list[Row] = []
        for stretch in stretches:
            wanted = {"line": stretch.line, "last": stretch.last, "most": limit - len(found)}
            if entry is None:
                found += self.tx.rows(_LOG, wanted)
            else:
                found += self.tx.rows(_LOG_OF_ENTRY, {**wanted, "kind": entry[0], "name": entry[1]})
            if len(found) >= limit:
                break
        return found

    def later(self, row: Row, head: Row) -> list[Row]:
        """Commits of the straight history after `row`, oldest first."""
        found: list[Row] = []
        for stretch in self.stretches(head):
            same = stretch.line == row.line_id
            statement = sa.select(tables.commits).where(_on(stretch))
            if same:
                statement = statement.where(tables.commits.c.position > row.position)
            found += self.tx.rows(statement.order_by(tables.commits.c.position.desc()))
            if same:
                break
        return list(reversed(found))

    def reach(self, row: Row) -> dict[str, int]:
        """All ancestors, merged ones included, as line → highest position."""
        reached: dict[str, int] = {}
        pending = [row]
        while pending:
            current = pending.pop()
            for stretch in self.stretches(current):
                seen = reached.get(stretch.line, 0)
                if seen >= stretch.last:
                    break
                reached[stretch.line] = stretch.last
                merges = self.tx.rows(
                    sa.select(tables.commits.c.merged_id).where(
                        _on(stretch),
                        tables.commits.c.position > seen,
                        tables.commits.c.merged_id.is_not(None),
                    )
                )
                pending += [self.commit_row(merge.merged_id) for merge in merges]
        return reached

    def merge_base(self, ours: Row, theirs: Row) -> Row:
        """The newest commit both have; of several candidates, one that no other one contains."""
        left, right = self.reach(ours), self.reach(theirs)
        candidates = [
            self.at(line, min(left[line], right[line])) for line in left.keys() & right.keys()
        ]
        candidates.sort(key=lambda row: (row.created_at, row.id), reverse=True)
        for candidate in candidates:
            others = [other for other in candidates if other.id != candidate.id]
            if not any(self._contains(other, candidate) for other in others):
                return candidate
        raise Invalid("The two branches share no history, so nothing can be told apart by it.")

    def changes(self, commit_ids: Sequence[str]) -> dict[str, tuple[EntryChange, ...]]:
        unknown = [commit_id for commit_id in commit_ids if commit_id not in self._changes]
        found: dict[str, list[EntryChange]] = {commit_id: [] for commit_id in unknown}
        for chunk in _chunks(unknown):
            for row in self.tx.rows(_CHANGES_OF, {"commits": chunk}):
                found[row.commit_id].append(
                    EntryChange(row.kind, row.name, row.before, row.after, row.lineage)
                )
        self._changes.update({commit_id: tuple(items) for commit_id, items in found.items()})
        return {commit_id: self._changes[commit_id] for commit_id in commit_ids}

    def commits(self, rows: Sequence[Row]) -> list[Commit]:
        changes = self.changes([row.id for row in rows])
        return [commit(row, changes[row.id]) for row in rows]

    def _contains(self, row: Row, ancestor: Row) -> bool:
        return self.reach(row).get(ancestor.line_id, 0) >= int(ancestor.position)

    def at(self, line: str, position: int) -> Row:
        return self.tx.execute(
            sa.select(tables.commits).where(
                tables.commits.c.line_id == line, tables.commits.c.position == position
            )
        ).one()

    def _line(self, line_id: str) -> Row:
        if line_id not in self._lines:
            self._lines[line_id] = self.tx.execute(_LINE, {"line": line_id}).one()
        return self._lines[line_id]

    def _node(self, node_id: str) -> Node:
        known = self._nodes.get(node_id)
        if known is not None:
            return known
        row = self.tx.first(_NODE, {"node": node_id})
        if row is None:
            raise NotFound(
                "The state of this commit was let go by retention; choose a later one.",
                code="expired",
            )
        self._nodes[node_id] = parse(row.body)
        return self._nodes[node_id]


def refuse_expired(row: Row) -> None:
    """Refuses a commit whose data is no longer there."""
    if row.expired_at is not None:
        raise NotFound(
            f"The data of commit {row.id} was let go by retention; choose a later commit or a tag.",
            code="expired",
        )


def load_nodes(
    transaction: Transaction, project_id: str, ids: Collection[str]
) -> Mapping[str, Node]:
    found: dict[str, Node] = {}
    for chunk in _chunks(sorted(ids)):
        statement = sa.select(tables.trees.c.id, tables.trees.c.body).where(
            tables.trees.c.project_id == project_id, tables.trees.c.id.in_(chunk)
        )
        found.update({row.id: parse(row.body) for row in transaction.rows(statement)})
    return found


def branch(row: Row) -> Branch:
    return copied(Branch, row, head=row.head_id)


def tag(row: Row) -> Tag:
    return Tag(row.name, row.commit_id, row.message, row.created_at, row.created_by)


def commit(row: Row, changes: tuple[EntryChange, ...]) -> Commit:
    return copied(
        Commit,
        row,
        parent=row.parent_id,
        merged=row.merged_id,
        undoes=row.undoes_id,
        redoes=row.redoes_id,
        expired=row.expired_at is not None,
        changes=changes,
    )


def _on(stretch: Stretch) -> sa.ColumnElement[bool]:
    return sa.and_(
        tables.commits.c.line_id == stretch.line, tables.commits.c.position <= stretch.last
    )


def _before(stretches: Sequence[Stretch], row: Row) -> list[Stretch]:
    for index, stretch in enumerate(stretches):
        if stretch.line == row.line_id:
            return [Stretch(row.line_id, row.position - 1), *stretches[index + 1 :]]
    raise Invalid(
        "The page starts after a commit that is not part of this history. Start again without it."
    )


def _chunks(ids: Iterable[str], size: int = 500) -> Iterable[list[str]]:
    listed = list(ids)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]
