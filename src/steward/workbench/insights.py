"""What can be learnt from datasets: computed once per version, then read back."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from threading import Lock
from typing import Any, Literal
from weakref import WeakValueDictionary

import duckdb
import sqlalchemy as sa
from pydantic_core import to_jsonable_python

from steward.core import Clock, report
from steward.store import Database, Prepared, Scope
from steward.tables import session
from steward.versions import MAIN, Commit, Dataset, Versions, Workspace
from steward.workbench._tables import analyses
from steward.workbench.coverage import KeyCoverage, key_coverage

Document = dict[str, Any]
Kind = Literal["profile", "correlations", "suggestions", "values"]
Compute = Callable[[duckdb.DuckDBPyConnection], Any]
_COMMITS = 500
MOST_VALUES = 3_000
MOST_LEARNED = 20_000_000
"""Cells that are looked at before a first question: a few seconds' work."""
MOST_RELATED = 60
LONGEST_VALUE = 100
_KNOWN = Prepared(
    sa.select(analyses.c.result).where(
        analyses.c.kind == sa.bindparam("of_kind"), analyses.c.subject == sa.bindparam("about")
    )
)


class Insights:
    def __init__(self, database: Database, versions: Versions, clock: Clock) -> None:
        self._database = database
        self._versions = versions
        self._clock = clock
        self._lock = Lock()
        self._turns: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    def profile(self, scope: Scope, name: str, version: str) -> Document:
        """The profile of a version."""

        def compute(connection: duckdb.DuckDBPyConnection) -> Any:
            from steward.analysis.profile import profile

            table = self._versions.table(scope, version, name)
            return profile(
                connection, table, progress=lambda done, total, what: report(what, done, total)
            )

        return self._known_or_computed(scope, "profile", [version], compute)

    def keep(self, scope: Scope, kind: Kind, version: str, found: Document) -> None:
        """Remembers what was found out elsewhere."""
        self._remember(scope, kind, _subject([version]), found)

    def known(self, scope: Scope, kind: Kind, version: str) -> Document | None:
        """What was computed of a version before."""
        return self._known(scope, kind, _subject([version]))

    def values(self, scope: Scope, name: str, version: str) -> Document:
        """Different values of the columns of text that rows are told apart by; none of masked columns."""
        known = self.known(scope, "profile", version) or {"columns": ()}
        wanted = [each["name"] for each in known["columns"] if _is_listed(each)]

        def compute(connection: duckdb.DuckDBPyConnection) -> Any:
            table = self._versions.table(scope, version, name, ordered=False)
            return {
                "columns": {
                    each: distinct_values(connection, table.source, each) for each in wanted
                }
            }

        if not wanted:
            return {"columns": {}}
        return self._known_or_computed(scope, "values", [version], compute)

    def correlations(self, scope: Scope, name: str, version: str) -> Document:
        def compute(connection: duckdb.DuckDBPyConnection) -> Any:
            from steward.analysis.correlate import correlate

            report("Comparing columns")
            return correlate(connection, self._versions.table(scope, version, name))

        return self._known_or_computed(scope, "correlations", [version], compute)

    def relations(
        self, scope: Scope, author: str, names: Sequence[str] | None = None, branch: str = MAIN
    ) -> Document:
        """Keys and foreign keys across the datasets of a branch."""
        chosen = self._related(scope, author, names, branch)
        subject = [f"{dataset.name}\n{dataset.version}" for dataset in chosen]

        def compute(connection: duckdb.DuckDBPyConnection) -> Any:
            from steward.analysis.relate import relate

            tables = [self._versions.table(scope, each.version, each.name) for each in chosen]
            return relate(connection, tables, progress=report)

        return self._known_or_computed(scope, "relations", subject, compute)

    def learn(self, scope: Scope, author: str, branch: str = MAIN) -> None:
        """Computes the profiles and relations of a branch that are missing, as far as that takes moments. Blocking.

        Questions are read by them; no one should have to open a page first. Larger datasets are profiled when someone asks for it.
        """
        datasets = self._related(scope, author, None, branch)
        with suppress(duckdb.Error):
            self._learn(scope, author, branch, datasets)

    def _learn(self, scope: Scope, author: str, branch: str, datasets: Sequence[Dataset]) -> None:
        left = MOST_LEARNED
        for each in sorted(datasets, key=_cells):
            if self.known(scope, "profile", each.version) is None:
                left -= _cells(each)
                if left < 0:
                    return
                self.profile(scope, each.name, each.version)
        if 1 < len(datasets) <= MOST_RELATED and sum(map(_cells, datasets)) <= MOST_LEARNED:
            self.relations(scope, author, None, branch)

    def known_relations(
        self, scope: Scope, author: str, branch: str = MAIN, names: Sequence[str] | None = None
    ) -> Document | None:
        """The relations of datasets (unset: all of the branch) if they were computed before."""
        chosen = self._related(scope, author, names, branch)
        subject = _subject([f"{dataset.name}\n{dataset.version}" for dataset in chosen])
        return self._known(scope, "relations", subject)

    def _related(
        self, scope: Scope, author: str, names: Sequence[str] | None, branch: str
    ) -> list[Dataset]:
        return [
            dataset
            for dataset in self._versions.workspace(scope, author).datasets(branch)
            if (names is None and not dataset.stays and not dataset.name.endswith(" (rejects)"))
            or (names is not None and dataset.name in names)
        ]

    def suggestions(self, scope: Scope, name: str, version: str) -> Document:
        """Cleaning operations worth a look, with how many cells each would change."""

        def compute(connection: duckdb.DuckDBPyConnection) -> Any:
            from steward.analysis.clean import suggest

            report("Looking for things to clean")
            found = suggest(connection, self._versions.table(scope, version, name))
            return {"items": [asdict(item) for item in found]}

        return self._known_or_computed(scope, "suggestions", [version], compute)

    def key_coverage(
        self, scope: Scope, left: str, column: str, right: str, other: str
    ) -> KeyCoverage | None:
        """How many values of a column of one version a column of another has, by a sample."""
        return key_coverage(self._versions, scope, left, column, right, other)

    def lineage(self, scope: Scope, author: str, branch: str = MAIN) -> Document:
        """Which dataset was made from which, by what: read from the commits of the branch."""
        workspace = self._versions.workspace(scope, author)
        alive = {dataset.name for dataset in workspace.datasets(branch)}
        nodes: dict[str, Document] = {}
        edges: list[Document] = []
        seen: set[str] = set()
        for commit in _with_merged(workspace, branch):
            for change in commit.changes:
                if change.kind != "dataset" or change.name in seen or change.name not in alive:
                    continue
                if not change.lineage:
                    continue
                seen.add(change.name)
                step = f"step:{commit.id}:{change.name}"
                nodes[f"dataset:{change.name}"] = _node("dataset", change.name, commit.id)
                nodes[step] = _node("operation", commit.operation, commit.id)
                edges.append({"from": step, "to": f"dataset:{change.name}"})
                for source in change.lineage.get("inputs", []):
                    nodes.setdefault(f"dataset:{source}", _node("dataset", source, None))
                    edges.append({"from": f"dataset:{source}", "to": step})
                if "file" in change.lineage:
                    file = str(change.lineage["file"])
                    nodes[f"file:{file}"] = _node("file", file, commit.id)
                    edges.append({"from": f"file:{file}", "to": step})
                nodes[step]["columns"] = change.lineage.get("columns", [])
        return {"nodes": [{"id": key, **value} for key, value in nodes.items()], "edges": edges}

    def openlineage(self, scope: Scope, author: str, branch: str = MAIN) -> list[Document]:
        """The same record for other catalogues, as OpenLineage events, newest first."""
        from steward.output import openlineage_events

        commits = _with_merged(self._versions.workspace(scope, author), branch)
        return list(openlineage_events(commits, f"steward/{scope.project_id}"))

    def _known_or_computed(
        self, scope: Scope, kind: str, subject: Sequence[str], compute: Compute
    ) -> Document:
        key = _subject(subject)
        known = self._known(scope, kind, key)
        if known is not None:
            return known
        # Many may ask for the same at once: the first computes, the others read what it found.
        with self._turn(f"{scope.project_id} {kind} {key}"):
            known = self._known(scope, kind, key)
            if known is not None:
                return known
            with session() as connection:
                document = as_document(compute(connection))
            self._remember(scope, kind, key, document)
            return document

    def _turn(self, name: str) -> Lock:
        with self._lock:
            found = self._turns.get(name)
            if found is None:
                found = self._turns[name] = Lock()
            return found

    def _known(self, scope: Scope, kind: str, key: str) -> Document | None:
        with self._database.read(scope) as tx:
            row = tx.first(_KNOWN, {"of_kind": kind, "about": key})
        return None if row is None else dict(row.result)

    def _remember(self, scope: Scope, kind: str, key: str, document: Document) -> None:
        mine = (analyses.c.kind == kind) & (analyses.c.subject == key)
        with self._database.write(scope) as tx:
            tx.execute(sa.delete(analyses).where(mine))
            tx.execute(
                sa.insert(analyses).values(
                    kind=kind, subject=key, result=document, created_at=self._clock.now()
                )
            )


