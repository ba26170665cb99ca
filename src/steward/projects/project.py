"""Projects as code: written as files, planned against a project, applied as one governed call, and taken back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from steward.core import Conflict, Invalid, Problem, Stale, StewardError
from steward.identity import Access, Role
from steward.projects.applies import Applied, Applies
from steward.projects.folder import as_files, read_files, read_parts, refuse, write_files
from steward.projects.kinds import Expected, Kind
from steward.projects.parts import Part, field_diffs
from steward.projects.plans import Parts, Plan, planned
from steward.projects.values import Reading, Values
from steward.runs import Json
from steward.store import Scope

_SHOWN: Final = 40
AccessOf = Callable[[Scope, str, Role | None], Access]
Change = Mapping[str, Any]
"""`kind`, `name`, `content` (None removes it), `before`: the hash of what is there, or None."""


@dataclass(frozen=True)
class Wanted:
    """A change with what it means."""

    kind: Kind
    name: str
    part: Part | None
    before: str | None
    there: Part | None

    @property
    def label(self) -> str:
        return f"{self.kind.name} {self.name}"

    @property
    def is_done(self) -> bool:
        if self.part is None or self.there is None:
            return self.part is self.there
        return self.there.beside(self.part).digest == self.part.digest

    @property
    def is_stale(self) -> bool:
        there = (
            self.there if self.part is None or self.there is None else self.there.beside(self.part)
        )
        return (None if there is None else there.digest) != self.before


class ProjectCode:
    """Also the service `project_code` of the tool `apply_project`."""

    def __init__(self, kinds: Sequence[Kind], applies: Applies, access_of: AccessOf) -> None:
        self.kinds = kinds
        """In the order in which they are put in place: later ones name earlier ones."""
        self._applies = applies
        self._access_of = access_of

    # Files

    def files(self, access: Access) -> dict[str, str]:
        """The project as files, as far as the person sees it."""
        return as_files(list(self.present(access).values()), self.kinds)

    def write(self, access: Access, folder: Path, *, prune: bool) -> tuple[list[str], list[str]]:
        parts = list(self.present(access).values())
        return write_files(folder, parts, self.kinds, prune=prune)

    def read(self, folder: Path) -> dict[str, str]:
        return read_files(folder, self.kinds)

    def present(self, access: Access) -> dict[tuple[str, str], Part]:
        access.require(Role.editor)
        return {part.key: part for kind in self.kinds for part in kind.present(access)}

    # Plans

    def plan(
        self, access: Access, files: Mapping[str, str], values: Values, *, prune: bool = False
    ) -> Plan:
        """What applying the files would do; Invalid says everything that is wrong with them."""
        present = self.present(access)
        reading = Reading(values, self.kinds)
        wanted = reading.parts(read_parts(files, self.kinds))
        present = {key: part for key, part in present.items() if reading.counts(part)}
        last = self._applies.last(access.scope)
        found = planned(present, wanted, last, prune=prune, notes=[])
        kinds = {each.name: each for each in self.kinds}
        changed = [
            wanted[each.kind, each.name] for each in found.changes if each.action != "remove"
        ]
        notes = self._checked(access, changed, _expected(present, wanted, prune=prune))
        for each in found.changes:
            access.require(kinds[each.kind].role)
        return planned(present, wanted, last, prune=prune, notes=notes)

    def _checked(self, access: Access, parts: Sequence[Part], expected: Expected) -> list[str]:
        kinds = {each.name: each for each in self.kinds}
        notes: list[str] = []
        problems: list[Problem] = []
        for part in parts:
            try:
                notes += kinds[part.kind].check(access, part, expected)
            except StewardError as problem:
                problems.append(Problem(part.path, problem.message))
        refuse(problems)
        return notes

    # The service of the tool

    def preview_apply(
        self, scope: Scope, author: str, role: Role | None, changes: Sequence[Change]
    ) -> list[dict[str, Any]]:
        """What would change, field by field; Invalid and Stale say why it cannot."""
        found = self._examined(self._access_of(scope, author, role), changes)
        return [
            {
                "kind": each.kind.name,
                "name": each.name,
                "fields": [
                    {"field": one.field, "before": one.before, "after": one.after}
                    for one in field_diffs(
                        each.there.meaning if each.there else {},
                        each.part.meaning if each.part else {},
                    )
                ][:_SHOWN],
            }
            for each in found
        ]

    def apply(
        self,
        scope: Scope,
        author: str,
        role: Role | None,
        changes: Sequence[Change],
        hashes: Mapping[str, str],
        call: str,
    ) -> Applied:
        """Puts everything in place, or nothing: what fails on the way is put back. Called again, it goes on."""
        access = self._access_of(scope, author, role)
        begun = self._applies.of_call(scope, call)
        if begun is None:
            wanted = self._examined(access, changes)
            replaced = [_change(each.kind, each.name, each.there) for each in wanted]
            begun = self._applies.begin(scope, author, call, hashes, replaced)
        else:
            wanted = self._wanted(access, changes)
        try:
            self._put(access, wanted)
        except StewardError as problem:
            left: list[str] = []
            self._put(access, self._wanted(access, begun.replaced), left)
            self._applies.mark(scope, begun.number, "failed")
            raise Conflict(f"{problem.message} {_restored(left)}", code="apply-failed") from problem
        self._applies.mark(scope, begun.number, "applied")
        return begun

    def take_back(
        self, scope: Scope, author: str, role: Role | None, changes: Sequence[Change], call: str
    ) -> None:
        """Puts back what a call replaced; refused where somebody changed it since."""
        access = self._access_of(scope, author, role)
        begun = self._applies.of_call(scope, call)
        if begun is None:
            raise Conflict("What this replaced is no longer known.")
        for each in self._wanted(access, changes):
            if not each.is_done:
                raise Stale(
                    f"The {each.label} has changed since. Undo that first, or change it back by hand."
                )
        back = self._wanted(access, begun.replaced)
        _require_roles(access, back)
        self._put(access, back)
        self._applies.mark(scope, begun.number, "undone")

    def _examined(self, access: Access, changes: Sequence[Change]) -> list[Wanted]:
        """The changes, if each is as it was planned and could be put in place."""
        wanted = self._wanted(access, changes)
        _require_roles(access, wanted)
        stale = [each.label for each in wanted if each.is_stale]
        if stale:
            raise Stale(f"The {stale[0]} has changed since the plan was made. Plan again.")
        present = self.present(access)
        new = {each.part.key: each.part for each in wanted if each.part is not None}
        kept = {key: part for key, part in present.items() if key not in _removed(wanted)}
        self._checked(access, list(new.values()), _expected(kept, new, prune=False))
        return wanted

    def _wanted(self, access: Access, changes: Sequence[Change]) -> list[Wanted]:
        kinds = {each.name: each for each in self.kinds}
        present = self.present(access)
        found = []
        for each in changes:
            kind = kinds.get(each["kind"])
            if kind is None:
                raise Invalid(f"A project has no kind of thing called {each['kind'][:60]!r}.")
            part = None if each["content"] is None else _part(kind, each)
            key = (kind.name, each["name"])
            found.append(Wanted(kind, each["name"], part, each["before"], present.get(key)))
        return found

    def _put(
        self, access: Access, wanted: Sequence[Wanted], failures: list[str] | None = None
    ) -> None:
        """Stops at the first that fails; with a list for failures, it notes them there and goes on."""
        for kind in self.kinds:
            own = [
                each.part for each in wanted if each.kind is kind and each.part and not each.is_done
            ]
            for part in own:
                with _naming(part.label, failures):
                    kind.put(access, part)
            if own:
                with _naming(own[0].label if len(own) == 1 else f"{kind.name}s", failures):
                    kind.finish(access, own)
        for kind in reversed(self.kinds):
            for each in wanted:
                if each.kind is kind and each.part is None and not each.is_done:
                    with _naming(each.label, failures):
                        kind.remove(access, each.name)


class _naming:  # noqa: N801
    """Says of which part an error is; where failures are collected, the error ends here."""

    def __init__(self, label: str, failures: list[str] | None) -> None:
        self._label = label
        self._failures = failures

    def __enter__(self) -> None: ...

    def __exit__(self, _type: Any, problem: BaseException | None, _trace: Any) -> bool:
        if not isinstance(problem, StewardError):
            return False
        if self._failures is None:
            problem.message = f"The {self._label} could not be applied: {problem.message}"
            return False
        self._failures.append(f"{self._label} ({problem.message.rstrip('.')})")
        return True


def _restored(left: Sequence[str]) -> str:
    if not left:
        return "Everything is as it was before."
    return f"Steward could not put everything back. Look at: {'; '.join(left[:_SHOWN])}. All else is as it was before."


def _part(kind: Kind, change: Change) -> Part:
    if not isinstance(change["content"], dict):
        raise Invalid(f"The content of {kind.name} {change['name'][:60]} must have fields.")
    try:
        part = kind.part(change["content"])
    except (KeyError, TypeError, AttributeError):
        raise Invalid(
            f"The content of {kind.name} {change['name'][:60]} is not complete."
        ) from None
    if part.name != change["name"]:
        raise Invalid(f"The content is of {part.label}, not of {change['name'][:60]}.")
    return part


def _change(kind: Kind, name: str, there: Part | None) -> dict[str, Json]:
    content = None if there is None else there.content
    return {"kind": kind.name, "name": name, "content": content, "before": None}


def _require_roles(access: Access, wanted: Sequence[Wanted]) -> None:
    for each in wanted:
        access.require(each.kind.role)


def _removed(wanted: Sequence[Wanted]) -> set[tuple[str, str]]:
    return {(each.kind.name, each.name) for each in wanted if each.part is None}


def _expected(present: Parts, wanted: Parts, *, prune: bool) -> Expected:
    found: dict[str, dict[str, Part]] = {"connection": {}, "agent": {}, "playbook": {}}
    for part in [*(() if prune else present.values()), *wanted.values()]:
        found.setdefault(part.kind, {})[part.name] = part
    return found
