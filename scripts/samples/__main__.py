"""Writes the sample files: `python -m scripts.samples OUT_DIR`, or with `--ship` those of the package."""

import argparse
import lzma
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.samples.generate import (
    DEFAULT_CUSTOMERS,
    DEFAULT_SEED,
    SampleDataset,
    SampleSet,
    generate,
)

SHIPPED = Path(__file__).resolve().parents[2] / "src/steward/samples"
SIZES = (60, DEFAULT_CUSTOMERS)
"""Of the demo, and of evaluation."""
_ENCODING_NAMES = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8 with BOM", "iso-8859-1": "Latin-1"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.ship:
        ship()
        return 0
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


def ship() -> None:
    """Writes the files from which the package reads its demo data."""
    for customers in SIZES:
        for name, content in contents(generate(customers=customers)).items():
            packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
            path = SHIPPED / f"{name.removesuffix('.csv')}.{customers}.csv.xz"
            path.write_bytes(packed)


def contents(samples: SampleSet) -> dict[str, bytes]:
    """Every file of the samples by its name."""
    made = {dataset.filename: dataset.content for dataset in samples.datasets}
    return {**made, "truth.csv": samples.truth.csv()}


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
    for name, content in contents(samples).items():
        (out_dir / name).write_bytes(content)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.samples",
        description="Writes three messy sample datasets and the truth about them.",
    )
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument(
        "out_dir", nargs="?", type=Path, metavar="OUT_DIR", help="made if it does not exist"
    )
    place.add_argument("--ship", action="store_true", help="write the files of the package")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="default: %(default)s")
    parser.add_argument(
        "--customers", type=int, default=DEFAULT_CUSTOMERS, help="default: %(default)s"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