def _cells(dataset: Dataset) -> int:
    return dataset.rows * max(len(dataset.columns), 1)


def _with_merged(workspace: Workspace, branch: str) -> Iterator[Commit]:
    """The commits of a branch, newest first; after a merge, those that it brought in."""
    own = workspace.log(branch, limit=_COMMITS)
    known = {commit.id for commit in own}
    for commit in own:
        yield commit
        brought = workspace.log(commit.merged, limit=_COMMITS) if commit.merged else ()
        for other in brought:
            if other.id in known:
                break
            known.add(other.id)
            yield other


def _subject(parts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def as_document(found: Any) -> Document:
    """Plain JSON of a result."""
    plain = asdict(found) if is_dataclass(found) and not isinstance(found, type) else found
    document = to_jsonable_python(plain, inf_nan_mode="null", bytes_mode="base64")
    return dict(document)


def _is_listed(column: Document) -> bool:
    """Whether all values of a column are worth knowing by heart: text, not hidden, and not too many."""
    kinds = {each["kind"] for each in column.get("meanings") or ()}
    return (
        str(column.get("type", "")).upper().startswith(("VARCHAR", "ENUM"))
        and not column.get("masked")
        and not kinds & {"number_text", "date_text", "free_text", "json", "url"}
        and len(column.get("top") or ()) < (column.get("distinct") or 0) <= MOST_VALUES
    )


def distinct_values(connection: duckdb.DuckDBPyConnection, source: str, column: str) -> list[str]:
    quoted = '"' + column.replace('"', '""') + '"'
    rows = connection.execute(
        f"SELECT DISTINCT left({quoted}, {LONGEST_VALUE}) FROM {source} "
        f"WHERE {quoted} IS NOT NULL LIMIT {MOST_VALUES}"
    ).fetchall()
    return sorted(str(row[0]) for row in rows)


def _node(kind: str, label: str, commit: str | None) -> Document:
    return {"kind": kind, "label": label, "commit": commit}
