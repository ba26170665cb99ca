"""Writes the sample files: `python -m steward.samples OUT_DIR`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from steward.samples.generate import (
    DEFAULT_CUSTOMERS,
    DEFAULT_SEED,
    SampleDataset,
    SampleSet,
    generate,
)

_ENCODING_NAMES = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8 with BOM", "iso-8859-1": "Latin-1"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.customers < 1:
        parser.error(f"--customers is {chosen.customers}: give at least 1")
    if chosen.out_dir.exists() and not chosen.out_dir.is_dir():
        parser.error(f"{chosen.out_dir} is a file: give a directory to write the samples into")
    try:
        chosen.out_dir.mkdir(parents=True, exist_ok=True)
        samples = generate(chosen.seed, chosen.customers)
        _write(samples, chosen.out_dir)
    except OSError as error:
        reason = error.strerror or str(error)
        parser.error(f"cannot write to {chosen.out_dir}: {reason}; give another directory")
    sys.stdout.write(describe(samples))
    return 0


def describe(samples: SampleSet) -> str:
    """What the files hold, for a person who opens the directory."""
    truth = samples.truth
    lines = [
        f"Sample data of seed {samples.seed}: {samples.customers} customers in three systems.",
        "All people, companies and numbers are invented; e-mail addresses end in .example,",
        "a domain that no message can reach.",
        "",
    ]
    for dataset in samples.datasets:
        lines.extend(_dataset_lines(dataset))
    lines.append(f"truth.csv: {len(truth.rows)} rows")
    lines.append("  Which real customer (entity_id) each row of the files belongs to.")
    lines.extend(["", "Keys:"])
    lines.extend(f"  {key.dataset}({', '.join(key.columns)})" for key in truth.keys)
    lines.append("Foreign keys:")
    for key in truth.foreign_keys:
        lines.append(f"  {key.dataset}.{key.column} -> {key.target_dataset}.{key.target_column}")
        lines.append(
            f"    {key.missing} missing, {key.noisy} with noise, {key.orphans} without a target"
        )
    lines.append("Planted problems (rows):")
    for problem in truth.problems:
        place = f"{problem.dataset}.{problem.column}"
        lines.append(f"  {problem.count:>7}  {place}: {problem.kind.replace('_', ' ')}")
    return "\n".join([*lines, ""])


def _dataset_lines(dataset: SampleDataset) -> list[str]:
    shape = f"{dataset.rows} rows of {len(dataset.columns)} columns"
    encoding = _ENCODING_NAMES[dataset.encoding]
    return [
        f"{dataset.filename}: {shape}, {encoding}, separated by '{dataset.delimiter}'",
        f"  {dataset.description}",
        "",
    ]


def _write(samples: SampleSet, out_dir: Path) -> None:
    for dataset in samples.datasets:
        (out_dir / dataset.filename).write_bytes(dataset.content)
    (out_dir / "truth.csv").write_bytes(samples.truth.csv())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m steward.samples",
        description="Writes three messy sample datasets and the truth about them.",
    )
    parser.add_argument("out_dir", type=Path, metavar="OUT_DIR", help="made if it does not exist")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="default: %(default)s")
    parser.add_argument(
        "--customers", type=int, default=DEFAULT_CUSTOMERS, help="default: %(default)s"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
