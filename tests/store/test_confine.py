"""Scoped transactions: no statement of one project reads or changes another's rows."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.core import MovableClock
from steward.core.errors import Bug
from steward.identity._tables import projects, users
from steward.store import EVERYWHERE, Prepared, Scope, Transaction
from steward.store.eventlog import events
from steward.store.secrets import secrets
from steward.testing import Installation

OURS, THEIRS = Scope("org_1", "prj_ours"), Scope("org_1", "prj_theirs")
ELSEWHERE = Scope("org_2", "prj_elsewhere")

pytestmark = [
    pytest.mark.every_database,
    pytest.mark.filterwarnings("ignore:SELECT statement has a cartesian product"),
]


def _secret(name: str, clock: MovableClock, author: str = "somebody") -> dict[str, Any]:
    now = clock.now()
    return {
        "name": name,
        "key_id": "key",
        "ciphertext": b"x",
        "created_at": now,
        "updated_at": now,
        "updated_by": author,
    }


def _event(name: str, scope: Scope, clock: MovableClock) -> dict[str, Any]:
    return {
        "id": f"evt_{scope.project_id}_{name}"[:40],
        "type": name,
        "source": scope.project_id,
        "subject": scope.project_id,
        "time": clock.now(),
        "data": {},
    }


@pytest.fixture
def filled(installation: Installation, clock: MovableClock) -> Installation:
    """Three projects with rows of the same names; the third in another organisation."""
    for scope in (OURS, THEIRS, ELSEWHERE):
        with installation.steward.database.write(scope) as tx:
            tx.execute(
                sa.insert(secrets),
                [_secret(name, clock, scope.project_id) for name in ("a", "b", scope.project_id)],
            )
            tx.execute(sa.insert(events), [_event(name, scope, clock) for name in ("a", "c")])
    installation.steward.identity.users.create("a@example.com", "a")
    return installation


class _Undo(Exception):
    """Ends a transaction without leaving anything behind."""


def _snapshot(tx: Transaction) -> dict[str, list[Any]]:
    """All rows of all projects but ours."""
    return {
        table.name: sorted(
            repr(row) for row in tx.rows(sa.select(table)) if row.project_id != OURS.project_id
        )
        for table in (secrets, events)
    }


def _try(installation: Installation, work: Callable[[Transaction], None]) -> None:
    try:
        with installation.steward.database.write(EVERYWHERE) as tx:
            work(tx)
            raise _Undo  # what leaves the block decides about its transaction
    except _Undo:
        pass


def test_each_statement_stays_in_its_project(filled: Installation, clock: MovableClock) -> None:
    database = filled.steward.database
    with database.write(OURS) as tx:
        assert {row.updated_by for row in tx.rows(sa.select(secrets))} == {OURS.project_id}
        assert tx.first(sa.select(secrets).where(secrets.c.project_id == THEIRS.project_id)) is None
        assert tx.execute(sa.update(secrets).values(key_id="new")).rowcount == 3
        assert tx.execute(sa.delete(secrets).where(secrets.c.name == "b")).rowcount == 1
        tx.execute(sa.insert(secrets).values(**_secret("made", clock)))
        count = tx.execute(sa.select(sa.func.count()).select_from(secrets)).scalar_one()
        assert count == 3
    for scope in (THEIRS, ELSEWHERE):
        with database.read(scope) as tx:
            rows = tx.rows(sa.select(secrets.c.name, secrets.c.key_id))
        assert {tuple(row) for row in rows} == {
            ("a", "key"),
            ("b", "key"),
            (scope.project_id, "key"),
        }


def test_joins_are_filtered_on_both_sides(filled: Installation) -> None:
    other = secrets.alias("other")
    with filled.steward.database.read(OURS) as tx:
        joined = tx.rows(
            sa.select(secrets.c.updated_by, events.c.subject).join(
                events, events.c.type == secrets.c.name
            )
        )
        assert [tuple(row) for row in joined] == [(OURS.project_id, OURS.project_id)]
        selves = tx.rows(sa.select(secrets.c.project_id, other.c.project_id).join(other, sa.true()))
        assert {tuple(row) for row in selves} == {(OURS.project_id, OURS.project_id)}
        alone = tx.rows(sa.select(other.c.updated_by))
        assert {row.updated_by for row in alone} == {OURS.project_id}


def test_tables_of_an_organisation_stay_in_it(installation: Installation) -> None:
    mine = installation.scope
    identity = installation.steward.identity
    other = identity.projects.create_organisation("Other", installation.owner.user.id)
    identity.projects.create(other.id, "Foreign", installation.owner.user.id)
    with installation.steward.database.write(mine) as tx:
        assert {row.org_id for row in tx.rows(sa.select(projects))} == {mine.org_id}
        assert tx.execute(sa.update(projects).values(name="renamed")).rowcount == 1


@pytest.mark.parametrize("shape", ["values", "one", "many"])
def test_an_insert_cannot_name_another_project(
    filled: Installation, clock: MovableClock, shape: str
) -> None:
    row = {**_secret("new", clock), "project_id": THEIRS.project_id, "org_id": ELSEWHERE.org_id}
    with filled.steward.database.write(OURS) as tx:
        if shape == "values":
            tx.execute(sa.insert(secrets).values(**row))
        else:
            tx.execute(sa.insert(secrets), row if shape == "one" else [row])
    with filled.steward.database.read(EVERYWHERE) as tx:
        [made] = tx.rows(sa.select(secrets).where(secrets.c.name == "new"))
    assert (made.org_id, made.project_id) == (OURS.org_id, OURS.project_id)


def _upsert(dialect: str) -> Any:
    return (postgresql if dialect == "postgresql" else sqlite).insert


def test_an_upsert_renews_only_our_row(filled: Installation, clock: MovableClock) -> None:
    with filled.steward.database.write(OURS) as tx:
        before = tx.narrowed(THEIRS).rows(sa.select(secrets))
        tx.execute(
            _upsert(tx.dialect)(secrets)
            .values(**_secret("a", clock))
            .on_conflict_do_update(index_elements=["project_id", "name"], set_={"key_id": "new"})
        )
        assert tx.narrowed(THEIRS).rows(sa.select(secrets)) == before
        [ours] = tx.rows(sa.select(secrets).where(secrets.c.name == "a"))
        assert ours.key_id == "new"


def _hostile() -> Iterator[tuple[str, Any, Any]]:
    """Statements that would look across projects, were they not refused."""
    other, again = secrets.alias("other"), secrets.alias("again")
    leak = sa.select(sa.func.max(other.c.name)).scalar_subquery()
    own = sa.select(sa.func.max(secrets.c.name)).correlate(None).scalar_subquery()
    named = sa.select(other.c.name.label("leak"))
    yield "subquery in where", sa.select(events).where(events.c.type.in_(named)), None
    yield "subquery of the same table", sa.select(secrets).where(secrets.c.name.in_(named)), None
    yield "scalar subquery", sa.select(secrets.c.name, leak), None
    yield "uncorrelated subquery", sa.select(secrets.c.name, own), None
    yield "exists", sa.select(users).where(sa.exists().where(other.c.name == users.c.name)), None
    yield "derived table", sa.select(named.subquery().c.leak), None
    yield "CTE", sa.select(secrets.c.name, named.cte().c.leak), None
    yield "CTE beside", sa.select(secrets.c.name).add_cte(named.cte()), None
    yield "lateral", sa.select(secrets.c.name, named.lateral().c.leak), None
    yield "order by", sa.select(secrets.c.name).order_by(leak), None
    yield "group by", sa.select(sa.func.count()).select_from(secrets).group_by(leak), None
    yield "having", sa.select(secrets.c.name).group_by(secrets.c.name).having(leak > ""), None
    yield (
        "limit",
        sa.select(secrets.c.name).limit(sa.select(sa.func.count(other.c.name)).scalar_subquery()),
        None,
    )
    yield "case", sa.select(sa.case((secrets.c.name == leak, 1), else_=0)), None
    yield "window", sa.select(sa.func.row_number().over(order_by=leak)).select_from(secrets), None
    yield "join condition", sa.select(secrets.c.name).join(again, again.c.name == leak), None
    yield "function", sa.select(sa.func.upper(leak)), None
    yield "union", sa.union(sa.select(secrets.c.name), sa.select(other.c.name)), None
    yield "text", sa.text("SELECT name FROM secrets"), None
    yield "text columns", sa.select(sa.text("name FROM secrets")), None
    yield "text condition", sa.select(secrets.c.name).where(sa.text("1 = 1 OR 2 = 2")), None
    yield "literal column", sa.select(sa.literal_column("(SELECT max(name) FROM secrets)")), None
    yield "undeclared table", sa.select(sa.table("secrets", sa.column("name")).c.name), None
    yield "suffix", sa.select(secrets.c.name).suffix_with("UNION SELECT name FROM secrets"), None
    yield "prefix", sa.select(secrets.c.name).prefix_with("name FROM secrets --"), None
    yield "filter by parameter", sa.select(secrets.c.name), {"project_id_1": THEIRS.project_id}
    yield "update moves", sa.update(secrets).values(project_id=THEIRS.project_id), None
    yield "update moves org", sa.update(secrets).values({secrets.c.org_id: "org_2"}), None
    yield (
        "update moves in order",
        sa.update(secrets).ordered_values((secrets.c.project_id, "prj_theirs")),
        None,
    )
    yield "update moves by parameter", sa.update(secrets), {"project_id": THEIRS.project_id}
    yield (
        "update from",
        sa.update(secrets).where(secrets.c.name == events.c.type).values(key_id="x"),
        None,
    )
    yield "update reads", sa.update(secrets).values(name=leak), None
    yield "update returns", sa.update(secrets).values(key_id="x").returning(leak), None
    yield "delete using", sa.delete(secrets).where(secrets.c.name == events.c.type), None
    yield "delete by itself", sa.delete(secrets).where(secrets.c.name == other.c.name), None
    yield "delete by subquery", sa.delete(secrets).where(secrets.c.name.in_(named)), None
    yield "unscoped delete by subquery", sa.delete(users).where(users.c.name.in_(named)), None
    yield "insert reads", sa.insert(secrets).values(name=leak), None
    yield "insert from select", sa.insert(secrets).from_select(["name"], named), None
    yield "unscoped insert from select", sa.insert(users).from_select(["name"], named), None
    yield "several rows of values", sa.insert(secrets).values([{"name": "x"}, {"name": "y"}]), None
    renamed = {"index_elements": ["name"], "set_": {"key_id": "x"}}
    moved = {"index_elements": ["project_id", "name"], "set_": {"project_id": "prj_theirs"}}
    read = {"index_elements": ["project_id", "name"], "set_": {"key_id": leak}}
    for dialect in (postgresql, sqlite):
        for what, conflict in (("wide", renamed), ("moving", moved), ("reading", read)):
            insert: Any = dialect.insert(secrets).values(name="x")
            yield (
                f"{what} upsert, {dialect.__name__}",
                insert.on_conflict_do_update(**conflict),
                None,
            )


_HOSTILE = list(_hostile())


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [case[1:] for case in _HOSTILE],
    ids=[case[0] for case in _HOSTILE],
)
@pytest.mark.parametrize("prepared", [False, True], ids=["written anew", "prepared"])
def test_what_could_cross_is_refused(statement: Any, parameters: Any, prepared: bool) -> None:
    """Refused before the database is asked, so no database is needed."""
    tx = Transaction(None, OURS, lambda _, value: value)  # type: ignore[arg-type]
    with pytest.raises(Bug):
        tx.execute(Prepared(statement) if prepared else statement, parameters)


def test_a_prepared_statement_serves_one_project_after_another(
    filled: Installation, clock: MovableClock
) -> None:
    of_name = secrets.c.name == sa.bindparam("wanted")
    find = Prepared(sa.select(secrets).where(of_name))
    change = Prepared(sa.update(secrets).where(of_name).values(key_id=sa.bindparam("key")))
    add = Prepared(sa.insert(secrets))
    for scope in (OURS, THEIRS, ELSEWHERE):
        with filled.steward.database.write(scope) as tx:
            changed = tx.execute(change, {"wanted": "a", "key": scope.project_id})
            assert changed.rowcount == 1
            tx.execute(add, {**_secret("one", clock), "project_id": "prj_elsewhere"})
            tx.execute(add, [_secret("two", clock), _secret("three", clock)])
    for scope in (OURS, THEIRS, ELSEWHERE):
        with filled.steward.database.read(scope) as tx:
            [found] = tx.rows(find, {"wanted": "a"})
            assert (found.key_id, found.org_id) == (scope.project_id, scope.org_id)
            assert all(len(tx.rows(find, {"wanted": n})) == 1 for n in ("one", "two", "three"))
            with pytest.raises(Bug):
                tx.rows(find, {"wanted": "a", "confined_to_project_id": THEIRS.project_id})


def test_a_statement_of_no_project_table_may_have_subqueries(filled: Installation) -> None:
    inner = sa.select(sa.func.max(users.c.name)).scalar_subquery()
    with filled.steward.database.read(OURS) as tx:
        [found] = tx.rows(sa.select(users.c.email).where(users.c.name == inner))
    assert found.email == "a@example.com"


def test_a_scope_is_needed_where_one_makes_sense(installation: Installation) -> None:
    with installation.steward.database.read(EVERYWHERE) as tx, pytest.raises(Bug):
        _ = tx.project


# Generated statements. What a project sees must not depend on what others have: every statement
# gives the same answer with and without the others' rows, and leaves those rows as they were.

_TEXT_COLUMNS = {
    secrets: ("name", "updated_by", "project_id", "org_id", "key_id"),
    events: ("type", "subject", "project_id", "org_id", "id"),
    users: ("name", "email"),
}
_VALUES = ["a", "b", "c", "prj_ours", "prj_theirs", "prj_elsewhere", "org_1", "org_2"]


class _Statements:
    """Makes statements at random; the same seed makes the same one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def select(self) -> Any:
        chance = self._random
        tables = chance.choices(list(_TEXT_COLUMNS), k=chance.randint(1, 3))
        sources = [
            table if tables.index(table) == number and chance.random() < 0.5 else table.alias()
            for number, table in enumerate(tables)
        ]
        columns: list[Any] = []
        joined: Any = None
        for source, table in zip(sources, tables, strict=True):
            columns += [source.c[name] for name in _TEXT_COLUMNS[table]]
            if joined is None:
                joined = source
                continue
            outer = chance.random() < 0.5
            joined = joined.join(source, self._condition(columns), isouter=outer)
        if chance.random() < 0.2:
            counted = sa.select(sa.func.count()).select_from(joined)
            return counted.where(self._condition(columns))
        chosen = [c.label(f"c{n}") for n, c in enumerate(chance.choices(columns, k=2))]
        statement: Any = sa.select(*chosen).select_from(joined)
        if chance.random() < 0.8:
            statement = statement.where(self._condition(columns))
        if chance.random() < 0.3:
            return statement.distinct()
        if chance.random() < 0.3:
            return statement.add_columns(sa.func.count()).group_by(*chosen)
        return statement.order_by(*chosen)

    def write(self) -> Any:
        table = self._random.choice([secrets, events])
        columns = [table.c[name] for name in _TEXT_COLUMNS[table]]
        condition = self._condition(columns)
        if self._random.random() < 0.5:
            return sa.delete(table).where(condition)
        changed = "key_id" if table is secrets else "subject"
        value = self._random.choice([*_VALUES, *columns])
        return sa.update(table).where(condition).values({changed: value})

    def _condition(self, columns: Sequence[Any], depth: int = 2) -> Any:
        chance = self._random
        one, other = chance.choice(columns), chance.choice(columns)
        made: list[Callable[[], Any]] = [
            lambda: one == chance.choice(_VALUES),
            lambda: one != chance.choice(_VALUES),
            lambda: one == other,
            lambda: one.in_(chance.sample(_VALUES, 3)),
            lambda: one.is_(None),
            sa.true,
        ]
        if depth:
            inner = [self._condition(columns, depth - 1) for _ in range(2)]
            made += [lambda: sa.or_(*inner), lambda: sa.and_(*inner), lambda: sa.not_(inner[0])]
        return chance.choice(made)()


