"""The tests that a change to a room can break, by the import graph: `python scripts/rooms.py store` lists them."""

import ast
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
# Whole journeys need a browser and a build; `make test` runs them.
NOT_HERE = TESTS / "journeys"
# House rules are about every room; crashes about the journal and all that it stands on.
RULES, CRASHES, JOURNAL = "rules", "crash", "runs"
# Read as files, so no import tells who needs it.
READ_BY = {"skills": "agents"}


def rooms() -> list[str]:
    return sorted(folder.parent.name for folder in (ROOT / "src/steward").glob("*/__init__.py"))


def rooms_above(room: str, graph: grimp.ImportGraph) -> set[str]:
    """The room and those that import it, through others too.

    Without `testing`: our tests are what imports it, and all of them do.
    """
    start = READ_BY.get(room, room)
    importing = graph.find_downstream_modules(f"steward.{start}", as_package=True)
    above = {module.split(".")[1] for module in importing if module.count(".")}
    return {room, start} | (above - {"testing"})


def affected_tests(room: str, graph: grimp.ImportGraph) -> list[str]:
    """Folders of the rooms above, and single files of other folders that import the room themselves."""
    if room == "testing":
        return ["tests"]
    above = rooms_above(room, graph)
    chosen = {RULES, *above} | ({CRASHES} if JOURNAL in above else set())
    folders = sorted(f"tests/{name}" for name in chosen if (TESTS / name).is_dir())
    files = [
        str(path.relative_to(ROOT))
        for path in sorted(TESTS.rglob("test_*.py"))
        if path.relative_to(TESTS).parts[0] not in chosen
        and NOT_HERE not in path.parents
        and imports_room(path.read_text(), room)
    ]
    return folders + files


def imports_room(text: str, room: str) -> bool:
    """Whether a file names the room in its imports, those inside functions included."""
    if room not in text:
        return False
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
    return any(f"{name}.".startswith(f"steward.{room}.") for name in names)


def main() -> int:
    room = sys.argv[1] if len(sys.argv) > 1 else ""
    if room not in rooms():
        print(f"There is no room {room!r}; there are: {', '.join(rooms())}", file=sys.stderr)
        return 1
    graph = grimp.build_graph("steward", cache_dir=None)
    print("\n".join(affected_tests(room, graph)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
