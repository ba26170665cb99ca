"""Maps columns of all tables to the fields of an entity, with cleaning, comparison, survival."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

from steward.analysis.resolve.columns import ColumnFacts, bare_name, look
from steward.analysis.resolve.comparing import (
    ADDRESS,
    count_comparison,
    mail_comparison,
    place_comparison,
    swapped,
    usage_of,
    usual_comparison,
)
from steward.analysis.resolve.pairing import Pairing, pairings
from steward.analysis.resolve.references import SharedNumber, agreements, shared_numbers
from steward.analysis.resolve.roles import is_id_like, moment_of, names_people, role_of, row_key_of
from steward.analysis.resolve.rules import (
    MAX_FIELDS,
    RESERVED,
    Columns,
    Comparison,
    FieldRule,
    Role,
    Source,
    Survivor,
    Survivorship,
)
from steward.tables import Table

_FALLBACKS: frozenset[Role] = frozenset({"email", "phone", "email_domain"})
_COMPARED: tuple[Role, ...] = (
    *("tax_id", "identifier", "bank_account", "email", "email_domain", "phone", "birth_date"),
    *("company", "person_name", "given_name", "family_name", "street", "street_number"),
    *("address_detail", "postcode", "city", "region", "country"),
)
_PEOPLE: tuple[Role, ...] = ("given_name", "family_name", "birth_date", "email")
# With fewer comparisons than this by role, the other columns are compared too.
ENOUGH = 3
MOSTLY = 0.5
_PLAIN_NAME = re.compile(r"[^a-z0-9]+")
LONGEST_CARRIED = 300
DETERMINED = 0.7


@dataclass(frozen=True)
class View:
    """The tables as the proposal sees them."""

    tables: dict[str, Table]
    facts: dict[str, tuple[ColumnFacts, ...]]
    roles: dict[str, dict[str, Role]]
    numbers: tuple[SharedNumber, ...]
    pairings: tuple[Pairing, ...]

    def columns(self, table: str, role: Role) -> list[str]:
        """The columns of a role: in the table's order, those hardly filled last."""
        found = [one for one in self.facts[table] if self.roles[table][one.name] == role]
        most = max((one.filled for one in found), default=0)
        return [one.name for one in sorted(found, key=lambda one: one.filled < 0.5 * most)]

    def with_role(self, role: Role) -> dict[str, list[str]]:
        found = {table: self.columns(table, role) for table in self.tables}
        return {table: names for table, names in found.items() if names}

    @property
    def entity(self) -> Literal["person", "organisation", "thing"]:
        """What most rows are about: a company or a person where most rows name one, else a thing."""
        if self._mostly("company"):
            return "organisation"
        named = any(self._mostly(role) for role in ("person_name", "given_name", "family_name"))
        return "person" if named or self._mostly("email") else "thing"

    def _mostly(self, role: Role) -> bool:
        """Whether every table that has such a column fills it in most rows, and one does have it."""
        tables = self.with_role(role)
        return bool(tables) and all(
            max(one.fill for one in self.facts[table] if one.name in names) >= MOSTLY
            for table, names in tables.items()
        )


def view_of(connection: duckdb.DuckDBPyConnection, tables: Sequence[Table]) -> View:
    facts = {table.name: look(connection, table) for table in tables}
    roles = {table: {one.name: role_of(one) for one in columns} for table, columns in facts.items()}
    by_name = {table.name: table for table in tables}
    _agree_on_roles(facts, roles)
    loose = _with_roles(facts, roles, {"other"})
    numbers = shared_numbers(connection, by_name, loose)
    taken = {pair for number in numbers for pair in number.columns.items()}
    taken |= {(table, row_key_of(columns) or "") for table, columns in facts.items()}
    taken |= {(table, moment_of(columns) or "") for table, columns in facts.items()}
    open_ = [
        one
        for one in _with_roles(facts, roles, {"other", "text"})
        if (one.table, one.name) not in taken
    ]
    return View(by_name, facts, roles, numbers, pairings(connection, by_name, open_))


def _with_roles(
    facts: dict[str, tuple[ColumnFacts, ...]], roles: dict[str, dict[str, Role]], wanted: set[Role]
) -> list[ColumnFacts]:
    return [
        one
        for table, columns in facts.items()
        for one in columns
        if roles[table][one.name] in wanted
    ]


def _agree_on_roles(
    facts: dict[str, tuple[ColumnFacts, ...]], roles: dict[str, dict[str, Role]]
) -> None:
    """A bare `name` is a person's only where something else speaks of people; and what is called the same in two
    tables has the role that one of them shows."""
    people = [one for one in _with_roles(facts, roles, {"person_name"}) if names_people(one)]
    if not people and not any(
        one.fill >= MOSTLY for one in _with_roles(facts, roles, set(_PEOPLE))
    ):
        for one in _with_roles(facts, roles, {"person_name"}):
            roles[one.table][one.name] = "text"
    known: dict[tuple[str, ...], Role] = {}
    for columns in facts.values():
        for one in columns:
            if roles[one.table][one.name] not in {"other", "text"}:
                known.setdefault(one.words, roles[one.table][one.name])
    for one in _with_roles(facts, roles, {"other", "text"}):
        if one.filled and one.words in known and not one.numeric:
            roles[one.table][one.name] = known[one.words]


