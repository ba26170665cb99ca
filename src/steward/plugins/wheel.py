"""What a wheel declares, read as data: nothing in it is imported, run or written to disk here."""

import ast
import base64
import configparser
import csv
import hashlib
import io
import json
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from importlib import metadata
from typing import Any, Final, Literal

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Wanted
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from steward.agents.skills import MOST_ARCHIVE_BYTES, unpack
from steward.broker import Risk, Role, role_problem, roles_of, schema_problem
from steward.core import Invalid, Problem, and_more
from steward.sandbox import Refused
from steward.sandbox import check as check_python

MOST_BYTES: Final = MOST_ARCHIVE_BYTES
GROUP: Final = "steward."
SANDBOXED: Final = "sandboxed_tool"
"""The kind of part whose code only ever runs in the sandbox."""
IN_PROCESS: Final = ("tool", "node", "trigger", "connector", "guardrail", "agent")
"""Kinds whose code runs in the server and its workers, with their rights."""
DECLARATION: Final = "TOOL"
"""The literal in which the module of a sandboxed tool says what the tool is."""
_FIELDS: Final = frozenset({"title", "description", "arguments", "risk", "examples"})
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_PART_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_TARGET: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")
_LONGEST_NAME: Final = 64
_MOST_PARTS: Final = 100

Runs = Literal["sandbox", "server"]


@dataclass(frozen=True)
class Requirement:
    """Another package that the wheel asks for."""

    text: str
    installed: str | None
    """The version that is installed here; None: it is not."""
    satisfied: bool


@dataclass(frozen=True)
class Part:
    """One thing that a plug-in adds."""

    kind: str
    name: str
    target: str
    runs: Runs
    title: str = ""
    description: str = ""
    arguments: Mapping[str, Any] | None = None
    risk: str | None = None
    examples: tuple[Mapping[str, Any], ...] = ()
    """Calls with their results, by which `steward plugin check` proves the code."""

    @property
    def module(self) -> str:
        return self.target.partition(":")[0]

    @property
    def attribute(self) -> str:
        return self.target.partition(":")[2]


@dataclass(frozen=True)
class Wheel:
    name: str
    version: str
    summary: str
    licence: str
    requires_python: str
    requirements: tuple[Requirement, ...]
    parts: tuple[Part, ...]
    packages: tuple[str, ...]
    """The names under which its code is imported."""
    sha256: str
    size: int
    problems: tuple[Problem, ...]
    """Why it cannot be installed here; empty when it can."""
    files: Mapping[str, bytes] = field(repr=False)

    @property
    def needs_rights(self) -> bool:
        """Whether some of its code runs with the server's rights."""
        return any(part.runs == "server" for part in self.parts)

    def source_of(self, part: Part) -> str:
        """The text of the module of a sandboxed tool."""
        return self.files[_module_file(self.files, part.module) or ""].decode()

    def refuse_problems(self) -> None:
        if self.problems:
            first = f"{self.problems[0].message}.{and_more(self.problems)}"
            raise Invalid(
                f"{self.name} {self.version} cannot be installed: {first}",
                code="plugin",
                problems=list(self.problems),
            )


def read_wheel(content: bytes) -> Wheel:
    """A wheel's declaration; Invalid where the file is no wheel or not what its own list of files says."""
    try:
        files = unpack(content)
    except Invalid as problem:
        raise type(problem)(problem.message, code="wheel") from None
    info = _info_folder(files)
    said = message_from_bytes(_file(files, f"{info}/METADATA"))
    name = canonicalize_name(str(said.get("Name", "")))
    version = str(said.get("Version", ""))
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise _no_wheel(f"its name {name[:80]!r} is not a name of letters, digits and hyphens")
    try:
        Version(version)
    except InvalidVersion:
        raise _no_wheel(f"its version {version[:40]!r} is not a version") from None
    _check_tags(message_from_bytes(_file(files, f"{info}/WHEEL")))
    _check_record(files, info)
    packages = tuple(_packages(files, info))
    reader = _Reader(files)
    parts = tuple(reader.parts(files.get(f"{info}/entry_points.txt", b"")))
    requirements = tuple(reader.requirements(said.get_all("Requires-Dist") or []))
    requires_python = str(said.get("Requires-Python", ""))
    reader.check_python(requires_python)
    return Wheel(
        name=name,
        version=version,
        summary=str(said.get("Summary", ""))[:500],
        licence=_licence(said),
        requires_python=requires_python[:100],
        requirements=requirements,
        parts=parts,
        packages=packages,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        problems=tuple(reader.problems),
        files=files,
    )


