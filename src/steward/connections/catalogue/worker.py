"""Reads descriptions in processes of their own, which may die of them; run as a program, it forks one for each.

A process is told a folder, which holds `request.json`; what was found is written beside it, as lines of JSON.
"""

import gzip
import hashlib
import json
import os
import socket
from pathlib import Path
from typing import Any, Final, NoReturn

from steward.connections.catalogue.record import Service
from steward.connections.catalogue.texts import read_text, require_size
from steward.core import Invalid, StewardError, TooLarge, error_to_json
from steward.isolation import lower_limits, serve_forks

MEMORY: Final = 2 << 30
SECONDS: Final = 120
REQUEST: Final = "request.json"
CONTENT: Final = "content"
RECORD: Final = "record.jsonl.gz"
OUTLINE: Final = "outline.json.gz"
ERROR: Final = "error.json"


def serve(line: socket.socket) -> NoReturn:
    """Reads what the folder named on the line asks for."""
    with line.makefile("r", encoding="utf-8") as incoming:
        folder = incoming.readline().removesuffix("\n")
    answer(Path(folder))
    os._exit(0)


def answer(folder: Path) -> None:
    lower_limits({"DATA": MEMORY, "CPU": SECONDS, "CORE": 0})
    request = json.loads((folder / REQUEST).read_text())
    try:
        if request["do"] == "outline":
            _write_outline(folder / OUTLINE)
        else:
            _write_record(folder / RECORD, _described(folder, request))
    except MemoryError:
        _write_error(folder, TooLarge("The description needs too much memory."))
    except StewardError as problem:
        _write_error(folder, problem)


def _described(folder: Path, request: dict[str, Any]) -> Service:
    # Only the process that converts loads what reads descriptions.
    from steward.connections.catalogue import packages
    from steward.connections.catalogue.adapters import google_discovery, graphql, openapi

    if request["do"] == "package":
        return packages.describe(request["service"])
    content = (folder / CONTENT).read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    name, address = request.get("name", ""), request.get("address", "")
    require_size(content)
    if _is_binary(content):
        return _grpc(content, sha256, address, name)
    if graphql.is_schema_language(content):
        # The address of a file is not where the API is.
        return graphql.describe(graphql.read_schema_language(content), sha256, "", name)
    document = read_text(content)
    if graphql.is_introspection(document):
        found = graphql.read_introspection(document)
        return graphql.describe(found, sha256, _asked(address), name)
    if document.get("kind") == "discovery#restDescription":
        return google_discovery.describe(document, sha256, name)
    described = openapi.describe(document, sha256, address, name)
    if not described.operations:
        why = f" ({described.left_out[0].reason})" if described.left_out else ""
        raise Invalid(f"The description has no operation that can be called{why}.", code="empty")
    return described


def _is_binary(content: bytes) -> bool:
    """Descriptors begin like this, and no text does."""
    return content[:1] == b"\n" and any(each < 9 for each in content[:64])


def _grpc(content: bytes, sha256: str, address: str, name: str) -> Service:
    try:
        from steward.connections.catalogue.adapters import grpc
    except ModuleNotFoundError:
        raise Invalid(
            "gRPC needs Steward's 'grpc' extra; install it first.", code="extra-missing"
        ) from None
    where = address if address.startswith(("grpc://", "grpcs://")) else ""
    return grpc.describe(grpc.read_descriptors(content), sha256, where, name)


def _asked(address: str) -> str:
    """The API itself answered there, unless the answer lies there as a file."""
    return "" if address.partition("?")[0].endswith(".json") else address


def _write_record(path: Path, service: Service) -> None:
    with gzip.open(path, "wt", compresslevel=4, encoding="utf-8") as file:
        file.write(json.dumps({**service.header(), "hosts": service.hosts}) + "\n")
        for each in service.operations:
            file.write(json.dumps({"hash": each.hash, **each.to_json()}) + "\n")


def _write_outline(path: Path) -> None:
    """All that can be installed, with the operations' names, for search."""
    from steward.connections.catalogue import packages

    with gzip.open(path, "wt", compresslevel=4, encoding="utf-8") as file:
        for known in packages.packaged().values():
            found = packages.described(known, outline=True)
            shown = {
                **{key: getattr(found, key) for key in _SHOWN},
                "operations": [
                    [o.name, o.title, o.description, o.verb, o.risk] for o in found.operations
                ],
            }
            file.write(json.dumps(shown) + "\n")


_SHOWN: Final = (
    "id",
    "title",
    "description",
    "vendor",
    "adapter",
    "version",
    "licence",
    "categories",
)


def _write_error(folder: Path, problem: StewardError) -> None:
    (folder / ERROR).write_text(json.dumps(error_to_json(problem)))


if __name__ == "__main__":
    serve_forks((), serve)