def fields(view: View, sources: Sequence[Source]) -> tuple[FieldRule, ...]:
    """Compared fields first, then what the golden record carries along."""
    found: dict[Role, FieldRule] = {}
    apart: set[Role] = {"person_name", "given_name", "family_name"}
    for role in _COMPARED:
        columns = view.with_role(role)
        lonely = len(view.tables) > 1 and len(columns) < 2 and view.entity == "thing"
        if columns and role not in apart and not lonely:
            found[role] = _field(role, columns)
    found |= _names(view)
    if view.entity == "organisation" and "email" in found:
        found["email_domain"] = _domain(view)
    compared = [found[role] for role in _COMPARED if role in found]
    numbers = _numbers(view, sources)
    generic: tuple[FieldRule, ...] = ()
    across = [one for one in compared if len(one.columns) > 1 or len(view.tables) == 1]
    if view.entity == "thing" or len(across) < ENOUGH:
        generic = _paired(view, sources)
    named: list[FieldRule] = []
    for field in (*numbers, *compared, *generic):
        name = _unused(field.name, {one.name for one in named}, field.role)
        named.append(field.model_copy(update={"name": name}))
    carried = _carried(view, sources, named, {field.name for field in named})
    return (*named, *carried)[:MAX_FIELDS]


def comparisons(
    connection: duckdb.DuckDBPyConnection, view: View, found: Sequence[FieldRule]
) -> tuple[Comparison, ...]:
    by_role: dict[Role, str] = {field.role: field.name for field in found if field.role != "other"}
    made: list[Comparison] = []
    nested = _nested_places(connection, view, by_role)
    for field in found:
        if field.role == "other" or field.name in nested or _covered(field.role, by_role):
            continue
        comparison = usual_comparison(field.name, field.role)
        if field.role == "number" and _counts(view, field):
            comparison = count_comparison(field.name)
        if field.role == "email" and "email_domain" in by_role:
            comparison = mail_comparison(field.name, by_role["email_domain"])
        elif field.role == "postcode" and nested:
            comparison = place_comparison(field.name, nested)
        elif field.role == "given_name" and "family_name" in by_role:
            comparison = swapped(comparison, by_role["family_name"])
        elif field.role == "family_name" and "given_name" in by_role:
            comparison = swapped(comparison, by_role["given_name"])
        made.append(comparison)
    return tuple(made)


def survivorship(found: Sequence[FieldRule], sources: Sequence[Source]) -> tuple[Survivorship, ...]:
    """An address survives whole, and so does a name; all else by itself."""
    dated = all(source.updated and not source.party_key for source in sources)
    newest: Survivor = "newest" if dated else "most_frequent"
    golden = [field for field in found if field.golden]
    groups: list[Survivorship] = []
    for roles in (("given_name", "family_name"), ADDRESS):
        names = tuple(field.name for field in golden if field.role in roles)
        if names:
            whole: Survivor = "newest" if dated else "most_complete"
            rule: Survivor = whole if roles == ADDRESS else "most_frequent"
            groups.append(Survivorship(fields=names, rule=rule))
    grouped = {name for group in groups for name in group.fields}
    for field in golden:
        if field.name in grouped:
            continue
        alone: Survivor = "most_frequent"
        if field.role == "identifier":
            alone = "source_order"
        elif field.role == "other":
            alone = newest
        groups.append(Survivorship(fields=(field.name,), rule=alone))
    return tuple(groups)


def _field(role: Role, columns: dict[str, list[str]]) -> FieldRule:
    chosen: dict[str, tuple[Columns, ...]] = {
        table: tuple(names if role in _FALLBACKS else names[:1]) for table, names in columns.items()
    }
    first = {names[0] for names in columns.values()}
    name = plain_name(next(iter(first))) if len(first) == 1 else role
    return FieldRule(
        name=name,
        role=role,
        columns=chosen,
        clean=usage_of(role).clean,
        golden=role != "email_domain",
    )


def _paired(view: View, sources: Sequence[Source]) -> tuple[FieldRule, ...]:
    """What has no role, compared as the text, number, code or date that it is."""
    listed = {source.table for source in sources if not source.party_key}
    return tuple(
        FieldRule(
            name=plain_name(one.name),
            role=one.role,
            columns={table: (name,) for table, name in one.columns.items()},
            clean=usage_of(one.role).clean,
        )
        for one in view.pairings
        if set(one.columns) <= listed
    )


def _counts(view: View, field: FieldRule) -> bool:
    """Whether a number counts or dates something: whole and short."""
    return all(
        one.shares["digits"] >= 0.85 and one.length <= 4.5
        for table in field.columns
        for one in view.facts[table]
        if one.name in field.column_names(table)
    )


