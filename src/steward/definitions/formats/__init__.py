"""Definitions in other programs' formats: Apache Ossie and dbt's semantic models. Every loss is listed."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from steward.core import Invalid, dump_yaml, parse_yaml, read_json
from steward.definitions.document import Definitions
from steward.definitions.entries import from_entries, to_entries
from steward.definitions.formats.dbt import export_dbt, import_dbt
from steward.definitions.formats.ossie import export_ossie, import_ossie
from steward.definitions.formats.parts import Exported, Imported

__all__ = ["Format", "Imported", "export_definitions", "import_definitions"]

Format = Literal["steward", "ossie", "dbt"]
LARGEST: Final = 5_000_000


def export_definitions(definitions: Definitions, kind: Format, name: str = "steward") -> Exported:
    """The definitions as YAML, with what the format cannot say."""
    if kind == "ossie":
        return export_ossie(definitions, name)
    if kind == "dbt":
        return export_dbt(definitions)
    entries = {"format": 1, "entries": to_entries(definitions)}
    return Exported(dump_yaml(entries), [])


def import_definitions(text: str) -> Imported:
    """Definitions from a file of any of the formats, told apart by what the file holds."""
    document = _read(text)
    if "entries" in document and document.get("format") == 1:
        entries = document["entries"]
        if not isinstance(entries, dict):
            raise Invalid("The entries of the file are not an object.")
        return Imported(from_entries(entries), [], "steward")
    if "semantic_models" in document:
        return import_dbt(document)
    if "semantic_model" in document or "datasets" in document:
        return import_ossie(document)
    raise Invalid(
        "This file is not known: Steward reads its own definitions, Apache Ossie (with `semantic_model` or "
        "`datasets`) and dbt (with `semantic_models`)."
    )


def _read(text: str) -> Mapping[str, Any]:
    if text.lstrip().startswith("{"):
        found = read_json(text, largest=LARGEST)
    else:
        part = parse_yaml(text, largest=LARGEST)
        found = part.data() if part is not None else None
    if not isinstance(found, dict):
        raise Invalid("The file holds no object.")
    return found
