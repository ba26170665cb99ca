"""Where datasets and their columns come from, as OpenLineage events for other catalogues."""

from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from steward.versions import Commit, EntryChange

_SPEC: Final = "https://openlineage.io/spec"
_RUN_EVENT: Final = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_PRODUCER: Final = "https://steward.example/data"


def openlineage_events(commits: Iterable[Commit], namespace: str) -> Iterator[dict[str, Any]]:
    """A COMPLETE event of OpenLineage 2-0-2 for each dataset that a commit made from others or from a file."""
    for commit in commits:
        for change in commit.changes:
            if change.kind == "dataset" and change.lineage and change.after is not None:
                yield _event(commit, change, namespace)


def _event(commit: Commit, change: EntryChange, namespace: str) -> dict[str, Any]:
    origin = change.lineage
    inputs = [
        *origin.get("inputs", ()),
        *(origin[key] for key in ("file", "source") if key in origin),
    ]
    about = {"description": commit.message}
    fields = {each["output"]: _field(each, namespace) for each in origin.get("columns", ())}
    facets = {"version": _facet("1-0-1", "DatasetVersion", {"datasetVersion": change.after})}
    if fields:
        facets["columnLineage"] = _facet("1-2-0", "ColumnLineage", {"fields": fields})
    return {
        "eventType": "COMPLETE",
        "eventTime": commit.created_at.isoformat().replace("+00:00", "Z"),
        # The same id at every export; a run of Steward may make several datasets.
        "run": {"runId": str(uuid5(NAMESPACE_URL, f"steward:{commit.id}")), "facets": {}},
        "job": {
            "namespace": namespace,
            "name": f"{commit.operation} {change.name}",
            "facets": {"documentation": _facet("1-0-1", "Documentation", about, "Job")},
        },
        "inputs": [{"namespace": namespace, "name": name, "facets": {}} for name in inputs],
        "outputs": [{"namespace": namespace, "name": change.name, "facets": facets}],
        "producer": _PRODUCER,
        "schemaURL": _RUN_EVENT,
    }


def _facet(version: str, name: str, body: dict[str, Any], of: str = "Dataset") -> dict[str, Any]:
    kind = f"{name}{of}Facet"
    address = f"{_SPEC}/facets/{version}/{kind}.json#/$defs/{kind}"
    return {"_producer": _PRODUCER, "_schemaURL": address, **body}


def _field(column: dict[str, Any], namespace: str) -> dict[str, Any]:
    how = _transformation(column["transformation"])
    return {
        "inputFields": [
            {"namespace": namespace, "name": table, "field": name, "transformations": [how]}
            for table, name in column["inputs"]
        ]
    }


def _transformation(said: str) -> dict[str, Any]:
    subtype = "TRANSFORMATION"
    if said == "unchanged" or said.startswith("renamed from "):
        subtype = "IDENTITY"
    elif said.startswith("aggregated"):
        subtype = "AGGREGATION"
    masks = said.startswith(("masked", "hashed"))
    return {"type": "DIRECT", "subtype": subtype, "description": said, "masking": masks}
