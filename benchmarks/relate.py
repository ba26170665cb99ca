"""Keys and foreign keys that `relate` finds, against those that were planted or declared.

Three kinds of data: the samples (planted truths), TPC-H (declared keys) and generated schemas of 50 tables full of
decoys: dense numbers that fit everywhere, counts named after tables, foreign numbering systems, columns that are
unique by accident. A proposed key or foreign key that is not in the truth counts as invented.
Longer than most files because the three truths are told here in full.
"""

import argparse
import importlib.util
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import duckdb
from relate_sets import DATABASES, set_aside  # type: ignore[import-not-found]

from scripts.samples import generate
from steward.analysis.relate import Relations, relate
from steward.tables.engine import session
from steward.tables.table import Table, describe, literal, quote

Key = tuple[str, tuple[str, ...]]
ForeignKey = tuple[str, tuple[str, ...], str, tuple[str, ...]]


@dataclass
class Truth:
    keys: set[Key] = field(default_factory=set)
    foreign_keys: set[ForeignKey] = field(default_factory=set)


@dataclass(frozen=True)
class Score:
    name: str
    tables: int
    rows: int
    found: int
    missed: tuple[str, ...]
    invented: tuple[str, ...]
    cpu: float


def table_of(connection: duckdb.DuckDBPyConnection, name: str) -> Table:
    source = quote(name)
    return Table(name, source, describe(connection, source))


def judge(
    connection: duckdb.DuckDBPyConnection, name: str, tables: Sequence[Table], truth: Truth
) -> Score:
    started = time.process_time()
    relations = relate(connection, tables)
    cpu = time.process_time() - started
    keys, foreign = proposed(relations)
    missed = sorted(map(shown_key, truth.keys - keys))
    missed += sorted(map(shown_foreign, truth.foreign_keys - foreign))
    invented = sorted(map(shown_key, keys - truth.keys))
    invented += sorted(map(shown_foreign, foreign - truth.foreign_keys))
    found = len(truth.keys & keys) + len(truth.foreign_keys & foreign)
    rows = sum(node.rows for node in relations.graph.nodes)
    return Score(name, len(tables), rows, found, tuple(missed), tuple(invented), cpu)


def proposed(relations: Relations) -> tuple[set[Key], set[ForeignKey]]:
    keys = {(key.table, key.columns) for key in relations.keys if key.primary}
    foreign = {
        (each.table, each.columns, each.referenced_table, each.referenced_columns)
        for each in relations.relationships
        if each.kind in {"foreign key", "reference"}
    }
    return keys, foreign


def shown_key(key: Key) -> str:
    return f"key {key[0]}({', '.join(key[1])})"


def shown_foreign(each: ForeignKey) -> str:
    return f"{each[0]}({', '.join(each[1])}) → {each[2]}({', '.join(each[3])})"


# ---- the samples ------------------------------------------------------------------------------


def samples() -> Score:
    made = generate()
    truth = Truth(
        {(key.dataset, key.columns) for key in made.truth.keys},
        {
            (each.dataset, (each.column,), each.target_dataset, (each.target_column,))
            for each in made.truth.foreign_keys
        },
    )
    with session() as connection, tempfile.TemporaryDirectory() as folder:
        for dataset in made.datasets:
            path = Path(folder) / dataset.filename
            path.write_text(dataset.content.decode(dataset.encoding), encoding="utf-8")
            connection.execute(
                f"CREATE TABLE {quote(dataset.name)} AS SELECT * FROM read_csv({literal(str(path))}, "
                f"delim={literal(dataset.delimiter)}, decimal_separator={literal(dataset.decimal)}, header=true)"
            )
        tables = [table_of(connection, dataset.name) for dataset in made.datasets]
        return judge(connection, "samples", tables, truth)


# ---- TPC-H ------------------------------------------------------------------------------------

TPCH_KEYS = {
    "region": "r_regionkey",
    "nation": "n_nationkey",
    "supplier": "s_suppkey",
    "customer": "c_custkey",
    "part": "p_partkey",
    "partsupp": "ps_partkey ps_suppkey",
    "orders": "o_orderkey",
    "lineitem": "l_orderkey l_linenumber",
}
TPCH_FOREIGN_KEYS = """
nation n_regionkey region r_regionkey
supplier s_nationkey nation n_nationkey
customer c_nationkey nation n_nationkey
partsupp ps_partkey part p_partkey
partsupp ps_suppkey supplier s_suppkey
orders o_custkey customer c_custkey
lineitem l_orderkey orders o_orderkey
lineitem l_partkey part p_partkey
lineitem l_suppkey supplier s_suppkey
lineitem l_partkey,l_suppkey partsupp ps_partkey,ps_suppkey
"""


