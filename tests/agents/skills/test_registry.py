"""The registry: versions, switches, shadows and archives, in one project and not in another."""

import pytest

from steward.agents.skills import Origin, Skills
from steward.agents.skills.archives import pack, unpack
from steward.core.errors import (
    Conflict,
    Denied,
    Invalid,
    NotFound,
    RevisionRequired,
    Stale,
)
from steward.identity import Access, Role
from steward.store import Scope
from steward.testing import Installation
from tests.agents.skills.folders import SKILL, greeting, plain

pytestmark = pytest.mark.every_database


@pytest.fixture
def skills(installation: Installation) -> Skills:
    return installation.steward.skills


@pytest.fixture
def access(installation: Installation) -> Access:
    return installation.owner.access


@pytest.fixture
def scope(access: Access) -> Scope:
    return access.scope


def names(skills: Skills, scope: Scope) -> list[str]:
    return [card.name for card in skills.catalogue(scope)]


def test_three_stages(skills: Skills, access: Access, scope: Scope) -> None:
    skills.save(access, "greeting", greeting())
    card = next(card for card in skills.catalogue(scope) if card.name == "greeting")
    assert (card.description, card.origin) == (
        "Says hello. Use when somebody arrives.",
        Origin.project,
    )
    skill = skills.open(scope, "greeting")
    assert skill.body.startswith("# Greeting")
    assert skill.references == ("references/words.md", "scripts/greet.py")
    assert skills.reference(scope, "greeting", "references/words.md") == "Hello, welcome.\n"
    assert "skill.greeting.greet" in skills.instructions(scope, "greeting")
    for path in ("../SKILL.md", "/etc/passwd", "references/../SKILL.md", "no.md"):
        with pytest.raises(NotFound):
            skills.reference(scope, "greeting", path)


def test_a_reference_is_cut_for_prompts(skills: Skills, access: Access, scope: Scope) -> None:
    skills.save(access, "greeting", {**greeting(), "references/long.md": ("é" * 20_000).encode()})
    text = skills.reference(scope, "greeting", "references/long.md")
    assert len(text.encode()) <= 16 * 1024
    assert text.endswith("[cut here; the file has 40,000 bytes]")
    skills.save(access, "greeting", {**greeting(), "assets/a.png": b"\x89PNG\0"}, 1)
    with pytest.raises(Invalid, match="not a text"):
        skills.reference(scope, "greeting", "assets/a.png")


def test_every_edit_is_a_version_and_the_same_content_is_none(
    skills: Skills, access: Access, scope: Scope
) -> None:
    first = skills.save(access, "greeting", greeting(), message="Begun")
    assert (first.version, first.revision) == (1, 1)
    changed = greeting(SKILL_dot_md=SKILL.replace("Be kind", "Be very kind"))
    second = skills.save(access, "greeting", changed, first.revision, "Kinder")
    assert (second.version, second.revision) == (2, 2)
    assert skills.save(access, "greeting", changed, 2).version == 2
    found = skills.versions(scope, "greeting")
    assert [(v.version, v.message, v.author) for v in found] == [
        (2, "Kinder", access.user_id),
        (1, "Begun", access.user_id),
    ]
    (change,) = skills.diff(scope, "greeting", 1, 2)
    assert (change.path, change.kind) == ("SKILL.md", "changed")
    assert [line for line in change.lines if line[0] in "+-"] == [
        "-Be kind. See [the words](references/words.md).",
        "+Be very kind. See [the words](references/words.md).",
    ]
    restored = skills.restore_version(access, "greeting", 1, 2)
    assert restored.version == 3
    assert skills.get(scope, "greeting").digest == skills.get(scope, "greeting", 1).digest


def test_nobody_s_change_is_lost(skills: Skills, access: Access) -> None:
    skills.save(access, "greeting", greeting())
    changed = greeting(references__words_dot_md="Hi.")
    with pytest.raises(RevisionRequired):
        skills.save(access, "greeting", changed)
    with pytest.raises(Stale):
        skills.save(access, "greeting", changed, 7)
    with pytest.raises(Stale):
        skills.save(access, "other", {"SKILL.md": plain("other").encode()}, 1)
    with pytest.raises(Stale):
        skills.switch(access, "greeting", 9, enabled=False)


def test_what_is_wrong_is_not_saved(skills: Skills, access: Access, scope: Scope) -> None:
    with pytest.raises(Invalid, match=r"SKILL\.md:2: the name is 'greeting'"):
        skills.save(access, "farewell", greeting())
    with pytest.raises(Invalid, match=r"scripts/greet\.py:1"):
        skills.save(access, "greeting", greeting(scripts__greet_dot_py="x = 1\n"))
    assert "greeting" not in names(skills, scope)


def test_switched_off_it_is_seen_by_people_and_not_by_prompts(
    skills: Skills, access: Access, scope: Scope
) -> None:
    skills.save(access, "greeting", greeting())
    skills.switch(access, "greeting", enabled=False)
    assert "greeting" not in names(skills, scope)
    assert "greeting" in [each.name for each in skills.listed(scope)]
    with pytest.raises(Conflict, match="switched off"):
        skills.open(scope, "greeting")
    skills.switch(access, "greeting", enabled=True)
    assert skills.open(scope, "greeting").version == 1


