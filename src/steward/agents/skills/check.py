"""Says what is wrong with a skill's folder: fields, scripts and links, each fault with file and line."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from steward.agents.skills.frontmatter import Head, Unreadable, decoded, parse_part, split
from steward.agents.skills.model import SCRIPTS_KEY, SKILL_FILE, Fault, Script, SkillDocument
from steward.broker import Risk, role_problem, schema_problem
from steward.core import Part
from steward.sandbox import Refused
from steward.sandbox import check as check_python

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
LONGEST_NAME: Final = 64
LONGEST_DESCRIPTION: Final = 1024
LONGEST_COMPATIBILITY: Final = 500
LONGEST_TOOL: Final = 100
LONGEST_SCRIPT: Final = 64 * 1024
USUAL_LINES: Final = 500
_FIELDS: Final = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_SCRIPT_FILE = re.compile(r"[a-z][a-z0-9_-]{0,40}\.py")
_SCRIPT_FIELDS: Final = {"risk", "description", "arguments"}
_LINK = re.compile(r"(?:\]\(|`)((?:references|scripts|assets)/[A-Za-z0-9._/ -]*[A-Za-z0-9])")
_TOOL = re.compile(r"[^\s,(]+(?:\([^)]*\))?")


@dataclass(frozen=True)
class Checked:
    """The verdict over a folder: the document where there are no faults, and what is merely odd."""

    document: SkillDocument | None
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...]


def check(
    files: Mapping[str, bytes], folder: str | None = None, tools: Iterable[str] | None = None
) -> Checked:
    """Looks at a whole folder; `tools` are the known ones, by which `allowed-tools` is judged."""
    if SKILL_FILE not in files:
        other = next((path for path in files if path.lower() == SKILL_FILE.lower()), None)
        said = f"rename {other} to SKILL.md" if other else "the folder has no SKILL.md"
        return Checked(None, (Fault(SKILL_FILE, None, said),), ())
    try:
        head = split(decoded(files[SKILL_FILE]))
    except Unreadable as problem:
        return Checked(None, (problem.at(SKILL_FILE),), ())
    reader = _Reader(files, head, folder)
    document = reader.document()
    known = None if tools is None else frozenset(tools)
    warnings = (*reader.warnings, *(_unknown_tools(document, head, known) if document else ()))
    return Checked(document, tuple(reader.faults), warnings)


class _Reader:
    def __init__(self, files: Mapping[str, bytes], head: Head, folder: str | None) -> None:
        self.files = files
        self.head = head
        self.folder = folder
        self.faults: list[Fault] = []
        self.warnings: list[Fault] = []

    def document(self) -> SkillDocument | None:
        fields = self.head.fields
        for field, value in fields.items():
            if field not in _FIELDS:
                self._fault(value, f"there is no field {field!r}; own fields go under metadata")
        name = self._name()
        description = self._text("description", LONGEST_DESCRIPTION, required=True)
        compatibility = self._text("compatibility", LONGEST_COMPATIBILITY)
        licence = self._text("license", LONGEST_DESCRIPTION)
        metadata = self._metadata()
        allowed = self._allowed_tools()
        scripts = tuple(self._scripts(name or ""))
        self._look_at_body()
        self._look_at_scripts({script.path for script in scripts})
        if self.faults:
            return None
        return SkillDocument(
            name=name or "",
            description=description or "",
            body=self.head.body,
            licence=licence,
            compatibility=compatibility,
            metadata=metadata,
            allowed_tools=allowed,
            scripts=scripts,
        )

    def _fault(self, at: Part | None, message: str, path: str = SKILL_FILE) -> None:
        self.faults.append(Fault(path, at.key_line if at else 1, message))

    def _warn(self, line: int | None, message: str, path: str = SKILL_FILE) -> None:
        self.warnings.append(Fault(path, line, message))

    def _name(self) -> str | None:
        name = self._text("name", LONGEST_NAME, required=True)
        if name is None:
            return None
        at = self.head.fields["name"]
        if not NAME.fullmatch(name):
            said = "a name has small letters, digits and single hyphens between them"
            self._fault(at, f"{said}: {name[:LONGEST_NAME]!r} does not")
        elif self.folder is not None and name != self.folder:
            self._fault(at, f"the name is {name!r} and the folder {self.folder!r}; make them equal")
        return name

    def _text(self, field: str, longest: int, *, required: bool = False) -> str | None:
        value = self.head.fields.get(field)
        if value is None:
            if required:
                self._fault(None, f"the field {field!r} is missing")
            return None
        text = value.text()
        if text is None:
            self._fault(value, f"{field} must be a text")
            return None
        text = text.strip()
        if not text and required:
            self._fault(value, f"{field} is empty")
            return None
        if len(text) > longest:
            self._fault(value, f"{field} has {len(text):,} characters; at most {longest:,} fit")
        return text or None

    def _metadata(self) -> dict[str, str]:
        value = self.head.fields.get("metadata")
        if value is None:
            return {}
        found = value.mapping()
        if found is None:
            self._fault(value, "metadata must be lines of `name: value`")
            return {}
        texts: dict[str, str] = {}
        for name, each in found.items():
            text = each.text()
            if text is not None:
                texts[name] = text
            elif name != SCRIPTS_KEY:
                self._warn(
                    each.key_line, f"metadata {name!r} is no text; other programs expect one"
                )
        return texts

    def _allowed_tools(self) -> tuple[str, ...] | None:
        value = self.head.fields.get("allowed-tools")
        if value is None:
            return None
        if isinstance(value.content, list):
            self._warn(value.key_line, "allowed-tools is a text with names between spaces")
            texts = [each.text() for each in value.content]
            if None in texts:
                self._fault(value, "allowed-tools holds something that is no name")
            return tuple(text.strip() for text in texts if text)
        text = value.text()
        if text is None:
            self._fault(value, "allowed-tools must be a text with names between spaces")
            return None
        return tuple(_TOOL.findall(text))

    # Scripts

    def _scripts(self, skill: str) -> Iterator[Script]:
        metadata = self.head.fields.get("metadata")
        value = (metadata.mapping() or {}).get(SCRIPTS_KEY) if metadata else None
        declared = self._declared(value) if value else None
        for file, said in (declared or {}).items():
            script = self._script(skill, file, said)
            if script is not None:
                yield script

    def _declared(self, value: Part) -> dict[str, Part] | None:
        """The declarations, written as nested fields or as a text of YAML or JSON."""
        text = value.text()
        inner: Part | None = value
        if text is not None:
            try:
                # The lines of a block of text follow the line of its name.
                inner = parse_part(text, first_line=value.line + 1, flow=True)
            except Unreadable as problem:
                self.faults.append(problem.at(SKILL_FILE))
                return None
        found = inner.mapping() if inner else None
        if found is None:
            self._fault(value, f"{SCRIPTS_KEY} must say for each file what it does")
        return found

    def _script(self, skill: str, file: str, said: Part) -> Script | None:
        fields = said.mapping()
        if not _SCRIPT_FILE.fullmatch(file):
            self._fault(said, f"{file!r} is not the name of a script, such as count_keys.py")
            return None
        if fields is None:
            self._fault(said, f"{file} needs a description, and may say risk and arguments")
            return None
        for name, each in fields.items():
            if name not in _SCRIPT_FIELDS:
                self._fault(each, f"{file}: there is no field {name!r}")
        if f"scripts/{file}" not in self.files:
            self._fault(said, f"scripts/{file} is declared and not there")
        risk = self._risk(file, fields.get("risk"))
        arguments = self._arguments(file, fields.get("arguments"))
        description = self._described(file, said, fields.get("description"))
        if risk is None or arguments is None:
            return None
        script = Script(file, description, risk, arguments)
        if len(script.tool(skill)) > LONGEST_TOOL:
            self._fault(said, f"the tool {script.tool(skill)} has too long a name; rename it")
        self._look_at_code(script)
        return script

    def _described(self, file: str, said: Part, value: Part | None) -> str:
        text = ((value.text() if value else None) or "").strip()
        if not text or len(text) > LONGEST_DESCRIPTION:
            wanted = f"a description of at most {LONGEST_DESCRIPTION:,} characters"
            self._fault(value or said, f"{file} needs {wanted}")
        return text

    def _arguments(self, file: str, value: Part | None) -> dict[str, Any] | None:
        if value is None:
            return {"type": "object"}
        found = value.data()
        wrong = schema_problem(found) or role_problem(found)
        if wrong is None and (not isinstance(found, dict) or found.get("type") != "object"):
            wrong = "the arguments must be of type object"
        if wrong is not None:
            self._fault(value, f"{file}: {wrong}")
            return None
        arguments: dict[str, Any] = found
        return arguments

    def _risk(self, file: str, value: Part | None) -> Risk | None:
        if value is None:
            return Risk.compute
        text = value.text() or ""
        if text in list(Risk):
            return Risk(text)
        self._fault(value, f"{file}: the risk is one of {', '.join(Risk)}")
        return None

    def _look_at_code(self, script: Script) -> None:
        content = self.files.get(script.path)
        if content is None:
            return
        if len(content) > LONGEST_SCRIPT:
            self.faults.append(
                Fault(script.path, None, f"it is larger than {LONGEST_SCRIPT:,} bytes")
            )
            return
        try:
            tree = check_python(decoded(content, script.path))
        except Unreadable as problem:
            self.faults.append(problem.at(script.path))
            return
        except Refused as problem:
            self.faults += [Fault(script.path, f.line, f.message) for f in problem.findings]
            return
        mains = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "main"]
        if len(mains) != 1 or len(mains[0].args.args) != 2:
            line = mains[0].lineno if mains else 1
            said = "a script defines one function main(arguments, con) that returns its result"
            self.faults.append(Fault(script.path, line, said))

    # What is odd

    def _look_at_scripts(self, declared: set[str]) -> None:
        for path in sorted(self.files):
            if path.startswith("scripts/") and path not in declared:
                said = f"not declared in metadata {SCRIPTS_KEY}, so it can be read and not called"
                self._warn(None, said, path)

    def _look_at_body(self) -> None:
        lines = self.head.body.split("\n")
        if not self.head.body:
            self._warn(self.head.body_line, "there are no instructions")
        if len(lines) > USUAL_LINES:
            said = f"{len(lines)} lines of instructions; move what is rarely needed to references/"
            self._warn(self.head.body_line, said)
        folders = {path.rpartition("/")[0] for path in self.files}
        for number, line in enumerate(lines, self.head.body_line):
            for path in _LINK.findall(line):
                if path not in self.files and path not in folders:
                    self._warn(number, f"{path} is mentioned and not there")


def _unknown_tools(
    document: SkillDocument, head: Head, known: frozenset[str] | None
) -> Iterator[Fault]:
    if known is None:
        return
    own = {script.tool(document.name) for script in document.scripts}
    at = head.fields.get("allowed-tools")
    for name in document.allowed_tools or ():
        if not any(fnmatchcase(tool, name) for tool in known | own):
            yield Fault(SKILL_FILE, at.key_line if at else None, f"there is no tool {name!r} here")