def tpch(scale: float) -> Score:
    truth = Truth({(table, tuple(columns.split())) for table, columns in TPCH_KEYS.items()})
    for line in TPCH_FOREIGN_KEYS.strip().splitlines():
        table, columns, other, others = line.split()
        truth.foreign_keys.add((table, tuple(columns.split(",")), other, tuple(others.split(","))))
    with session() as connection, tempfile.TemporaryDirectory() as folder:
        extension = tpch_extension(Path(folder))
        if extension is None:
            maker = "own generator"
            own_tpch(connection, scale)
        else:
            maker = "dbgen of duckdb-extension-tpch"
            connection.execute(f"LOAD {literal(str(extension))}")
            connection.execute(f"CALL dbgen(sf={scale})")
        tables = [table_of(connection, name) for name in TPCH_KEYS]
        return judge(connection, f"TPC-H SF {scale} ({maker})", tables, truth)


def tpch_extension(folder: Path) -> Path | None:
    """The extension file of the installed package, or of one installed for this run only."""
    spec = importlib.util.find_spec("duckdb_extension_tpch")
    places = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    pip = shutil.which("pip")
    if not places and pip:
        wanted = f"duckdb-extension-tpch=={duckdb.__version__}"
        command = [pip, "install", "--quiet", "--no-deps", "--target", str(folder), wanted]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            places = [folder]
    return next((file for place in places for file in place.rglob("tpch.duckdb_extension")), None)


def own_tpch(connection: duckdb.DuckDBPyConnection, scale: float) -> None:
    """Tables with TPC-H's keys, ranges and sparse order numbers, for machines without dbgen."""
    suppliers, parts = max(10, int(10_000 * scale)), max(40, int(200_000 * scale))
    customers, orders = max(30, int(150_000 * scale)), max(300, int(1_500_000 * scale))
    statements = f"""
    CREATE TABLE region AS SELECT i AS r_regionkey, 'REGION ' || chr((65 + i)::INTEGER) AS r_name FROM range(5) t(i);
    CREATE TABLE nation AS SELECT i AS n_nationkey, 'NATION ' || chr((65 + i)::INTEGER) AS n_name, i % 5 AS n_regionkey,
      'comment ' || i * 7 AS n_comment FROM range(25) t(i);
    CREATE TABLE supplier AS SELECT i AS s_suppkey, 'Supplier#' || lpad(i::VARCHAR, 9, '0') AS s_name,
      hash(i, 1) % 25 AS s_nationkey, (hash(i, 2) % 1000000) / 100 AS s_acctbal FROM range(1, {suppliers + 1}) t(i);
    CREATE TABLE customer AS SELECT i AS c_custkey, 'Customer#' || lpad(i::VARCHAR, 9, '0') AS c_name,
      hash(i, 3) % 25 AS c_nationkey, 'SEGMENT ' || hash(i, 4) % 5 AS c_mktsegment FROM range(1, {customers + 1}) t(i);
    CREATE TABLE part AS SELECT i AS p_partkey, 'part ' || hash(i, 5) AS p_name, 1 + hash(i, 6) % 50 AS p_size,
      'Brand#' || 11 + hash(i, 7) % 25 AS p_brand FROM range(1, {parts + 1}) t(i);
    CREATE TABLE partsupp AS SELECT p.i AS ps_partkey,
      1 + (p.i + s.i * ({suppliers} // 4 + (p.i - 1) // {suppliers})) % {suppliers} AS ps_suppkey,
      1 + hash(p.i, s.i, 8) % 9999 AS ps_availqty FROM range(1, {parts + 1}) p(i), range(4) s(i);
    CREATE TABLE orders AS SELECT (i // 8) * 32 + i % 8 + 1 AS o_orderkey, 1 + hash(i, 9) % {customers} AS o_custkey,
      DATE '1992-01-01' + (hash(i, 10) % 2400)::INTEGER AS o_orderdate, 0 AS o_shippriority FROM range({orders}) t(i);
    CREATE TABLE lineitem AS SELECT o_orderkey AS l_orderkey, p.ps_partkey AS l_partkey, p.ps_suppkey AS l_suppkey,
      line AS l_linenumber, 1 + hash(o_orderkey, line, 11) % 50 AS l_quantity FROM (
        SELECT o_orderkey, unnest(range(1, 2 + (hash(o_orderkey, 12) % 7)::BIGINT)) AS line FROM orders) o
      JOIN (SELECT *, row_number() OVER () - 1 AS n FROM partsupp) p
        ON p.n = hash(o_orderkey, line, 13) % {parts * 4};
    """
    for statement in statements.split(";"):
        if statement.strip():
            connection.execute(statement)