def _names(view: View) -> dict[Role, FieldRule]:
    """First and last names apart where all tables have them so, otherwise whole names."""
    given, family = view.with_role("given_name"), view.with_role("family_name")
    whole = {
        table: names
        for table, names in view.with_role("person_name").items()
        if table not in family
    }
    if not whole and view.entity != "organisation":
        parts: dict[Role, dict[str, list[str]]] = {"given_name": given, "family_name": family}
        return {role: _field(role, columns) for role, columns in parts.items() if columns}
    columns: dict[str, tuple[Columns, ...]] = {table: (names[0],) for table, names in whole.items()}
    for table in view.tables:
        parts_here = [*given.get(table, [])[:1], *family.get(table, [])[:1]]
        if parts_here and table not in columns:
            columns[table] = (tuple(parts_here),)
    if not columns:
        return {}
    ordered = {table: columns[table] for table in view.tables if table in columns}
    rule = FieldRule(
        name="person_name", role="person_name", columns=ordered, clean=usage_of("person_name").clean
    )
    return {"person_name": rule}


def _domain(view: View) -> FieldRule:
    """The house behind the addresses: of a web site where there is one, else of the mail."""
    columns: dict[str, tuple[Columns, ...]] = {}
    for table in view.tables:
        names = [*view.columns(table, "email_domain"), *view.columns(table, "email")]
        if names:
            columns[table] = tuple(names)
    return FieldRule(
        name="email_domain",
        role="email_domain",
        columns=columns,
        clean=usage_of("email_domain").clean,
        golden=False,
    )


def _numbers(view: View, sources: Sequence[Source]) -> tuple[FieldRule, ...]:
    """Numbers that tables share, and numbers that repeat inside a table of parties."""
    columns: list[tuple[str, dict[str, tuple[Columns, ...]]]] = [
        (
            _home(number, sources),
            {table: (number.columns[table],) for table in view.tables if table in number.columns},
        )
        for number in view.numbers
    ]
    used = {pair for number in view.numbers for pair in number.columns.items()}
    for source in sources:
        if source.party_key:
            continue
        for one in view.facts[source.table]:
            loose = (
                view.roles[source.table][one.name] == "other"
                and (source.table, one.name) not in used
            )
            if (
                loose
                and is_id_like(one)
                and not one.unique
                and one.variety >= 0.5
                and one.fill >= 0.3
            ):
                columns.append((one.name, {source.table: (one.name,)}))
    rules: list[FieldRule] = []
    for name, where in columns:
        unique = _unused(plain_name(name), {rule.name for rule in rules})
        rules.append(
            FieldRule(
                name=unique, role="identifier", columns=where, clean=usage_of("identifier").clean
            )
        )
    return tuple(rules)


def _home(number: SharedNumber, sources: Sequence[Source]) -> str:
    """The name of a number where it marks rows or parties, else where it is used most."""
    for source in sources:
        column = number.columns.get(source.table)
        if column is not None and (column == source.row_key or column in source.party_key):
            return column
    return number.name


def _carried(
    view: View, sources: Sequence[Source], found: Sequence[FieldRule], taken: set[str]
) -> tuple[FieldRule, ...]:
    """The remaining columns of tables of parties, for the golden record only."""
    carried = []
    for source in sources:
        if source.party_key:
            continue
        used = {name for field in found for name in field.column_names(source.table)}
        for one in view.facts[source.table]:
            long = one.length > LONGEST_CARRIED
            if one.name in used or one.name == source.row_key or long or not one.filled:
                continue
            name = _unused(plain_name(one.name), taken, plain_name(source.table))
            taken.add(name)
            carried.append(FieldRule(name=name, role="other", columns={source.table: (one.name,)}))
    return tuple(carried)


def _nested_places(
    connection: duckdb.DuckDBPyConnection, view: View, by_role: dict[Role, str]
) -> tuple[str, ...]:
    """Town and country, where the postcode says which; compared as one then."""
    if "postcode" not in by_role or "city" not in by_role:
        return ()
    for table in view.tables:
        postcodes, cities = view.columns(table, "postcode"), view.columns(table, "city")
        if not postcodes or not cities:
            continue
        facts = {one.name: one for one in view.facts[table]}
        key, city = facts[postcodes[0]], facts[cities[0]]
        shares = agreements(connection, view.tables[table], [key], [city])
        if shares.get((key.name, city.name), 1.0) < DETERMINED:
            return ()
    wider: tuple[Role, ...] = ("city", "country")
    return tuple(by_role[role] for role in wider if role in by_role)


def _covered(role: Role, by_role: dict[Role, str]) -> bool:
    return role == "email_domain" and "email" in by_role


def plain_name(name: str) -> str:
    """A column's name in the letters that field names have."""
    plain = _PLAIN_NAME.sub("_", bare_name(name).lower()).strip("_")[:50]
    fit = plain and plain[0].isalpha() and plain not in RESERVED
    if not fit or plain.startswith("rows_from_"):
        return f"column_{plain}".rstrip("_")
    return plain


def _unused(name: str, taken: set[str], prefix: str = "") -> str:
    if name in taken and prefix:
        name = f"{prefix}_{name}"[:55]
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
