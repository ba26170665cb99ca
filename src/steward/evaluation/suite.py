"""Suites: YAML with cases, checked as a whole with a place and a line for everything wrong, or a recorded run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from steward.agents import Contract
from steward.core import Invalid, NotFound, Problem
from steward.definitions import Definitions
from steward.evaluation.case import Case, CaseId, DatasetName, load_kinds
from steward.evaluation.kinds.replay import ReplayCase
from steward.playbooks import decoded, lined, refusal
from steward.samples import CUSTOMERS

DEFAULT_CUSTOMERS: Final = 60
MOST_CASES: Final = 1_000
_ENDINGS: Final = (".steward-test.zip", ".zip")
_WORDS: Final = {"extra_forbidden": "is not known here", "missing": "is missing"}


class Table(Contract):
    """A dataset that a suite brings along."""

    name: DatasetName
    csv: str = Field(min_length=1, max_length=200_000, description="Rows, with a line of headings.")


class Head(Contract):
    """What a suite says before its cases."""

    format: Literal[1] = 1
    name: CaseId
    title: str = Field("", max_length=200)
    description: str = Field("", max_length=2_000)
    customers: int = Field(
        DEFAULT_CUSTOMERS, ge=0, le=CUSTOMERS, description="Size of the sample data; 0: none."
    )
    profiled: bool = Field(
        False, description="Whether the sample data was profiled: rules then know its values."
    )
    definitions: Definitions = Field(
        default_factory=Definitions, description="What words mean in the project."
    )
    data: list[Table] = Field(default=[], max_length=20)
    tools: dict[str, Any] = Field(
        default_factory=dict,
        max_length=50,
        description="What the project allows its tools, as in its settings.",
    )


@dataclass(frozen=True)
class Suite:
    head: Head
    cases: tuple[Case, ...]
    folder: Path | None = None
    """Where its file lies, for the files that it names."""

    @property
    def name(self) -> str:
        return self.head.name


def read_suite(text: str, folder: Path | None = None) -> Suite:
    document = lined(text, "suite")
    value = document.value
    if not isinstance(value, dict):
        raise Invalid("A suite is YAML with a name and cases.")
    problems: list[Problem] = []
    head = _validated(Head, {k: v for k, v in value.items() if k != "cases"}, "", problems)
    cases = list(_cases(value.get("cases"), problems))
    if problems or head is None:
        raise refusal("This is not a suite", problems, document)
    return Suite(head, tuple(cases), folder)


def _cases(raw: Any, problems: list[Problem]) -> Iterable[Case]:
    if not isinstance(raw, list) or not 1 <= len(raw) <= MOST_CASES:
        problems.append(Problem("/cases", f"must be a list of 1 to {MOST_CASES:,} cases"))
        return
    kinds, seen = load_kinds(), set()
    for number, each in enumerate(raw):
        pointer = f"/cases/{number}"
        kind = each.get("kind") if isinstance(each, dict) else None
        if kind not in kinds:
            known = ", ".join(name for name, _ in kinds)
            problems.append(Problem(f"{pointer}", f"needs a kind, one of {known}"))
            continue
        fields = {name: value for name, value in each.items() if name != "kind"}
        case = _validated(kinds.get(str(kind)), fields, pointer, problems)
        if case is not None and case.id in seen:
            problems.append(Problem(f"{pointer}/id", f"{case.id!r} is there twice"))
        elif case is not None:
            seen.add(case.id)
            yield case


def _validated(model: Any, value: Any, pointer: str, problems: list[Problem]) -> Any:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            parts = (str(part).replace("~", "~0").replace("/", "~1") for part in each["loc"])
            message = _WORDS.get(each["type"], each["msg"].removeprefix("Value error, "))
            place = pointer + "".join(f"/{part}" for part in parts)
            problems.append(Problem(place, message[:1].lower() + message[1:]))
        return None


def load_suites(names: Sequence[str]) -> list[Suite]:
    """Files of YAML, folders of them, recorded runs, and names of the suites that Steward brings along."""
    found = [suite for name in names for suite in _found(name)]
    twice = {suite.name for suite in found if [each.name for each in found].count(suite.name) > 1}
    if twice:
        raise Invalid(f"Two suites are called {', '.join(sorted(twice))}; rename one of them.")
    return found


def _found(name: str) -> Iterable[Suite]:
    path = Path(name)
    if path.is_dir():
        inside = [*path.glob("*.yaml"), *path.glob("*.yml"), *path.glob(f"*{_ENDINGS[0]}")]
        if not inside:
            raise NotFound(f"There is no suite in {name}; a suite is a .yaml file.")
        for each in sorted(inside):
            yield from _found(str(each))
    elif path.is_file() and path.name.endswith(_ENDINGS):
        yield recorded(path)
    elif path.is_file():
        try:
            yield read_suite(decoded(path.read_bytes(), "suite"), path.parent)
        except Invalid as problem:
            raise Invalid(f"{name}: {problem.message}", problems=problem.problems) from None
    else:
        yield _shipped(name)


def recorded(path: Path) -> Suite:
    """A run in a file as a suite of one case."""
    bare = path.name.removesuffix(_ENDINGS[0]).removesuffix(_ENDINGS[1])
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in bare.lower()).strip("-")
    name = "-".join(part for part in name.split("-") if part)[:80].strip("-") or "recorded"
    case = ReplayCase(id=name, title=f"{path.name} comes out as it did", file=path.name)
    return Suite(Head(name=name, title=path.name, customers=0), (case,), path.parent)


def shipped() -> list[str]:
    """Names of the suites that Steward brings along."""
    folder = files("steward.evaluation") / "suites"
    names = [each.name for each in folder.iterdir()]
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def _shipped(name: str) -> Suite:
    if name not in shipped():
        raise NotFound(
            f"There is no suite {name!r}: no file, no folder, and none of {', '.join(shipped())}."
        )
    text = (files("steward.evaluation") / "suites" / f"{name}.yaml").read_text(encoding="utf-8")
    return read_suite(text)


def suite_schema() -> dict[str, Any]:
    """JSON Schema of suites, for editors."""
    schema = Head.model_json_schema()
    definitions: dict[str, Any] = schema.setdefault("$defs", {})
    kinds = []
    for name, model in load_kinds():
        own = model.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= own.pop("$defs", {})
        own["properties"] = {"kind": {"const": name}, **own["properties"]}
        own["required"] = ["kind", *own.get("required", [])]
        definitions[f"{name}_case"] = own
        kinds.append({"$ref": f"#/$defs/{name}_case"})
    schema["properties"]["cases"] = {"type": "array", "minItems": 1, "items": {"oneOf": kinds}}
    schema["required"] = [*schema.get("required", []), "cases"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Suite"}