# ---- generated schemas ------------------------------------------------------------------------


def listed(text: str) -> list[str]:
    return text.split()


NOUNS = listed("""customer supplier product warehouse employee department store region carrier campaign channel contract
project vehicle route patient doctor course student asset location sensor machine recipe author publisher plan device
role permission voucher brand currency bank branch policy claim member club match team player season venue ticket
survey question answer budget invoice payment shipment order appointment trip""")
OUTSIDERS = listed("tenant batch cohort lot terminal gateway cluster bucket segmentation mailing")
STYLES = {
    # How a schema calls its own key and how others refer to it.
    "id": ("id", "{noun}_id"),
    "noun_id": ("{noun}_id", "{noun}_id"),
    "camel": ("{Noun}Id", "{Noun}Id"),
    "key": ("{noun}_key", "{noun}_key"),
    "glued": ("{noun}id", "{noun}id"),
    "number": ("{noun}_no", "{noun}_no"),
    "fk": ("id", "fk_{noun}"),
    "short": ("{noun}_id", "{brief}_id"),
}
ROLES = ("billing", "primary", "former", "backup", "target", "source")
KINDS = ("dense", "dense", "dense", "sparse", "code", "uuid")


@dataclass(frozen=True)
class Entity:
    noun: str
    table: str
    key: str
    kind: str
    rows: int


