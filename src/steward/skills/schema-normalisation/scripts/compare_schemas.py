"""Which columns of several datasets mean the same: by name, by type and by the values they share."""

import difflib
import re
from typing import Any

FAMILIES = {
    "number": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL"),
    "time": ("DATE", "TIME", "TIMESTAMP"),
    "flag": ("BOOLEAN",),
}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def family(kind: str) -> str:
    plain = kind.lstrip("U").upper() if kind.upper().startswith("UB") else kind.upper()
    for name, starts in FAMILIES.items():
        if plain.startswith(starts):
            return name
    return "text"


def words(name: str) -> list[str]:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return sorted(re.findall(r"[a-z0-9]+", spaced.lower()))


def columns_of(con: Any, dataset: str, sample: int) -> list[dict[str, Any]]:
    relation = con.execute(f"SELECT * FROM {quoted(dataset)} LIMIT 0")
    found = []
    for described in relation.description:
        name, kind = described[0], str(described[1])
        text = f"lower(trim(CAST({quoted(name)} AS VARCHAR)))"
        values = con.execute(
            f"SELECT DISTINCT {text} AS v FROM {quoted(dataset)} WHERE {quoted(name)} IS NOT NULL "
            f"ORDER BY v LIMIT {int(sample)}"
        ).fetchall()
        found.append({"name": name, "type": kind, "values": {row[0] for row in values if row[0]}})
    return found


def compared(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    ours, theirs = words(left["name"]), words(right["name"])
    alike = difflib.SequenceMatcher(None, " ".join(ours), " ".join(theirs)).ratio()
    smaller = min(len(left["values"]), len(right["values"]))
    shared = len(left["values"] & right["values"]) / smaller if smaller else 0.0
    same_family = family(left["type"]) == family(right["type"])
    # A few values, such as yes and no, are shared by columns that have nothing to do with one another.
    weight = 0.5 if smaller >= 10 else 0.15
    score = (1 - weight) * alike + weight * shared - (0 if same_family else 0.15)
    return {
        "score": round(max(score, 0.0), 3),
        "names_alike": round(alike, 3),
        "values_shared": round(shared, 3),
        "types": [left["type"], right["type"]],
        "same_kind_of_type": same_family,
    }


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    names = arguments["datasets"]
    sample = arguments["sample"]
    wanted = columns_of(con, names[0], sample)
    proposals = []
    for other in names[1:]:
        columns = columns_of(con, other, sample)
        pairs = sorted(
            (
                (compared(left, right), left["name"], right["name"])
                for left in wanted
                for right in columns
            ),
            key=lambda pair: (-pair[0]["score"], pair[1], pair[2]),
        )
        taken: dict[str, dict[str, Any]] = {}
        used = set()
        for evidence, left_name, right_name in pairs:
            if evidence["score"] < 0.45 or left_name in taken or right_name in used:
                continue
            taken[left_name] = {"column": right_name, **evidence}
            used.add(right_name)
        proposals.append(
            {
                "dataset": other,
                "mapping": {name: taken[name] for name in sorted(taken)},
                "without_a_partner_here": [c["name"] for c in columns if c["name"] not in used],
                "without_a_partner_in_the_first": [
                    c["name"] for c in wanted if c["name"] not in taken
                ],
            }
        )
    return {"form": names[0], "proposals": proposals}
