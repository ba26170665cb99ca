"""The sample data in the package: what the generator makes, and parts of it that belong together."""

import csv
import io
import lzma
from pathlib import Path

import pytest

from scripts.samples import generate
from scripts.samples.__main__ import SHIPPED, SIZES, main
from steward.samples import CUSTOMERS, load_sample_truth, load_samples

DIALECTS = {
    "crm_customers": ("utf-8", ","),
    "billing_invoices": ("iso-8859-1", ";"),
    "support_tickets": ("utf-8-sig", ","),
}


def unpacked(folder: Path) -> dict[str, bytes]:
    return {path.stem: lzma.decompress(path.read_bytes()) for path in folder.glob("*.xz")}


def test_the_generator_makes_the_shipped_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scripts.samples.__main__.SHIPPED", tmp_path)
    assert main(["--ship"]) == 0
    shipped = unpacked(SHIPPED)
    assert unpacked(tmp_path) == shipped, "run `python -m scripts.samples --ship`"
    for customers in SIZES:
        made = {each.filename: each.content for each in generate(customers=customers).datasets}
        assert {each.filename: each.content for each in load_samples(customers)} == made
        whole = generate(customers=customers).truth.rows
        assert load_sample_truth(customers) == {
            (row.dataset, row.row_id): row.entity_id for row in whole
        }


@pytest.mark.parametrize("customers", [1, 61, 500, CUSTOMERS])
def test_a_part_holds_the_rows_of_its_customers(customers: int) -> None:
    whole = {each.name: _rows(each.name, each.content) for each in load_samples()}
    truth = load_sample_truth(customers)
    assert set(truth.values()) == {f"E-{number:06d}" for number in range(1, customers + 1)}
    for part in load_samples(customers):
        rows = _rows(part.name, part.content)
        assert rows[0] == whole[part.name][0]
        assert rows[1:] == [row for row in whole[part.name][1:] if (part.name, row[0]) in truth]


def _rows(name: str, content: bytes) -> list[list[str]]:
    encoding, delimiter = DIALECTS[name]
    text = io.StringIO(content.decode(encoding), newline="")
    return list(csv.reader(text, delimiter=delimiter, strict=True))
