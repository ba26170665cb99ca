"""Entity resolution at work: rules proposed, judged by estimates and borderline pairs, then committed.

Scored pairs are kept in a folder of the datasets' versions, so that a new threshold is answered at once.
"""

import fcntl
import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from steward.core import report
from steward.store import Scope
from steward.tables import Table, parquet_source, session
from steward.versions import MAIN, Commit, Dataset, Draft, VersionConflict, Versions
from steward.workbench.insights import Document, as_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steward.analysis.resolve import Rules

# Splink and its companions are heavy: they load when somebody resolves something.
_KEPT_FOLDERS = 10


class EntityResolution:
    def __init__(self, versions: Versions, folder: Path) -> None:
        self._versions = versions
        self._folder = folder

    def propose(
        self, scope: Scope, author: str, datasets: Sequence[str], branch: str = MAIN
    ) -> Document:
        """Rules found from the data: roles of columns, blocking, comparisons, thresholds, survivorship."""
        from steward.analysis.resolve import propose

        sources = self._sources(scope, author, datasets, branch)
        report("Comparing records to find rules")
        with self._at_work(scope, sources) as (connection, tables, folder):
            rules = propose(connection, tables, folder)
            return self._judged(connection, tables, rules, folder)

    def estimate(
        self, scope: Scope, author: str, rules: str, datasets: Sequence[str], branch: str = MAIN
    ) -> Document:
        """What edited rules (YAML) would do, with borderline pairs side by side."""
        parsed = _parsed(rules)
        sources = self._sources(scope, author, datasets, branch)
        report("Weighing the pairs")
        with self._at_work(scope, sources) as (connection, tables, folder):
            return self._judged(connection, tables, parsed, folder)

    def apply(
        self,
        scope: Scope,
        author: str,
        rules: str,
        datasets: Sequence[str],
        target: str,
        branch: str = MAIN,
        run_id: str | None = None,
        *,
        base: str | None = None,
    ) -> Commit:
        """Golden records, the mapping of every source row and the pairs, in one commit.

        `base` is the commit that a trial was based on: what is read is its data, and a branch on which that
        data or the results changed since is refused, at once and again when the commit is made.
        """
        from steward.analysis.resolve import resolve

        parsed = _parsed(rules)
        made = _results(target)
        if base is None:
            base = self._versions.workspace(scope, author).branch(branch).head
        else:
            self.refuse_changed(scope, author, base, branch, datasets, target)
        sources = self._sources(scope, author, datasets, base)
        with self._at_work(scope, sources) as (connection, tables, folder):
            report("Resolving entities")
            done = resolve(connection, tables, parsed, folder)
            report("Storing the results")
            written = {
                name: self._versions.write(scope, f"SELECT * FROM {parquet_source([path])}").id
                for name, path in zip(
                    made, (done.golden.path, done.mapping.path, done.pairs.path), strict=True
                )
            }
        report("Committing")
        lineage = {"operation": "resolve", "inputs": list(datasets)}
        draft = Draft(
            message=f"Resolve {_listed(datasets)}: {done.rows:,} rows are {done.entities:,} entities",
            operation="resolve",
            arguments={
                "datasets": list(datasets),
                "rules": rules,
                "rules_hash": done.rules_hash,
                "base": base,
                "results": list(written),
                "rows": done.rows,
                "entities": done.entities,
                "merged_entities": done.merged_entities,
                "checks": [asdict(check) for check in done.checks],
                "notes": list(done.notes),
            },
            datasets=written,
            inputs={name: [source.version for source in sources] for name in written},
            lineage=dict.fromkeys(written, lineage),
        )
        workspace = self._versions.workspace(scope, author, run_id=run_id)
        return workspace.commit(draft, branch, base=base, unchanged=list(datasets))

    def _judged(
        self,
        connection: duckdb.DuckDBPyConnection,
        tables: Sequence[Table],
        rules: "Rules",
        folder: Path,
    ) -> Document:
        from steward.analysis.resolve import borderline, estimate, score, to_yaml

        scored = score(connection, tables, rules, folder)
        return {
            "rules": to_yaml(rules),
            "estimate": as_document(estimate(connection, tables, rules, scored)),
            "borderline": [as_document(pair) for pair in borderline(connection, rules, scored)],
            "notes": list(scored.notes),
        }

    def check(
        self, scope: Scope, author: str, datasets: Sequence[str], branch: str, rules: str | None
    ) -> None:
        """Refuses datasets that are not there and rules that cannot be read, before any work begins."""
        if rules is not None:
            _parsed(rules)
        self._sources(scope, author, datasets, branch)

    def refuse_changed(
        self,
        scope: Scope,
        author: str,
        base: str,
        branch: str,
        datasets: Sequence[str],
        target: str,
    ) -> None:
        """A conflict now, rather than after minutes of work whose commit would be refused anyway."""
        names = {*datasets, *_results(target)}
        differences = self._versions.workspace(scope, author).diff(base, branch).entries
        changed = {entry.name for entry in differences if entry.kind == "dataset"} & names
        if changed:
            raise VersionConflict(
                f"{_listed(sorted(changed))} changed on {branch!r} since this was tried out. "
                "Nothing was written; try it out again with the data as it is now."
            )

    def _sources(
        self, scope: Scope, author: str, datasets: Sequence[str], at: str
    ) -> list[Dataset]:
        workspace = self._versions.workspace(scope, author)
        return [workspace.dataset(name, at) for name in datasets]

    @contextmanager
    def _at_work(
        self, scope: Scope, sources: Sequence[Dataset]
    ) -> "Iterator[tuple[duckdb.DuckDBPyConnection, list[Table], Path]]":
        named = [f"{source.name}\n{source.version}" for source in sources]
        key = hashlib.sha256(json.dumps([scope.project_id, named]).encode()).hexdigest()
        folder = self._folder / key[:32]
        self._folder.mkdir(parents=True, exist_ok=True)
        tables = [self._versions.table(scope, source.version, source.name) for source in sources]
        # Who compares the same data at the same time waits, and finds most of it done.
        with _locked(folder), session() as connection:
            folder.mkdir(exist_ok=True)
            self._forget_old(folder)
            yield connection, tables, folder

    def _forget_old(self, current: Path) -> None:
        others = [p for p in self._folder.iterdir() if p.is_dir() and p != current]
        for stale in sorted(others, key=lambda p: p.stat().st_mtime, reverse=True)[_KEPT_FOLDERS:]:
            # What somebody works in stays.
            with suppress(BlockingIOError), _locked(stale, wait=False):
                shutil.rmtree(stale, ignore_errors=True)


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> "Iterator[None]":
    """Alone with a folder, among threads and processes; the lock is beside it, so that it outlives the folder."""
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


def _parsed(rules: str) -> Any:
    from steward.analysis.resolve import from_yaml

    return from_yaml(rules)


def _results(target: str) -> tuple[str, str, str]:
    """Golden records, the mapping of rows, the pairs."""
    return target, f"{target} mapping", f"{target} pairs"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