def test_built_in_skills_are_switched_and_shadowed_for_one_project(
    installation: Installation, skills: Skills, access: Access, scope: Scope
) -> None:
    other = Scope(scope.org_id, installation.project("Second"))
    skills.switch(access, "chart-choice", enabled=False)
    assert "chart-choice" not in names(skills, scope)
    assert "chart-choice" in names(skills, other)
    own = {"SKILL.md": plain("chart-choice", description="Ours.").encode()}
    saved = skills.save(access, "chart-choice", own, 1)
    assert (saved.shadows, saved.origin, saved.version) == (True, Origin.project, 1)
    skills.switch(access, "chart-choice", enabled=True)
    assert skills.open(scope, "chart-choice").description == "Ours."
    assert skills.open(other, "chart-choice").origin is Origin.builtin
    assert skills.diff(scope, "chart-choice", 0, 1)
    skills.delete(access, "chart-choice")
    assert skills.open(scope, "chart-choice").origin is Origin.builtin
    with pytest.raises(Conflict, match="Switch it off instead"):
        skills.delete(access, "chart-choice")
    assert skills.restore(access, "chart-choice").origin is Origin.project


def test_deleted_is_restorable(skills: Skills, access: Access, scope: Scope) -> None:
    skills.save(access, "greeting", greeting())
    skills.delete(access, "greeting")
    with pytest.raises(NotFound):
        skills.open(scope, "greeting")
    assert [each.name for each in skills.listed(scope, deleted=True)] == ["greeting"]
    assert skills.restore(access, "greeting").version == 1
    assert skills.open(scope, "greeting").version == 1
    skills.delete(access, "greeting")
    # Made anew, it goes on counting: no version is ever two contents.
    again = skills.save(access, "greeting", greeting(references__words_dot_md="Hi."))
    assert again.version == 2


def test_another_project_sees_nothing(
    installation: Installation, skills: Skills, access: Access
) -> None:
    other = Scope(access.scope.org_id, installation.project("Second"))
    skills.save(access, "greeting", greeting())
    skills.save(access, "farewell", {"SKILL.md": plain("farewell").encode()})
    skills.delete(access, "farewell")
    assert "greeting" not in [each.name for each in skills.listed(other)]
    assert skills.listed(other, deleted=True) == []
    for look in (
        lambda: skills.open(other, "greeting"),
        lambda: skills.get(other, "greeting", 1),
        lambda: skills.pinned(other, "greeting", 1),
        lambda: skills.versions(other, "greeting"),
        lambda: skills.diff(other, "greeting", 1, 1),
        lambda: skills.export(other, "greeting"),
        lambda: skills.reference(other, "greeting", "references/words.md"),
    ):
        with pytest.raises(NotFound):
            look()


def test_only_editors_change_skills(installation: Installation, skills: Skills) -> None:
    operator = installation.person(Role.operator).access
    for change in (
        lambda: skills.save(operator, "greeting", greeting()),
        lambda: skills.switch(operator, "chart-choice", enabled=False),
        lambda: skills.delete(operator, "greeting"),
        lambda: skills.restore(operator, "greeting"),
        lambda: skills.bring(operator, pack(greeting(), "greeting")),
    ):
        with pytest.raises(Denied):
            change()


def test_out_and_in_again(skills: Skills, access: Access, scope: Scope) -> None:
    skills.save(access, "greeting", greeting())
    content = skills.export(scope, "greeting")
    assert content == skills.export(scope, "greeting", 1)
    assert set(unpack(content)) == {f"greeting/{path}" for path in greeting()}
    with pytest.raises(Conflict, match="greeting already"):
        skills.bring(access, content)
    assert [each.version for each in skills.bring(access, content, replace=True)] == [1]
    skills.delete(access, "greeting")
    (back,) = skills.bring(access, content)
    assert skills.export(scope, back.name) == content


def test_an_import_is_all_or_nothing(skills: Skills, access: Access, scope: Scope) -> None:
    files = {f"greeting/{path}": each for path, each in greeting().items()}
    with pytest.raises(Invalid, match="folder 'wrong'"):
        skills.bring(access, pack({**files, "wrong/SKILL.md": plain("right").encode()}))
    with pytest.raises(Invalid, match="twice"):
        skills.bring(access, pack({**files, **{f"b/{p}": c for p, c in files.items()}}))
    assert "greeting" not in names(skills, scope)


def test_what_happened_is_in_the_log(
    installation: Installation, skills: Skills, access: Access, scope: Scope
) -> None:
    skills.save(access, "greeting", greeting())
    skills.switch(access, "greeting", enabled=False)
    skills.delete(access, "greeting")
    skills.restore(access, "greeting")
    found = installation.steward.events.after(scope, 0)
    kinds = [event.type.rpartition("skill.")[2] for event in found if ".skill." in event.type]
    assert kinds == ["saved", "disabled", "deleted", "restored"]
