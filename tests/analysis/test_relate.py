"""Keys, dependencies and foreign keys in small worlds whose truth is known, decoys and dirt included."""

import random
from pathlib import Path

import polars as pl
import pytest

from scripts.samples import generate
from steward.analysis.relate import Relations, relate
from steward.analysis.relate.names import Place, name_of, name_score, vocabulary_of, words_of
from steward.core.errors import Invalid
from steward.tables.table import Table, describe, literal, quote
from tests.kits.shelf import Shelf

CHANCE = random.Random(7)


def primary_keys(relations: Relations) -> dict[str, tuple[str, ...]]:
    return {key.table: key.columns for key in relations.keys if key.primary}


def foreign_keys(relations: Relations) -> set[tuple[str, str, str, str]]:
    return {
        (
            each.table,
            ",".join(each.columns),
            each.referenced_table,
            ",".join(each.referenced_columns),
        )
        for each in relations.foreign_keys()
    }


def shop(shelf: Shelf) -> list[Table]:
    """Dense numbers everywhere: only names and counts tell what refers to what."""
    customers = pl.DataFrame(
        {
            "id": range(1, 201),
            "name": [f"Customer {i % 150}" for i in range(200)],
            "age": [18 + i % 60 for i in range(200)],
        }
    )
    products = pl.DataFrame(
        {
            "id": range(1, 51),
            "price": [round(1.5 * i + 0.25, 2) for i in range(50)],
            "rank": range(1, 51),
        }
    )
    orders = pl.DataFrame(
        {
            "id": range(1, 1001),
            "customer_id": [1 + i * 7 % 200 for i in range(1000)],
            "quantity": [1 + i % 9 for i in range(1000)],
            "customer_count": [1 + i % 20 for i in range(1000)],
        }
    )
    lines = pl.DataFrame(
        {
            "order_id": [1 + i // 3 for i in range(3000)],
            "line_no": [1 + i % 3 for i in range(3000)],
            "product_id": [1 + i * 11 % 50 for i in range(3000)],
        }
    )
    frames = {"customers": customers, "products": products, "orders": orders, "order_lines": lines}
    return [shelf.put(name, frame) for name, frame in frames.items()]


def test_a_shop_is_understood_and_nothing_is_invented(shelf: Shelf) -> None:
    relations = relate(shelf.connection, shop(shelf))
    assert primary_keys(relations) == {
        "customers": ("id",),
        "products": ("id",),
        "orders": ("id",),
        "order_lines": ("order_id", "line_no"),
    }
    assert foreign_keys(relations) == {
        ("orders", "customer_id", "customers", "id"),
        ("order_lines", "order_id", "orders", "id"),
        ("order_lines", "product_id", "products", "id"),
    }
    assert all(each.kind == "foreign key" for each in relations.relationships)


def test_the_same_data_gives_the_same_answer(shelf: Shelf) -> None:
    tables = shop(shelf)
    seen: list[tuple[str, int, int]] = []
    first = relate(shelf.connection, tables, progress=lambda *told: seen.append(told))
    assert first.as_dict() == relate(shelf.connection, tables).as_dict()
    assert seen[0] == ("keys", 0, 4)
    assert seen[-1] == ("foreign keys", 3, 3)


def test_counts_of_a_dirty_foreign_key_are_exact(shelf: Shelf) -> None:
    customers = {"customer_id": [f"CUST-{i:04}" for i in range(100)], "city": ["x"] * 100}
    spoilt = {3: " cust-0003 ", 4: "cust-0004", 5: "GONE-1", 6: "GONE-2", 7: "GONE-2", 8: None}
    references = [spoilt.get(i, f"CUST-{i % 80:04}") for i in range(400)]
    orders = {"order_no": [f"O{i:05}" for i in range(400)], "customer_id": references}
    tables = [shelf.put("customers", customers), shelf.put("orders", orders)]
    (found,) = relate(shelf.connection, tables).foreign_keys()
    assert (found.table, found.referenced_table) == ("orders", "customers")
    assert (found.normalisation, found.cardinality) == ("case", "1:n")
    assert (found.null_rows, found.orphan_rows, found.orphan_values) == (1, 3, 2)
    assert found.coverage == pytest.approx(396 / 399, abs=1e-6)
    assert found.coverage_exact == pytest.approx(394 / 399, abs=1e-6)
    assert found.unreferenced_rows == 20
    assert "upper and lower case alike" in found.reason
    assert found.join.how == "left"
    assert found.join.on == (("customer_id", "customer_id"),)
    assert "keeps the 4 rows" in found.join.reason


def test_a_key_stored_as_number_here_and_as_text_there(shelf: Shelf) -> None:
    accounts = {"account_no": range(1000, 1300), "kind": ["a", "b", "c"] * 100}
    bookings = {"booking_id": range(600), "account_no": [f"00{1000 + i % 300}" for i in range(600)]}
    tables = [shelf.put("accounts", accounts), shelf.put("bookings", bookings)]
    (found,) = relate(shelf.connection, tables).foreign_keys()
    assert found.normalisation == "number"
    assert found.coverage == 1.0
    assert found.type_score < 1.0


def test_two_columns_refer_together(shelf: Shelf) -> None:
    offers = [(part, 1 + (part * 3 + step) % 40) for part in range(1, 201) for step in range(4)]
    chosen = [offers[CHANCE.randrange(len(offers))] for _ in range(3000)]
    tables = [
        shelf.put("parts", {"part_key": range(1, 201)}),
        shelf.put("suppliers", {"supp_key": range(1, 41)}),
        shelf.put(
            "offers", {"part_key": [o[0] for o in offers], "supp_key": [o[1] for o in offers]}
        ),
        shelf.put(
            "sales",
            {
                "sale_id": range(3000),
                "part_key": [c[0] for c in chosen],
                "supp_key": [c[1] for c in chosen],
            },
        ),
    ]
    relations = relate(shelf.connection, tables)
    assert primary_keys(relations)["offers"] == ("part_key", "supp_key")
    assert ("sales", "part_key,supp_key", "offers", "part_key,supp_key") in foreign_keys(relations)
    assert len(foreign_keys(relations)) == 5


def test_a_parent_in_the_same_table_and_a_twin_table(shelf: Shelf) -> None:
    staff = {
        "employee_id": range(1, 101),
        "manager_id": [None if i < 5 else 1 + i % 5 for i in range(100)],
        "grade": [1 + i % 5 for i in range(100)],
    }
    details = {"employee_id": range(1, 91), "iban": [f"DE{i:020}" for i in range(90)]}
    tables = [shelf.put("employees", staff), shelf.put("employee_details", details)]
    relations = relate(shelf.connection, tables)
    assert foreign_keys(relations) == {
        ("employees", "manager_id", "employees", "employee_id"),
        ("employee_details", "employee_id", "employees", "employee_id"),
    }
    twin = next(each for each in relations.foreign_keys() if each.table == "employee_details")
    assert twin.cardinality == "1:1"


def test_a_tree_is_found_whatever_its_column_is_called(shelf: Shelf) -> None:
    staff = pl.DataFrame(
        {
            "staff_id": range(1, 41),
            "above": [None, *[1 + i // 3 for i in range(39)]],
            "desk": [None, *[1 + (i * 17) % 40 for i in range(39)]],
        }
    )
    found = foreign_keys(relate(shelf.connection, [shelf.put("staff", staff)]))
    assert found == {("staff", "above", "staff", "staff_id")}, "desks run in circles"


def test_what_a_foreign_key_leads_to_is_not_a_second_one(shelf: Shelf) -> None:
    towns = [f"{name} {n}, {n * 37 % 900} Long Road" for n, name in enumerate(["Elm", "Oak"] * 40)]
    clients = pl.DataFrame({"client_id": range(1, 81), "street": towns})
    bills = pl.DataFrame(
        {
            "bill_id": range(1, 401),
            "client_id": [1 + i * 7 % 80 for i in range(400)],
            "billing_street": [towns[i * 7 % 80] for i in range(400)],
        }
    )
    tables = [shelf.put("clients", clients), shelf.put("bills", bills)]
    found = foreign_keys(relate(shelf.connection, tables))
    assert found == {("bills", "client_id", "clients", "client_id")}


def test_a_column_names_the_table_and_not_its_key(shelf: Shelf) -> None:
    people = pl.DataFrame({"entity_id": range(1000, 1100), "kind": ["a"] * 100})
    vendors = pl.DataFrame({"entity_id": range(1000, 1040), "rating": [i % 5 for i in range(40)]})
    orders = pl.DataFrame(
        {"order_id": range(1, 301), "vendor_id": [1000 + i * 7 % 40 for i in range(300)]}
    )
    history = pl.DataFrame(
        {
            "entity_id": [1000 + i % 40 for i in range(120)],
            "year": [2020 + i // 40 for i in range(120)],
        }
    )
    tables = [
        shelf.put("entities", people),
        shelf.put("vendors", vendors),
        shelf.put("orders", orders),
        shelf.put("vendor_history", history),
    ]
    found = foreign_keys(relate(shelf.connection, tables))
    assert ("orders", "vendor_id", "vendors", "entity_id") in found
    assert ("vendor_history", "entity_id", "vendors", "entity_id") in found
    assert ("vendors", "entity_id", "entities", "entity_id") in found


def test_values_speak_where_names_do_not(shelf: Shelf) -> None:
    identifiers = [f"{CHANCE.getrandbits(128):032x}" for _ in range(300)]
    tables = [
        shelf.put("alpha", {"ref": identifiers, "n": [i % 7 for i in range(300)]}),
        shelf.put("beta", {"whom": [identifiers[i % 250] for i in range(900)], "x": range(900)}),
    ]
    assert foreign_keys(relate(shelf.connection, tables)) == {("beta", "whom", "alpha", "ref")}


def test_no_key_is_proposed_where_uniqueness_is_an_accident(shelf: Shelf) -> None:
    log = {
        "logged_at": pl.Series(range(500)).cast(pl.Datetime),
        "amount": [i + 0.5 for i in range(500)],
        "score": [i * 3 for i in range(500)],
        "message": ["m" * 70 + str(i) for i in range(500)],
    }
    relations = relate(shelf.connection, [shelf.put("log", pl.DataFrame(log))])
    assert primary_keys(relations) == {}
    assert {key.columns for key in relations.keys} >= {("logged_at",), ("score",), ("message",)}


def test_almost_a_key_says_what_is_wrong(shelf: Shelf) -> None:
    identifiers = [*range(1, 199), 5, None]
    relations = relate(shelf.connection, [shelf.put("people", {"person_id": identifiers})])
    assert primary_keys(relations) == {}
    (near,) = relations.near_keys
    assert (near.column, near.duplicate_rows, near.null_rows) == ("person_id", 1, 1)


def test_composite_keys_are_minimal_and_confirmed_by_polars(shelf: Shelf) -> None:
    frame = pl.DataFrame(
        {
            "store_id": [i // 100 for i in range(1200)],
            "day_no": [i % 100 for i in range(1200)],
            "shift_code": [i % 3 for i in range(1200)],
        }
    )
    relations = relate(shelf.connection, [shelf.put("takings", frame)])
    assert primary_keys(relations) == {"takings": ("store_id", "day_no")}
    for key in relations.keys:
        assert frame.select(key.columns).is_unique().all()
        for left_out in key.columns:
            rest = [name for name in key.columns if name != left_out]
            assert not frame.select(rest).is_unique().all()


def test_dependencies_have_the_g3_error_that_polars_counts(shelf: Shelf) -> None:
    rows = 2000
    towns = [CHANCE.randrange(40) for _ in range(rows)]
    regions = [town // 5 for town in towns]
    for position in range(12):
        regions[position * 150] = 99
    frame = pl.DataFrame(
        {
            "town": towns,
            "country": [town // 10 for town in towns],
            "region": regions,
            "noise": [CHANCE.randrange(12) for _ in range(rows)],
            "mostly_one": [0 if i % 100 else 1 for i in range(rows)],
        }
    )
    relations = relate(shelf.connection, [shelf.put("places", frame)])
    found = {(each.determinant, each.dependent): each for each in relations.dependencies}
    assert found[("town",), "country"].exact
    approximate = found[("town",), "region"]
    kept = (
        frame.group_by("town", "region")
        .len()
        .group_by("town")
        .agg(pl.col("len").max())["len"]
        .sum()
    )
    assert approximate.violating_rows == rows - kept
    assert approximate.error == pytest.approx((rows - kept) / rows)
    assert not approximate.exact
    assert not any("noise" in (*left, right) for left, right in found)
    assert not any(right == "mostly_one" for _, right in found)


def test_too_few_repetitions_prove_no_dependency(shelf: Shelf) -> None:
    rows = [(i % 45, (i % 45) * 7 % 2) for i in range(60)]
    frame = pl.DataFrame(rows, schema=["batch", "grade"], orient="row")
    assert relate(shelf.connection, [shelf.put("samples", frame)]).dependencies == ()
    more = pl.DataFrame(
        [(i % 45, (i % 45) * 7 % 2) for i in range(600)], schema=["batch", "grade"], orient="row"
    )
    (found,) = relate(shelf.connection, [shelf.put("many", more)]).dependencies
    assert (found.determinant, found.dependent) == (("batch",), "grade")


def test_two_columns_decide_a_third_that_neither_decides(shelf: Shelf) -> None:
    rows = 3000
    a = [CHANCE.randrange(20) for _ in range(rows)]
    b = [CHANCE.randrange(20) for _ in range(rows)]
    price = [x * 31 % 17 * 100 + y for x, y in zip(a, b, strict=True)]
    frame = pl.DataFrame({"product": a, "size": b, "price": price})
    relations = relate(shelf.connection, [shelf.put("prices", frame)])
    found = {(each.determinant, each.dependent) for each in relations.dependencies}
    assert (("product", "size"), "price") in found


def test_dependencies_that_follow_from_others_are_not_essential(shelf: Shelf) -> None:
    streets = [CHANCE.randrange(60) for _ in range(1500)]
    frame = pl.DataFrame(
        {"street": streets, "town": [s // 6 for s in streets], "land": [s // 30 for s in streets]}
    )
    relations = relate(shelf.connection, [shelf.put("places", frame)])
    essential = {(e.determinant[0], e.dependent) for e in relations.dependencies if e.essential}
    assert essential == {("street", "town"), ("town", "land")}


def test_empty_single_row_and_hostile_tables(shelf: Shelf) -> None:
    hostile = 'x"; DROP TABLE t; --'
    tables = [
        shelf.put("empty", pl.DataFrame({"id": pl.Series([], dtype=pl.Int64)})),
        shelf.put("one", {"id": [1], "note": ["'"]}),
        shelf.put(hostile, {hostile: ["'", '"', ";"] * 40, "c0": range(120), "k0": range(120)}),
        shelf.put("nested", {"id": range(30), "tags": [["a", "b"]] * 30}),
        shelf.put("blank", {"id": [None, None], "float": [float("nan"), float("inf")]}),
    ]
    relations = relate(shelf.connection, tables)
    assert relations.notes == ("empty is empty, so nothing can be said about it.",)
    assert {node.id for node in relations.graph.nodes} == {table.name for table in tables}


def test_the_graph_has_a_node_for_each_table_and_an_edge_for_each_relationship(
    shelf: Shelf,
) -> None:
    relations = relate(shelf.connection, shop(shelf))
    nodes = {node.id: node for node in relations.graph.nodes}
    assert nodes["order_lines"].key == ("order_id", "line_no")
    assert nodes["orders"].rows == 1000
    edges = {(edge.source, edge.target, edge.label) for edge in relations.graph.edges}
    assert ("orders", "customers", "customer_id → id") in edges
    assert len(edges) == len(relations.relationships)


def test_two_tables_of_one_name_are_refused(shelf: Shelf) -> None:
    table = shelf.put("t", {"id": [1]})
    with pytest.raises(Invalid, match="same name"):
        relate(shelf.connection, [table, table])


def test_the_planted_truth_of_the_samples(shelf: Shelf, tmp_path: Path) -> None:
    made = generate(customers=400)
    tables = []
    for dataset in made.datasets:
        path = tmp_path / dataset.filename
        path.write_text(dataset.content.decode(dataset.encoding), encoding="utf-8")
        source = quote(dataset.name)
        shelf.connection.execute(
            f"CREATE TABLE {source} AS FROM read_csv({literal(str(path))}, header=true, "
            f"delim={literal(dataset.delimiter)}, decimal_separator={literal(dataset.decimal)})"
        )
        tables.append(Table(dataset.name, source, describe(shelf.connection, source)))
    relations = relate(shelf.connection, tables)
    assert primary_keys(relations) == {key.dataset: key.columns for key in made.truth.keys}
    found = {
        (each.table, each.columns[0], each.referenced_table, each.referenced_columns[0]): each
        for each in relations.relationships
        if each.kind in {"foreign key", "reference"}
    }
    planted = {
        (each.dataset, each.column, each.target_dataset, each.target_column): each
        for each in made.truth.foreign_keys
    }
    assert set(found) == set(planted)
    for where, truth in planted.items():
        assert found[where].null_rows == truth.missing
        assert found[where].orphan_rows == truth.orphans


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("CustomerID", ("customer", "id")),
        ("c_nationkey", ("c", "nation", "key")),
        ("order-items", ("order", "item")),
        ("HTTPStatusCode", ("http", "status", "code")),
        ("Straße Nr.", ("straße", "nr")),
        ("monkey", ("monkey",)),
        ("paid", ("paid",)),
    ],
)
def test_names_in_words(raw: str, words: tuple[str, ...]) -> None:
    assert words_of(raw) == words


@pytest.mark.parametrize(
    ("column", "table", "other_column", "other_table", "telling"),
    [
        ("customer_id", "orders", "id", "customers", True),
        ("cust_no", "orders", "customer_number", "customers", True),
        ("custid", "orders", "id", "customers", True),
        ("billing_address_id", "orders", "id", "addresses", True),
        ("created_by", "orders", "user_id", "users", True),
        ("parent_id", "categories", "id", "categories", True),
        ("id", "orders", "id", "customers", False),
        ("order_id", "lines", "id", "order_lines", False),
        ("customer_count", "orders", "id", "customers", False),
        ("quantity", "orders", "id", "customers", False),
        ("name", "orders", "name", "customers", False),
        ("line_no", "order_lines", "id", "orders", False),
        ("status", "orders", "code", "statuses", True),
    ],
)
def test_what_a_name_refers_to(
    column: str, table: str, other_column: str, other_table: str, telling: bool
) -> None:
    vocabulary = vocabulary_of([table, other_table, "customers"])

    def place(name: str, where: str) -> Place:
        parsed = name_of(name, vocabulary)
        return Place(parsed, parsed, where, words_of(where))

    score = name_score(place(column, table), place(other_column, other_table))
    assert (score >= 0.7) == telling
