"""The skills of a project: those it wrote or imported, in versions, over those that Steward brings along."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import sqlalchemy as sa

from steward.agents.skills import _rows as rows
from steward.agents.skills import _tables as tables
from steward.agents.skills._rows import Listed, Version
from steward.agents.skills.archives import MOST_ARCHIVE_BYTES, pack, skills_in, unpack
from steward.agents.skills.builtin import builtin_skills
from steward.agents.skills.bundles import Bundles
from steward.agents.skills.changes import FileChange, changes_between
from steward.agents.skills.check import Checked, check
from steward.agents.skills.model import Skill, SkillCard, refused
from steward.agents.skills.paths import safe_files
from steward.agents.skills.prompts import MOST_PROMPT_BYTES, reference_of, skill_text
from steward.core import Clock, Conflict, Invalid, NotFound
from steward.identity import Access, Role
from steward.store import BlobStore, Database, EventLog, Scope, Transaction, require_no_secrets

MOST_SKILLS: Final = 500
_SKILLS = tables.skills.c
_VERSIONS = tables.skill_versions.c


class Skills:
    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        events: EventLog,
        clock: Clock,
        known_tools: Callable[[Scope], Iterable[str]] = lambda _: (),
    ) -> None:
        self._database = database
        self._bundles = Bundles(blobs)
        self._events = events
        self._clock = clock
        self._known_tools = known_tools

    # Stage by stage: names, instructions, files

    def catalogue(self, scope: Scope) -> list[SkillCard]:
        """What prompts say of every enabled skill: its name and when to use it."""
        return [
            SkillCard(each.name, each.description, each.origin)
            for each in self.listed(scope)
            if each.enabled
        ]

    def open(self, scope: Scope, name: str) -> Skill:
        """The instructions of an enabled skill; `name@3` is its third version."""
        bare, has_version, version = name.partition("@")
        if has_version and version.isdigit():
            return self.pinned(scope, bare, int(version))
        listed = self._listed_one(scope, name)
        if not listed.enabled:
            raise Conflict(
                f"The skill {name!r} is switched off. Switch it on to use it.",
                code="skill-disabled",
            )
        return self.get(scope, name)

    def instructions(self, scope: Scope, name: str) -> str:
        """The same as a prompt takes it, with the names of its files and tools."""
        return skill_text(self.open(scope, name))

    def reference(
        self, scope: Scope, name: str, path: str, *, limit: int = MOST_PROMPT_BYTES
    ) -> str:
        """A file of an enabled skill as a prompt takes it: text, cut where it is too long."""
        return reference_of(self.open(scope, name), path, limit=limit)

    # Looking

    def listed(self, scope: Scope, *, deleted: bool = False) -> list[Listed]:
        """Every skill by name, switched off or not; or those that can be restored."""
        with self._database.read(scope) as tx:
            known = rows.found(tx)
        if deleted:
            return [
                rows.listed(row, said)
                for row, said in known.values()
                if row.deleted_at is not None and row.version
            ]
        own = {name for name, (row, _) in known.items() if rows.is_own(row)}
        return [
            rows.shown(*known.get(name, (None, "")), name)
            for name in sorted(own | builtin_skills().keys())
        ]

    def one(self, scope: Scope, name: str) -> Listed:
        return self._listed_one(scope, name)

    def get(self, scope: Scope, name: str, version: int | None = None) -> Skill:
        """A skill whether it is on or off, in the version in force or another; 0 is the built-in one."""
        if version is None:
            version = self._listed_one(scope, name).version
        if version == 0:
            found = builtin_skills().get(name)
            if found is None:
                raise rows.missing(name)
            return found
        row = self._version_row(scope, name, version)
        return self._bundles.get(name, version, row.digest, row.bundle)

    def pinned(self, scope: Scope, name: str, version: int) -> Skill:
        """A certain version for a call that was planned with it, as long as the skill is in use at all."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.skills).where(_SKILLS.name == name))
        gone = row is not None and (not row.enabled or (row.deleted_at is not None and version))
        if gone:
            raise Conflict(
                f"The skill {name!r} was switched off or deleted since this call was planned.",
                code="skill-disabled",
            )
        return self.get(scope, name, version)

    def versions(self, scope: Scope, name: str) -> list[Version]:
        """Newest first."""
        statement = (
            sa.select(tables.skill_versions)
            .where(_VERSIONS.name == name)
            .order_by(_VERSIONS.version.desc())
        )
        with self._database.read(scope) as tx:
            found = tx.rows(statement)
        if not found and name not in builtin_skills():
            raise rows.missing(name)
        return [rows.version(row) for row in found]

    def diff(self, scope: Scope, name: str, before: int, after: int) -> list[FileChange]:
        old, new = self.get(scope, name, before), self.get(scope, name, after)
        return changes_between(old.files, new.files)

    def check(self, scope: Scope, files: Mapping[str, bytes], name: str | None = None) -> Checked:
        """What is wrong with files that may become a skill, and what is odd about them."""
        return check(safe_files(files), name, self._known_tools(scope))

    def export(self, scope: Scope, name: str, version: int | None = None) -> bytes:
        """A zip with the skill's folder; the same bytes for the same version, always."""
        return pack(self.get(scope, name, version).files, name)

    # Changing

    def save(
        self,
        access: Access,
        name: str,
        files: Mapping[str, bytes],
        revision: int | None = None,
        message: str = "",
    ) -> Listed:
        """A new version in force; what has not changed makes none. `revision` is the one that was read."""
        access.require(Role.editor)
        inside = safe_files(files)
        found = check(inside, name)
        if found.document is None:
            raise refused(found.faults)
        texts = {path: content.decode(errors="replace") for path, content in inside.items()}
        require_no_secrets(self._database.conceal, access.scope, [name, texts, message])
        bundle, digest = self._bundles.put(inside)
        values = {
            "digest": digest,
            "bundle": bundle,
            "description": found.document.description,
            "files": [{"path": path, "size": len(each)} for path, each in inside.items()],
        }
        with self._database.write(access.scope) as tx:
            row = self._row(tx, name)
            rows.refuse_stale(row, name, revision)
            if row is None:
                self._refuse_too_many(tx)
            current = rows.in_force(tx, row) if row is not None else None
            if current is not None and current.digest == digest:
                return self._within(tx, name)
            version = rows.latest(tx, name) + 1
            tx.execute(
                sa.insert(tables.skill_versions).values(
                    name=name,
                    version=version,
                    message=message[:400],
                    author=access.user_id,
                    created_at=self._clock.now(),
                    **values,
                )
            )
            self._set(tx, access, row, name, version=version, deleted_at=None)
            self._events.append(
                tx,
                "skill.saved",
                name,
                _event_data(access, name, version=version, message=message[:400]),
            )
            return self._within(tx, name)

    def bring(
        self, access: Access, archive: bytes, message: str = "", *, replace: bool = False
    ) -> list[Listed]:
        """Imports the skills of a zip."""
        if len(archive) > MOST_ARCHIVE_BYTES:
            raise Invalid(f"The archive is larger than {MOST_ARCHIVE_BYTES:,} bytes.")
        return self.bring_files(access, skills_in(unpack(archive)), message, replace=replace)

    def bring_files(
        self,
        access: Access,
        found: Iterable[tuple[str | None, Mapping[str, bytes]]],
        message: str = "",
        *,
        replace: bool = False,
    ) -> list[Listed]:
        """Imports skills, all or none: every one is checked before the first is saved."""
        access.require(Role.editor)
        wanted: dict[str, Mapping[str, bytes]] = {}
        for folder, files in found:
            checked = check(files, folder)
            if checked.document is None:
                raise refused(checked.faults)
            name = checked.document.name
            if name in wanted:
                raise Invalid(f"The skill {name!r} is there twice.", code="skill-archive")
            wanted[name] = files
        own = {each.name: each for each in self.listed(access.scope) if each.version}
        taken = sorted(own.keys() & wanted.keys())
        if taken and not replace:
            raise Conflict(
                f"The project has {', '.join(taken)} already. To make new versions of them, import with `replace` (in a terminal: --replace).",
                code="skill-exists",
            )
        revisions = {name: self._revision(access.scope, name) for name in wanted}
        return [
            self.save(access, name, files, revisions[name], message or "Imported")
            for name, files in wanted.items()
        ]

    def switch(
        self, access: Access, name: str, revision: int | None = None, *, enabled: bool
    ) -> Listed:
        """On or off; built-in skills are switched for this project alone."""
        access.require(Role.editor)
        self._listed_one(access.scope, name)
        with self._database.write(access.scope) as tx:
            row = self._row(tx, name)
            if revision is not None:
                rows.refuse_stale(row, name, revision)
            first = {"version": 0} if row is None else {}
            self._set(tx, access, row, name, enabled=enabled, **first)
            kind = "skill.enabled" if enabled else "skill.disabled"
            self._events.append(tx, kind, name, _event_data(access, name))
            return self._within(tx, name)

    def delete(self, access: Access, name: str) -> None:
        """Takes the project's own skill away; a built-in one of the same name is seen again."""
        access.require(Role.editor)
        with self._database.write(access.scope) as tx:
            row = self._row(tx, name)
            if row is None or row.deleted_at is not None or not row.version:
                if name in builtin_skills():
                    raise Conflict("A built-in skill cannot be deleted. Switch it off instead.")
                raise rows.missing(name)
            self._set(tx, access, row, name, deleted_at=self._clock.now(), enabled=True)
            self._events.append(tx, "skill.deleted", name, _event_data(access, name))

    def restore(self, access: Access, name: str) -> Listed:
        """Brings a deleted skill back, switched on."""
        access.require(Role.editor)
        with self._database.write(access.scope) as tx:
            row = self._row(tx, name)
            if row is None or row.deleted_at is None or not row.version:
                raise NotFound(f"There is no deleted skill {name!r} in this project.")
            self._set(tx, access, row, name, deleted_at=None, enabled=True)
            told = _event_data(access, name, version=row.version)
            self._events.append(tx, "skill.restored", name, told)
            return self._within(tx, name)

    def restore_version(
        self, access: Access, name: str, version: int, revision: int | None
    ) -> Listed:
        """The content of an earlier version, as a new one."""
        files = self.get(access.scope, name, version).files
        return self.save(access, name, files, revision, f"Version {version} again")

    # Rows

    def _row(self, tx: Transaction, name: str) -> Any:
        return tx.first(sa.select(tables.skills).where(_SKILLS.name == name).with_for_update())

    def _set(self, tx: Transaction, access: Access, row: Any, name: str, **values: Any) -> None:
        values |= {"updated_at": self._clock.now(), "updated_by": access.user_id}
        if "enabled" in values:
            values["enabled"] = int(values["enabled"])
        if row is None:
            first = {"enabled": 1, "revision": 1, **values}
            tx.execute(sa.insert(tables.skills).values(name=name, **first))
            return
        values["revision"] = row.revision + 1
        tx.execute(sa.update(tables.skills).where(_SKILLS.name == name).values(**values))

    def _within(self, tx: Transaction, name: str) -> Listed:
        row, said = rows.found(tx, name).get(name, (None, ""))
        return rows.shown(row, said, name)

    def _listed_one(self, scope: Scope, name: str) -> Listed:
        with self._database.read(scope) as tx:
            return self._within(tx, name)

    def _revision(self, scope: Scope, name: str) -> int | None:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(_SKILLS.revision).where(_SKILLS.name == name))
        return None if row is None else row.revision

    def _version_row(self, scope: Scope, name: str, version: int) -> Any:
        statement = sa.select(tables.skill_versions).where(
            _VERSIONS.name == name, _VERSIONS.version == version
        )
        with self._database.read(scope) as tx:
            row = tx.first(statement)
        if row is None:
            raise NotFound(f"There is no version {version} of a skill {name!r} in this project.")
        return row

    def _refuse_too_many(self, tx: Transaction) -> None:
        count = tx.rows(sa.select(sa.func.count()).select_from(tables.skills))[0][0]
        if count >= MOST_SKILLS:
            raise Conflict(f"A project has at most {MOST_SKILLS} skills; delete some first.")


def _event_data(access: Access, name: str, **more: Any) -> dict[str, Any]:
    """What the event log keeps of a change."""
    return {"name": name, "by": access.user_id, **more}