class _Reader:
    """Reads what a wheel adds and asks for, and gathers what is wrong with it."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        self.problems: list[Problem] = []

    def _problem(self, where: str, message: str) -> None:
        self.problems.append(Problem(where, message))

    def parts(self, text: bytes) -> Iterator[Part]:
        groups = configparser.ConfigParser(
            delimiters=("=",), interpolation=None, default_section="", strict=True
        )
        groups.optionxform = str  # type: ignore[assignment, method-assign]
        try:
            groups.read_string(text.decode())
        except (configparser.Error, UnicodeDecodeError):
            raise _no_wheel("its entry points cannot be read") from None
        ours = [group for group in groups.sections() if group.startswith(GROUP)]
        count = 0
        for group in ours:
            kind = group.removeprefix(GROUP)
            if kind not in (SANDBOXED, *IN_PROCESS):
                known = ", ".join(GROUP + each for each in (SANDBOXED, *IN_PROCESS))
                self._problem(group, f"there is no kind of part {group!r}; there are {known}")
                continue
            for name, target in groups.items(group):
                count += 1
                part = self._part(kind, name, target.strip())
                if part is not None and count <= _MOST_PARTS:
                    yield part
        if count == 0:
            self._problem("entry_points", f"it declares no entry points in a group {GROUP}…")
        if count > _MOST_PARTS:
            self._problem("entry_points", f"it declares {count} parts; at most {_MOST_PARTS} fit")

    def _part(self, kind: str, name: str, target: str) -> Part | None:
        where = f"{GROUP}{kind}/{name[:40]}"
        if not _PART_NAME.fullmatch(name):
            self._problem(where, "a name has small letters, digits, hyphens and underscores")
            return None
        if not _TARGET.fullmatch(target):
            self._problem(where, f"{target[:80]!r} is not of the form package.module:object")
            return None
        runs: Runs = "sandbox" if kind == SANDBOXED else "server"
        part = Part(kind, name, target, runs)
        path = _module_file(self._files, part.module)
        if path is None:
            self._problem(where, f"the wheel has no module {part.module!r}")
            return None
        return self._sandboxed(part, path, where) if kind == SANDBOXED else part

    def _sandboxed(self, part: Part, path: str, where: str) -> Part | None:
        """A tool that declares itself in a literal, so that it is known without running it."""
        before = len(self.problems)
        try:
            code = self._files[path].decode()
            check_python(code)
            tree = ast.parse(code)
        except UnicodeDecodeError:
            self._problem(path, "it is not a text in UTF-8")
            return None
        except Refused as refused:
            for each in refused.findings:
                at = f" (line {each.line})" if each.line else ""
                self._problem(path, f"{each.message.rstrip('.')}{at}")
            return None
        defined = [
            node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == part.attribute
        ]
        if not defined or len(defined[-1].args.args) != 2:
            self._problem(path, f"it has no function {part.attribute}(arguments, con)")
        declared = _literal(tree)
        if declared is None:
            self._problem(
                path, f"it needs {DECLARATION} = {{...}} with title, description and arguments"
            )
            return None
        for message in _wrong_with(declared):
            self._problem(where, message)
        if len(self.problems) > before:
            return None
        return Part(
            part.kind,
            part.name,
            part.target,
            part.runs,
            title=declared["title"],
            description=declared["description"],
            arguments=declared["arguments"],
            risk=declared.get("risk", Risk.compute.value),
            examples=tuple(declared.get("examples", ())),
        )

    def requirements(self, texts: list[Any]) -> Iterator[Requirement]:
        for text in map(str, texts):
            try:
                wanted = Wanted(text)
            except InvalidRequirement:
                self._problem("Requires-Dist", f"{text[:80]!r} is not a requirement")
                continue
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
                continue
            found = _installed(wanted.name)
            satisfied = found is not None and wanted.specifier.contains(found, prereleases=True)
            if not satisfied:
                has = f"{found} is installed" if found else "it is not installed"
                self._problem(
                    "Requires-Dist",
                    f"it requires {text[:120]}, and {has}. Steward installs no other packages: "
                    "install it in Steward's own environment first",
                )
            yield Requirement(text[:200], found, satisfied)

    def check_python(self, wanted: str) -> None:
        here = platform.python_version()
        try:
            fits = SpecifierSet(wanted).contains(here, prereleases=True)
        except InvalidSpecifier:
            fits = False
        if not fits:
            self._problem("Requires-Python", f"it requires Python {wanted[:40]}; this is {here}")


def _wrong_with(declared: Mapping[str, Any]) -> Iterator[str]:
    for name in declared.keys() - _FIELDS:
        yield f"{DECLARATION} has no field {str(name)[:40]!r}"
    for name in ("title", "description"):
        text = declared.get(name)
        if not isinstance(text, str) or not 0 < len(text) <= 500:
            yield f"{DECLARATION} needs a {name} of at most 500 characters"
    if declared.get("risk", Risk.compute) not in {Risk.read, Risk.compute}:
        yield "code in the sandbox changes nothing outside: its risk is read or compute"
    examples = declared.get("examples", [])
    if not isinstance(examples, list) or not all(
        isinstance(each, dict) and each.keys() == {"arguments", "result"} for each in examples
    ):
        yield "examples is a list of {'arguments': {...}, 'result': ...}"
    try:
        json.dumps([declared.get("arguments"), examples])
    except (TypeError, ValueError):
        yield f"{DECLARATION} holds more than JSON can say"
    else:
        yield from _wrong_with_arguments(declared.get("arguments"))


def _wrong_with_arguments(schema: Any) -> Iterator[str]:
    wrong = schema_problem(schema) or role_problem(schema)
    if wrong is None and (not isinstance(schema, dict) or schema.get("type") != "object"):
        wrong = "it must be of type object"
    if wrong is not None or not isinstance(schema, dict):
        yield f"the schema of its arguments is wrong: {wrong}"
        return
    for path, role in roles_of(schema).items():
        if role is Role.undeclared:
            yield f"the argument {path} declares no x-role"


def _literal(tree: ast.Module) -> dict[str, Any] | None:
    for node in tree.body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        names = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if value is None or not any(
            isinstance(name, ast.Name) and name.id == DECLARATION for name in names
        ):
            continue
        try:
            found = ast.literal_eval(value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            return None
        return found if isinstance(found, dict) else None
    return None


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _licence(said: Message) -> str:
    written = said.get("License-Expression") or said.get("License")
    if written:
        return str(written).strip().split("\n")[0][:120]
    marks = [str(each) for each in said.get_all("Classifier") or []]
    return next((m.rpartition(" :: ")[2][:120] for m in marks if m.startswith("License ::")), "")


def _no_wheel(reason: str) -> Invalid:
    return Invalid(f"This is not a wheel that Steward can read: {reason}.", code="wheel")


def _file(files: Mapping[str, bytes], path: str) -> bytes:
    try:
        return files[path]
    except KeyError:
        raise _no_wheel(f"{path} is missing") from None


def _info_folder(files: Mapping[str, bytes]) -> str:
    found = {head for path in files if (head := path.partition("/")[0]).endswith(".dist-info")}
    if len(found) != 1:
        raise _no_wheel("it needs one folder that ends in .dist-info")
    return found.pop()


def _check_tags(said: Message) -> None:
    tags = [str(tag) for tag in said.get_all("Tag") or []]
    if not tags or not all(tag.endswith("-none-any") for tag in tags):
        raise _no_wheel("it holds compiled code, and a plug-in is plain Python (py3-none-any)")


def _check_record(files: Mapping[str, bytes], info: str) -> None:
    """Every file is listed with its hash, and every listed file is there."""
    record = f"{info}/RECORD"
    rows = csv.reader(io.StringIO(_file(files, record).decode("utf-8", "replace")))
    listed = {row[0]: row[1] for row in rows if len(row) >= 2}
    for path, content in files.items():
        if path == record:
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if listed.pop(path, None) != f"sha256={digest}":
            raise _no_wheel(f"{path} is not what the wheel's own list (RECORD) says")
    listed.pop(record, None)
    if listed:
        raise _no_wheel(f"{min(listed)} is listed in RECORD and not there")


def _packages(files: Mapping[str, bytes], info: str) -> Iterator[str]:
    seen: set[str] = set()
    for path in files:
        head, inside, _ = path.partition("/")
        if head == info:
            continue
        name = head if inside else head.removesuffix(".py")
        if not name.isidentifier() or (not inside and not head.endswith(".py")):
            raise _no_wheel(f"{head!r} is neither a package nor a module")
        if name not in seen:
            seen.add(name)
            yield name


def _module_file(files: Mapping[str, bytes], module: str) -> str | None:
    base = module.replace(".", "/")
    return next((path for path in (f"{base}.py", f"{base}/__init__.py") if path in files), None)