class Schema:
    """Builds one schema of tables with planted keys, foreign keys and decoys, all from one seed."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, seed: int, rows: int) -> None:
        self.connection = connection
        self.random = Random(seed)
        self.seed = seed
        self.rows = rows
        self.style = list(STYLES)[seed % len(STYLES)]
        self.plural = self.random.random() < 0.7
        self.truth = Truth()
        self.nouns: list[str] = []
        self.entities: list[Entity] = []
        self.tables: list[str] = []
        self.salt = seed * 1_000

    def build(self, count: int) -> Truth:
        nouns = self.random.sample(NOUNS, k=min(len(NOUNS), count))
        self.nouns = nouns[: int(count * 0.7)]
        outsiders = self.random.sample(OUTSIDERS, k=len(OUTSIDERS))
        for noun in self.nouns:
            self.entity(noun, outsiders)
        while len(self.tables) < count:
            kind = self.random.choice(("lines", "bridge", "detail", "log"))
            getattr(self, kind)(outsiders)
        return self.truth

    # Columns are SQL over `i`, the row number from 1; hash() with a salt stands for chance.
    def chance(self, limit: int) -> str:
        self.salt += 1
        return f"CAST(hash(i, {self.salt}) % {limit} AS BIGINT)"

    def entity(self, noun: str, outsiders: list[str]) -> None:
        table = self.named(noun)
        key = self.spelt(STYLES[self.style][0], noun)
        rows = self.random.randint(self.rows // 20, self.rows)
        made = Entity(noun, table, key, self.random.choice(KINDS), rows)
        columns = {key: self.key_value(made, "i")}
        for other in self.some_entities(0, 3):
            self.refer(table, columns, other)
        if made.kind == "dense" and self.random.random() < 0.2:
            parent = self.spelt(
                "parent_{noun}_id" if self.style == "noun_id" else "parent_id", noun
            )
            columns[parent] = f"CASE WHEN i > 5 THEN 1 + {self.chance(5)} END"
            self.truth.foreign_keys.add((table, (parent,), table, (key,)))
        self.role(table, columns)
        self.decoys(columns, outsiders)
        self.create(table, columns, rows)
        self.truth.keys.add((table, (key,)))
        self.entities.append(made)

    def role(self, table: str, columns: dict[str, str]) -> None:
        """A foreign key to employees that does not mention them, where no other table holds people."""
        people = [each for each in self.entities if each.noun in {"employee", "member"}]
        if len(people) != 1 or people[0].noun != "employee" or "member" in self.nouns:
            return
        if self.random.random() < 0.3:
            column = self.random.choice(("manager_id", "owner_id", "created_by", "approved_by"))
            columns[column] = self.key_value(people[0], f"1 + {self.chance(people[0].rows)}")
            self.truth.foreign_keys.add((table, (column,), people[0].table, (people[0].key,)))

    def lines(self, outsiders: list[str]) -> None:
        """A table keyed by its parent and a line number, and sometimes one that refers to such lines."""
        parent = self.random.choice(
            [each for each in self.entities if f"{each.noun}_line" not in self.tables]
        )
        table = f"{parent.noun}_line"
        columns: dict[str, str] = {}
        each = self.random.randint(3, 6)
        child = self.refer(table, columns, parent, index=f"1 + (i - 1) // {each}", clean=True)
        columns["line_no"] = f"1 + (i - 1) % {each}"
        product = self.random.choice(self.entities)
        if product.noun != parent.noun:
            self.refer(table, columns, product)
        self.decoys(columns, outsiders)
        rows = min(parent.rows, self.rows) * each
        self.create(table, columns, rows)
        self.truth.keys.add((table, (child, "line_no")))
        if len(self.tables) < 50 and self.random.random() < 0.6:
            follow = self.unused(f"{parent.noun}_line_event")
            more: dict[str, str] = {"event_id": "i"}
            at = f"(1 + {self.chance(rows)})"
            column = self.refer(follow, more, parent, index=f"1 + ({at} - 1) // {each}", clean=True)
            more["line_no"] = f"1 + ({at} - 1) % {each}"
            self.create(follow, more, rows // 2 + 20)
            self.truth.keys.add((follow, ("event_id",)))
            self.truth.foreign_keys.add((follow, (column, "line_no"), table, (child, "line_no")))

    def bridge(self, _outsiders: list[str]) -> None:
        """Many to many: two foreign keys that are the key together."""
        left, right = self.random.sample([e for e in self.entities if e.rows >= 20], k=2)
        table = self.unused(f"{left.noun}_{right.noun}")
        columns: dict[str, str] = {}
        each = 10
        first = self.refer(table, columns, left, index=f"1 + (i - 1) // {each}", clean=True)
        second = self.refer(
            table,
            columns,
            right,
            index=f"1 + CAST((hash((i - 1) // {each}, {self.salt}) % 1000 + (i - 1) % {each}) % {right.rows} AS BIGINT)",
            clean=True,
        )
        columns["valid_from"] = f"DATE '2020-01-01' + ({self.chance(1500)})::INTEGER"
        self.create(table, columns, left.rows * each)
        self.truth.keys.add((table, (first, second)))

    def detail(self, outsiders: list[str]) -> None:
        """One to one: a table that extends another under the same key."""
        parent = self.random.choice(self.entities)
        table = self.unused(f"{parent.noun}_profile")
        columns: dict[str, str] = {}
        child = self.refer(table, columns, parent, index="i", clean=True)
        self.decoys(columns, outsiders)
        self.create(table, columns, max(2, int(parent.rows * self.random.choice((1.0, 0.8)))))
        self.truth.keys.add((table, (child,)))

    def log(self, outsiders: list[str]) -> None:
        """No key at all, though some columns are unique or nearly so by accident."""
        table = self.unused(
            self.random.choice(("audit_log", "import_log", "access_log", "job_log"))
        )
        columns: dict[str, str] = {
            "logged_at": f"TIMESTAMP '2024-01-01' + INTERVAL (i * 61 + {self.chance(40)}) SECOND"
        }
        for other in self.some_entities(1, 2):
            self.refer(table, columns, other)
        self.decoys(columns, outsiders)
        columns["message"] = f"'message ' || md5((i, {self.salt})::VARCHAR) || repeat('.', 60)"
        self.create(table, columns, self.random.randint(self.rows // 2, self.rows))

    def refer(
        self,
        table: str,
        columns: dict[str, str],
        other: Entity,
        index: str | None = None,
        clean: bool = False,
    ) -> str:
        column = self.spelt(STYLES[self.style][1], other.noun)
        if not clean and self.random.random() < 0.25:
            role = self.random.choice(ROLES)
            column = f"{role.title()}{column}" if self.style == "camel" else f"{role}_{column}"
        value = self.key_value(other, index or f"1 + {self.chance(other.rows)}")
        if not clean:
            value = self.disturbed(other, value)
        columns[column] = value
        self.truth.foreign_keys.add((table, (column,), other.table, (other.key,)))
        return column

    def disturbed(self, other: Entity, value: str) -> str:
        """Nulls, orphans, another type, spaces and lower case: each in some of the foreign keys."""
        draw = self.random.random
        if other.kind in {"code", "uuid"} and draw() < 0.3:
            value = (
                f"CASE WHEN {self.chance(3)} = 0 THEN ' ' || lower({value}) || ' ' ELSE {value} END"
            )
        if other.kind in {"dense", "sparse"} and draw() < 0.2:
            value = f"CAST({value} AS VARCHAR)"
        elif draw() < 0.3:
            stray = {
                "dense": "90000000 + i",
                "sparse": "i",
                "code": "'LOST-' || i",
                "uuid": "'none-' || i",
            }
            value = f"CASE WHEN {self.chance(40)} = 0 THEN {stray[other.kind]} ELSE {value} END"
        if draw() < 0.3:
            value = f"CASE WHEN {self.chance(8)} = 0 THEN NULL ELSE {value} END"
        return value

    def key_value(self, entity: Entity, index: str) -> str:
        if entity.kind == "dense":
            return index
        if entity.kind == "sparse":
            # Each numbering has its own start and step, as numbers from different systems do.
            step = 7_919 + 26 * NOUNS.index(entity.noun) * (self.seed + 3)
            return f"{step * 31} + ({index}) * {step} % 90000049"
        if entity.kind == "code":
            return f"'{entity.noun[:3].upper()}-' || lpad(({index})::VARCHAR, 6, '0')"
        digest = f"md5(({index})::VARCHAR || '{entity.noun}{self.seed}')"
        return f"CAST(CAST({digest} AS UUID) AS VARCHAR)"

    def decoys(self, columns: dict[str, str], outsiders: list[str]) -> None:
        nouns = [entity.noun for entity in self.entities] or ["customer"]
        noun = self.random.choice(nouns)
        offers = {
            "name": f"'name ' || {self.chance(5000)}",
            "quantity": f"1 + {self.chance(100)}",
            "rating": f"1 + {self.chance(5)}",
            "year": f"2000 + {self.chance(25)}",
            "status": f"['open', 'closed', 'waiting', 'lost'][1 + {self.chance(4)}]",
            "is_active": f"{self.chance(2)} = 0",
            "amount": f"round(({self.chance(10_000_000)}) / 97.0, 2)",
            f"{noun}_count": f"{self.chance(40)}",
            f"{noun}_rank": f"1 + {self.chance(300)}",
            f"legacy_{noun}_id": f"{self.salt * 7} + {self.chance(50)} * 1000003",
            "position": "i",
            "score": f"i * 3 + {self.chance(3)}",
            "created_at": f"TIMESTAMP '2023-01-01' + INTERVAL (i * 3601 + {self.chance(60)}) SECOND",
            "description": f"'text ' || md5((i, {self.salt})::VARCHAR) || repeat(' and more', 8)",
            "postcode": f"lpad((10000 + {self.chance(90000)})::VARCHAR, 5, '0')",
            "level": f"1 + {self.chance(9)}",
            "weight": f"({self.chance(100_000)}) / 1000.0",
        }
        for name in self.random.sample(sorted(offers), k=self.random.randint(3, 7)):
            columns.setdefault(name, offers[name])
        if outsiders and self.random.random() < 0.2:
            columns[self.spelt(STYLES[self.style][1], outsiders.pop())] = f"1 + {self.chance(200)}"

    def some_entities(self, low: int, high: int) -> list[Entity]:
        return self.random.sample(
            self.entities, k=min(len(self.entities), self.random.randint(low, high))
        )

    def spelt(self, pattern: str, noun: str) -> str:
        alike = [other for other in NOUNS if other[:4] == noun[:4]]
        brief = noun[:4] if len(alike) == 1 else noun
        return pattern.format(noun=noun, Noun=noun.title(), brief=brief)

    def named(self, noun: str) -> str:
        plural = (
            noun[:-1] + "ies"
            if noun.endswith("y")
            else noun + ("es" if noun.endswith("ch") else "s")
        )
        return plural if self.plural else noun

    def unused(self, wanted: str) -> str:
        name, number = wanted, 2
        while name in self.tables:
            name, number = f"{wanted}_{number}", number + 1
        return name

    def create(self, table: str, columns: dict[str, str], rows: int) -> None:
        terms = ", ".join(f"{value} AS {quote(name)}" for name, value in columns.items())
        self.connection.execute(
            f"CREATE TABLE {quote(table)} AS SELECT {terms} FROM range(1, {rows + 1}) t(i)"
        )
        self.tables.append(table)


def generated(seed: int, count: int, rows: int) -> Score:
    with session() as connection:
        schema = Schema(connection, seed, rows)
        truth = schema.build(count)
        tables = [table_of(connection, name) for name in schema.tables]
        return judge(connection, f"generated, seed {seed}, style {schema.style}", tables, truth)


def stranger(name: str, data: Path) -> Score:
    """A database that others made; only its foreign keys are judged, for which truth was declared."""
    with session() as connection:
        database = DATABASES[name](connection, data)
        tables = [table_of(connection, each) for each in database.tables]
        started = time.process_time()
        relations = relate(connection, tables)
        cpu = time.process_time() - started
        rows = sum(
            connection.execute(f"SELECT count(*) FROM {each.source}").fetchall()[0][0]
            for each in tables
        )
    truth = {_lower(each) for each in database.foreign_keys}
    found = {_lower(each) for each in proposed(relations)[1]}
    return Score(
        name=f"{name}{' (set aside)' if set_aside(name) else ''}",
        tables=len(tables),
        rows=rows,
        found=len(truth & found),
        missed=tuple(shown_foreign(each) for each in sorted(truth - found)),
        invented=tuple(shown_foreign(each) for each in sorted(found - truth)),
        cpu=cpu,
    )


def _lower(key: ForeignKey) -> ForeignKey:
    table, columns, target, keys = key
    return (
        table.lower(),
        tuple(each.lower() for each in columns),
        target.lower(),
        tuple(each.lower() for each in keys),
    )


def shares(scores: Sequence[Score]) -> tuple[float, float]:
    """Precision and recall."""
    found = sum(score.found for score in scores)
    invented = sum(len(score.invented) for score in scores)
    missed = sum(len(score.missed) for score in scores)
    return round(found / max(1, found + invented), 4), round(found / max(1, found + missed), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, two generated schemas")
    parser.add_argument("--seeds", type=int, default=0, help="how many generated schemas")
    parser.add_argument("--first-seed", type=int, default=0, help="where their seeds start")
    parser.add_argument("--data", type=Path, help="databases that others made; see relate_sets.py")
    parser.add_argument("--only-data", action="store_true", help="only those databases")
    arguments = parser.parse_args()
    first = arguments.first_seed
    seeds = range(first, first + (arguments.seeds or (2 if arguments.quick else 16)))
    rows = 600 if arguments.quick else 5_000
    jobs: list[Callable[[], Score]] = [
        samples,
        partial(tpch, 0.01 if arguments.quick else 0.1),
        *[partial(generated, seed, 50, rows) for seed in seeds],
    ]
    if arguments.only_data:
        jobs = []
    strangers: list[Callable[[], Score]] = []
    for name in DATABASES:
        if arguments.data is not None and (arguments.data / name).exists():
            strangers.append(partial(stranger, name, arguments.data))
        elif arguments.data is not None or not arguments.quick:
            print(f"{name}: not there; pass --data with a folder that holds it (relate_sets.py)")
    print(
        f"{'data':58} {'tables':>6} {'rows':>9} {'found':>6} {'missed':>6} {'invented':>8} {'CPU s':>6}"
    )
    scores: list[Score] = []
    foreign: list[Score] = []
    for job in (*jobs, *strangers):
        score = job()
        (foreign if job in strangers else scores).append(score)
        print(
            f"{score.name:58} {score.tables:6} {score.rows:9,} {score.found:6} {len(score.missed):6} "
            f"{len(score.invented):8} {score.cpu:6.1f}",
            flush=True,
        )
        for line in score.missed:
            print(f"    missed    {line}")
        for line in score.invented:
            print(f"    invented  {line}")
    found = sum(score.found for score in scores)
    missed = sum(len(score.missed) for score in scores)
    invented = sum(len(score.invented) for score in scores)
    aside = [score for score in foreign if score.name.endswith("(set aside)")]
    tuned = [score for score in foreign if score not in aside]
    of_strangers = {
        f"{what}_{which}": share
        for which, group in (("aside", aside), ("tuned", tuned))
        if group
        for what, share in zip(("precision", "recall"), shares(group), strict=True)
    }
    print(
        json.dumps(
            {
                "precision": shares(scores)[0],
                "recall": shares(scores)[1],
                **of_strangers,
                "found": found,
                "missed": missed,
                "invented": invented,
                "cpu_seconds": round(sum(score.cpu for score in scores), 1),
            }
        )
    )


if __name__ == "__main__":
    main()