def test_generated_reads_do_not_depend_on_others(
    filled: Installation, effort: Callable[[int, int], int]
) -> None:
    def answers(tx: Transaction, statement: Any) -> list[Any]:
        rows = tx.narrowed(OURS).rows(statement)
        prepared = tx.narrowed(OURS).rows(Prepared(statement))
        assert sorted(map(repr, rows)) == sorted(map(repr, prepared)), statement
        return sorted(tuple("" if cell is None else cell for cell in row) for row in rows)

    statements = [_Statements(seed).select() for seed in range(effort(150, 5000))]
    seen: list[list[Any]] = []

    def work(tx: Transaction) -> None:
        seen.extend(answers(tx, statement) for statement in statements)
        for table in (secrets, events):
            tx.execute(sa.delete(table).where(table.c.project_id != OURS.project_id))
        for seed, (statement, with_others) in enumerate(zip(statements, seen, strict=True)):
            assert answers(tx, statement) == with_others, f"seed {seed}: {statement}"

    _try(filled, work)
    assert sum(map(bool, seen)) > len(statements) / 3, "most statements find something"


def test_generated_writes_leave_others_alone(
    filled: Installation, effort: Callable[[int, int], int]
) -> None:
    changed = 0
    for seed in range(effort(40, 2000)):

        def work(tx: Transaction, seed: int = seed) -> None:
            nonlocal changed
            before = _snapshot(tx)
            statement = _Statements(seed).write()
            changed += tx.narrowed(OURS).execute(statement).rowcount
            assert _snapshot(tx) == before, f"seed {seed}: {statement}"

        _try(filled, work)
    assert changed > 0
