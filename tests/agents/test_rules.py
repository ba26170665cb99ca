"""Requests in plain words over the demo data: which tool each becomes, and that its figures are those of hand-written SQL."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from scripts.samples import generate
from steward.agents.operating.roster import builtin_roster
from steward.agents.planning.plan import Plan
from steward.agents.planning.plan_checks import (
    Catalogue,
    Relation,
    ToolFacts,
    check_plan,
    facts_from,
    is_complete,
)
from steward.agents.planning.task import Last, Task
from steward.agents.rules.deciding import Ruled, RulePlanner
from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.definitions import relations_from
from steward.definitions.facts import plain_facts
from steward.sandbox.compile_plan import compile_plan
from steward.sandbox.query_plan import QueryPlan
from steward.tables.engine import session
from steward.testing import Installation, fast_passwords
from steward.tools import load_tools

TODAY = date(2026, 11, 15)
CUSTOMERS = 60
EUROS = "FROM (SELECT * FROM billing_invoices WHERE currency = 'EUR') AS billing_invoices"


@dataclass
class Demo:
    catalogue: Catalogue
    connection: duckdb.DuckDBPyConnection

    def plan(self, message: str, **more: Any) -> tuple[Plan, str]:
        plan, said, _ = self.ruled(message, **more)
        return plan, said

    def ruled(self, message: str, **more: Any) -> Ruled:
        ruled = RulePlanner().plan(Task(message, TODAY, "nonce", **more), self.catalogue)
        plan = ruled.plan
        assert check_plan(plan.to_json(), self.catalogue) == plan
        assert all(is_complete(step, self.catalogue) for step in plan)
        return ruled

    def rows(self, document: dict[str, Any]) -> list[tuple[Any, ...]]:
        schema = {name: facts.names for name, facts in self.catalogue.datasets.items()}
        sql = compile_plan(QueryPlan.parse(json.dumps(document)), schema)
        return self.select(sql)

    def figures(
        self, document: dict[str, Any], sql: str
    ) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """Rows of a plan and of the SQL; where amounts are told per currency, both for euros."""
        found, groups = self.rows(document), document.get("group", [])
        if "currency" not in sql and "currency" in groups:
            place = groups.index("currency")
            euros = [row for row in found if row[place] == "EUR"]
            found = [(*row[:place], *row[place + 1 :]) for row in euros]
        if "currency" not in sql and "currency" in json.dumps(document):
            sql = sql.replace("FROM billing_invoices", EUROS)
        return found, self.select(sql)

    def select(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(map(_plain, row)) for row in self.connection.execute(sql).fetchall()]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        value = value.date()
    return round(float(value), 6) if isinstance(value, float | Decimal | int) else value


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, home_template: Path) -> Iterator[Demo]:
    home = tmp_path_factory.mktemp("demo") / "home"
    shutil.copytree(home_template, home)
    clock = MovableClock(datetime(2026, 11, 15, tzinfo=UTC))
    steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
    installation = Installation(steward, clock)
    scope, author, bench = installation.scope, installation.owner.user.id, steward.workbench
    for dataset in generate(customers=CUSTOMERS).datasets:
        path = home / dataset.filename
        path.write_bytes(dataset.content)
        bench.bringing.load(scope, author, path, dataset.filename, dataset.name)
    with session() as connection:
        connection.execute(
            "CREATE MACRO d(x) AS CAST(coalesce(try_strptime(x, '%d.%m.%Y'), try_strptime(x, '%m/%d/%Y'), "
            "try_strptime(left(x, 10), '%Y-%m-%d')) AS DATE)"
        )
        for each in bench.datasets.workspace(scope, author).datasets("main"):
            assert not facts_from(bench, scope, author)[each.name].profiled
            bench.insights.profile(scope, each.name, each.version)
            table = bench.versions.table(scope, each.version, each.name, ordered=False)
            columns = ", ".join(f'"{column.name}"' for column in each.columns)
            connection.execute(f'CREATE VIEW "{each.name}" AS SELECT {columns} FROM {table.source}')
        tools = {name: ToolFacts.of(tool) for name, tool in load_tools()}
        bench.insights.relations(scope, author)
        facts, relations = facts_from(bench, scope, author), relations_from(bench, scope, author)
        known = Catalogue(tools, builtin_roster(), facts, relations=relations)
        yield Demo(known, connection)
    steward.close()


QUERY = "execute_query_plan"
REQUESTS: list[tuple[str, str]] = [
    # rows
    ("show open invoices", QUERY),
    ("list urgent tickets", QUERY),
    ("show customers in the Netherlands", QUERY),
    ("show invoice_no and gross of invoices", QUERY),
    ("show tickets without satisfaction", QUERY),
    ("show customers", QUERY),
    ("show me 5 rows of the tickets", QUERY),
    ("first 30 invoices", QUERY),
    ("display invoices sorted by gross descending", QUERY),
    ("support_tickets", QUERY),
    # what there is
    ("list datasets", "list_datasets"),
    ("what data do we have?", "list_datasets"),
    ("which tables are there", "list_datasets"),
    ("show me the tables", "list_datasets"),
    ("what columns does the invoices table have", "get_dataset_schema"),
    ("describe crm_customers", "get_dataset_schema"),
    ("schema of support tickets", "get_dataset_schema"),
    # quality
    ("profile the customers", "profile"),
    ("how good is the quality of the invoices", "profile"),
    ("what is wrong with the tickets", "profile"),
    ("are there missing values in crm_customers", "profile"),
    ("statistics of billing invoices", "profile"),
    ("any outliers in the invoices?", "profile"),
    ("check the data quality of all datasets", "profile"),
    ("is there personal data in the tickets", "profile"),
    # duplicates
    ("find duplicate customers", "resolve_entities"),
    ("dedupe the customers", "resolve_entities"),
    ("are there customers in there twice?", "resolve_entities"),
    ("resolve entities across customers and tickets", "resolve_entities"),
    ("build golden records of customers", "resolve_entities"),
    ("remove duplicate rows from the invoices", "clean"),
    # cleaning
    ("clean up the invoices", "clean"),
    ("clean crm_customers", "clean"),
    ("trim spaces in the tickets", "clean"),
    ("parse the dates in the invoices", "clean"),
    ("read annual_revenue of crm_customers as numbers", "clean"),
    ("standardise countries in crm_customers", "clean"),
    ("unify the spelling of category in tickets", "clean"),
    ("normalise phone numbers of customers", "clean"),
    ("fix the dates of the customers", "clean"),
    ("tidy up the tickets", "clean"),
    # together
    ("join invoices and customers", "join"),
    ("combine invoices with the customers they belong to", "join"),
    ("merge invoices and customers into one table", "join"),
    ("enrich invoices with customers", "join"),
    ("inner join invoices and customers", "join"),
    ("join tickets and customers on company", "join"),
    ("combine tickets and customers", "relate"),
    ("append invoices and tickets", "union"),
    ("which tables are related", "relate"),
    ("what are the foreign keys", "relate"),
    ("how are invoices and customers related", "relate"),
    # correlations
    ("correlate the invoices", "correlate"),
    ("what drives satisfaction?", "correlate"),
    ("are there correlations in the customers", "correlate"),
    ("does priority influence satisfaction in tickets", "correlate"),
    # output
    ("write a report about the invoices", "report"),
    ("create a pdf about customers and invoices", "report"),
    ("generate a report on support tickets", "report"),
    ("export customers to excel", "render_xlsx"),
    ("download the invoices as a spreadsheet", "render_xlsx"),
    ("xlsx of tickets", "render_xlsx"),
    ("mask the emails of customers", "redact"),
    ("anonymise crm_customers", "redact"),
    ("hash the iban of the invoices", "redact"),
    ("take a snapshot called before cleaning", "snapshot"),
    # pictures
    ("histogram of net", "chart"),
    ("distribution of employees", "chart"),
    ("scatter plot of net and tax", "chart"),
    ("box plot of gross by product", "chart"),
    ("heatmap of channel and priority", "chart"),
    ("bar chart of invoices by status", QUERY),
    ("pie chart of tickets by channel", QUERY),
    # nothing to be done by rules: honest looks
    ("hello", "list_datasets"),
    ("what is the meaning of life", "list_datasets"),
    ("write me a poem", "list_datasets"),
    ("", "list_datasets"),
]


@pytest.mark.parametrize(("message", "tool"), REQUESTS, ids=[each[0][:50] for each in REQUESTS])
def test_a_request_becomes_the_tool_for_it(demo: Demo, message: str, tool: str) -> None:
    plan, _ = demo.plan(message)
    assert plan.steps[0].tools[0] == tool, plan.to_json()


DAY = "d(issue_date)"
FIGURES: list[tuple[str, str]] = [
    ("what is the total net?", "SELECT sum(net) FROM billing_invoices"),
    ("net by product", "SELECT product, sum(net) FROM billing_invoices GROUP BY 1"),
    ("total net by country", "SELECT billing_country, sum(net) FROM billing_invoices GROUP BY 1"),
    ("sum of tax per currency", "SELECT currency, sum(tax) FROM billing_invoices GROUP BY 1"),
    ("how many invoices are there", "SELECT count(*) FROM billing_invoices"),
    ("number of customers per segment", "SELECT segment, count(*) FROM crm_customers GROUP BY 1"),
    (
        "how many customers per country",
        "SELECT country, count(*) FROM crm_customers GROUP BY 1",
    ),
    (
        "top 3 cities by net",
        "SELECT billing_city, sum(net) FROM billing_invoices GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3",
    ),
    (
        "bottom 2 products by gross",
        "SELECT product, sum(gross) FROM billing_invoices GROUP BY 1 ORDER BY 2 LIMIT 2",
    ),
    (
        "which agent has the most tickets",
        "SELECT agent, count(*) FROM support_tickets GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1",
    ),
    (
        "which country has the highest net",
        "SELECT billing_country, sum(net) FROM billing_invoices GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
    ),
    ("what is the highest gross", "SELECT max(gross) FROM billing_invoices"),
    ("lowest net", "SELECT min(net) FROM billing_invoices"),
    (
        "smallest gross per country",
        "SELECT billing_country, min(gross) FROM billing_invoices GROUP BY 1",
    ),
    (
        "median net by payment method",
        "SELECT payment_method, median(net) FROM billing_invoices GROUP BY 1",
    ),
    (
        "average satisfaction by agent",
        "SELECT agent, avg(satisfaction) FROM support_tickets GROUP BY 1",
    ),
    (
        "how many distinct cities are there in the invoices",
        "SELECT count(DISTINCT billing_city) FROM billing_invoices",
    ),
    (
        "number of tickets by channel and priority",
        "SELECT channel, priority, count(*) FROM support_tickets GROUP BY 1, 2",
    ),
    (
        "how many urgent tickets per product",
        "SELECT product, count(*) FROM support_tickets WHERE priority = 'urgent' GROUP BY 1",
    ),
    (
        "how many invoices are overdue",
        "SELECT count(*) FROM billing_invoices WHERE lower(status) = 'overdue'",
    ),
    (
        "total gross where billing country is DE",
        "SELECT sum(gross) FROM billing_invoices WHERE billing_country = 'DE'",
    ),
    (
        "total gross for Germany and Austria",
        "SELECT sum(gross) FROM billing_invoices WHERE billing_country IN ('DE', 'AT')",
    ),
    (
        "sum of tax for Ledger and Route",
        "SELECT sum(tax) FROM billing_invoices WHERE product IN ('Ledger', 'Route')",
    ),
    (
        "how many customers in Germany",
        "SELECT count(*) FROM crm_customers WHERE country IN ('DE', 'Deutschland', 'GER', 'Germany', 'DEU')",
    ),
    (
        "how many enterprise customers do we have",
        "SELECT count(*) FROM crm_customers WHERE segment = 'Enterprise'",
    ),
    (
        "how many tickets were opened this year",
        "SELECT count(*) FROM support_tickets WHERE year(d(opened_at)) = 2026",
    ),
    (
        "how many customers were created in 2025",
        "SELECT count(*) FROM crm_customers WHERE year(d(created)) = 2025",
    ),
    (
        "tickets closed since June 2026",
        "SELECT * FROM support_tickets WHERE d(closed_at) >= '2026-06-01' ORDER BY ticket_id LIMIT 100",
    ),
    (
        "total net by due month",
        "SELECT date_trunc('month', d(due_date)), sum(net) FROM billing_invoices GROUP BY 1",
    ),
    (
        "show open invoices",
        "SELECT * FROM billing_invoices WHERE lower(status) = 'open' ORDER BY invoice_no LIMIT 100",
    ),
    (
        "customers with at least 50 employees",
        "SELECT * FROM crm_customers WHERE employees >= 50 ORDER BY customer_id LIMIT 100",
    ),
    (
        "tickets without satisfaction",
        "SELECT * FROM support_tickets WHERE satisfaction IS NULL ORDER BY ticket_id LIMIT 100",
    ),
    (
        "show me the customers whose city is Berlin",
        "SELECT * FROM crm_customers WHERE lower(trim(city)) = 'berlin'",
    ),
    ("how many customers have no phone", "SELECT count(*) FROM crm_customers WHERE phone IS NULL"),
    (
        "tickets that are not urgent by product",
        "SELECT product, count(*) FROM support_tickets WHERE priority <> 'urgent' GROUP BY 1",
    ),
    (
        "how many invoices in CHF or GBP",
        "SELECT count(*) FROM billing_invoices WHERE currency IN ('CHF', 'GBP')",
    ),
    ("Summe netto nach Produkt", "SELECT product, sum(net) FROM billing_invoices GROUP BY 1"),
    (
        "combien de clients par pays",
        "SELECT country, count(*) FROM crm_customers GROUP BY 1",
    ),
    (
        "average employees by industry",
        "SELECT industry, avg(employees) FROM crm_customers GROUP BY 1",
    ),
    (
        "average gross by month of issue date in 2025",
        f"SELECT date_trunc('month', {DAY}), avg(gross) FROM billing_invoices WHERE year({DAY}) = 2025 GROUP BY 1",
    ),
    (
        "total net by year of issue date",
        f"SELECT year({DAY}), sum(net) FROM billing_invoices GROUP BY 1",
    ),
]


@pytest.mark.parametrize(("message", "sql"), FIGURES, ids=[each[0][:50] for each in FIGURES])
def test_figures_are_those_of_hand_written_sql(demo: Demo, message: str, sql: str) -> None:
    plan, _, asked = demo.ruled(message)
    assert asked is not None
    assert asked.status == "fact", asked
    assert plan.steps[0].tools[0] == QUERY, plan.to_json()
    found, expected = demo.figures(plan.steps[0].arguments["plan"], sql)
    assert expected, "the question must have an answer in the demo data"
    width = len(expected[0])
    found = [row[:width] for row in found] if "SELECT *" not in sql else found
    assert sorted(found, key=repr) == sorted(expected, key=repr)


ASKED_BACK = [
    # No column and no metric is called so.
    "monthly revenue",
    "average order value by month in 2025",
    "how much revenue did we make last year",
    # Of which column, nobody said.
    "invoices over 5000",
    # No function of a reading.
    "skewness of net",
    "how many invoices were paid late?",
    "report the unpaid invoices every Monday at 8",
    "export the unpaid invoices to Excel",
]


@pytest.mark.parametrize("message", ASKED_BACK)
def test_what_was_not_read_whole_is_asked_about(demo: Demo, message: str) -> None:
    asked = demo.ruled(message).asked
    assert asked is not None
    assert asked.status != "fact"


LAST = {
    "source": "billing_invoices",
    "group": ["billing_country"],
    "aggregate": [{"name": "total_net", "function": "sum", "column": "net"}],
    "order": [{"column": "total_net", "direction": "descending"}],
}
BY_COUNTRY = "SELECT billing_country, sum(net) FROM billing_invoices"
FOLLOW_UPS: list[tuple[str, str]] = [
    (
        "those again but by month of issue date",
        f"SELECT date_trunc('month', {DAY}), sum(net) FROM billing_invoices GROUP BY 1",
    ),
    ("by product instead", "SELECT product, sum(net) FROM billing_invoices GROUP BY 1"),
    (
        "and also by product",
        "SELECT billing_country, product, sum(net) FROM billing_invoices GROUP BY 1, 2",
    ),
    ("only issue date 2025", f"{BY_COUNTRY} WHERE year({DAY}) = 2025 GROUP BY 1"),
    ("only paid ones", f"{BY_COUNTRY} WHERE lower(status) = 'paid' GROUP BY 1"),
    ("what about the average", "SELECT billing_country, avg(net) FROM billing_invoices GROUP BY 1"),
    (
        "the same with gross instead",
        "SELECT billing_country, sum(gross) FROM billing_invoices GROUP BY 1",
    ),
    ("top 3", f"{BY_COUNTRY} GROUP BY 1 ORDER BY 2 DESC LIMIT 3"),
    (
        "those again but with product",
        "SELECT billing_country, product, sum(net) FROM billing_invoices GROUP BY 1, 2",
    ),
    (
        "with segment",
        "SELECT billing_country, segment, sum(net) FROM billing_invoices LEFT JOIN crm_customers ON customer_id = crm_id GROUP BY 1, 2",
    ),
    ("as a bar chart", f"{BY_COUNTRY} GROUP BY 1"),
    ("without Germany", f"{BY_COUNTRY} WHERE billing_country <> 'DE' GROUP BY 1"),
]


@pytest.mark.parametrize(("message", "sql"), FOLLOW_UPS, ids=[each[0] for each in FOLLOW_UPS])
def test_follow_ups_change_the_last_query_and_keep_the_rest(
    demo: Demo, message: str, sql: str
) -> None:
    plan, _, asked = demo.ruled(message, last=Last(QUERY, {"plan": LAST}))
    assert asked is not None
    assert asked.status == "fact", asked
    found, expected = demo.figures(plan.steps[0].arguments["plan"], sql)
    assert sorted(_by_name(found), key=repr) == sorted(_by_name(expected), key=repr)


def _by_name(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Groups may stand in any order; the figure is last."""
    return [(*sorted(row[:-1], key=repr), row[-1]) for row in rows]


def test_a_follow_up_replaces_the_condition_on_the_same_column(demo: Demo) -> None:
    first, _ = demo.plan("only issue date 2024", last=Last(QUERY, {"plan": LAST}))
    again = Last(QUERY, {"plan": first.steps[0].arguments["plan"]})
    second, _ = demo.plan("now only issue date 2025", last=again)
    sql = f"{BY_COUNTRY} WHERE year({DAY}) = 2025 GROUP BY 1"
    found, expected = demo.figures(second.steps[0].arguments["plan"], sql)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    "message",
    [
        "count invoices by country",
        "count invoices by month of issue date in 2025",
        "count invoices by status",
    ],
)
def test_a_follow_up_to_a_chart_changes_the_query_behind_it(demo: Demo, message: str) -> None:
    """Query and chart run side by side, and either may be the last call that worked."""
    plan, _ = demo.plan(message)
    query, chart = plan.steps
    after_query, _ = demo.plan("by product instead", last=Last(query.tools[0], query.arguments))
    after_chart, _ = demo.plan("by product instead", last=Last(chart.tools[0], chart.arguments))
    first, second = (
        demo.rows(each.steps[0].arguments["plan"]) for each in (after_query, after_chart)
    )
    assert first
    assert sorted(first) == sorted(second)


def test_a_follow_up_that_names_other_data_starts_anew(demo: Demo) -> None:
    plan, _ = demo.plan("and the tickets by channel", last=Last(QUERY, {"plan": LAST}))
    assert plan.steps[0].arguments["plan"]["source"] == "support_tickets"


def test_a_follow_up_of_sql_is_not_guessed(demo: Demo) -> None:
    plan, said = demo.plan("as a bar chart", last=Last("execute_sql", {"sql": "SELECT 1"}))
    assert plan.steps[0].tools == ["list_datasets"]
    assert "could not tell" in said


def test_undo_takes_back_the_last_commit_and_says_when_there_is_none(demo: Demo) -> None:
    plan, _ = demo.plan("undo that", commits=("com_1", "com_2"))
    assert (plan.steps[0].tools, plan.steps[0].arguments) == (["undo"], {"commit": "com_2"})
    plan, said = demo.plan("undo that")
    assert plan.steps[0].tools == ["list_datasets"]
    assert "no change" in said


def test_attached_files_are_loaded(demo: Demo) -> None:
    plan, _ = demo.plan("load this", attachments=(("upl_1", "sales 2026.csv"),))
    assert plan.steps[0].arguments == {"dataset": "sales 2026", "upload": "upl_1"}


def test_text_is_not_added_up(demo: Demo) -> None:
    asked = demo.ruled("total annual revenue by segment").asked
    assert asked is not None
    assert asked.status == "proposal"
    assert asked.problems


def test_what_is_not_understood_is_said_and_nothing_is_changed(demo: Demo) -> None:
    plan, _, asked = demo.ruled("please sing about crm_customers")
    assert asked is not None
    assert (asked.status, asked.unused[0].word) == ("proposal", "sing")
    tools = demo.catalogue.tools
    assert all(tools[tool].risk.at_most(tools["profile"].risk) for tool in plan.tools)


def bare(demo: Demo) -> Demo:
    """The same data before anybody profiled it."""
    datasets = {
        name: plain_facts(name, facts.rows, [(each.name, each.type) for each in facts.columns])
        for name, facts in demo.catalogue.datasets.items()
    }
    return Demo(replace(demo.catalogue, datasets=datasets, relations=()), demo.connection)


@pytest.mark.parametrize(
    ("message", "sql"),
    [
        (
            "average net by country",
            "SELECT billing_country, avg(net) FROM billing_invoices GROUP BY 1",
        ),
        (
            "how many invoices in Germany",
            "SELECT count(*) FROM billing_invoices WHERE billing_country = 'DE'",
        ),
    ],
)
def test_without_profiles_names_and_types_go_far(demo: Demo, message: str, sql: str) -> None:
    plan, _, asked = bare(demo).ruled(message)
    assert asked is not None
    assert asked.status == "fact", asked
    found, expected = demo.figures(plan.steps[0].arguments["plan"], sql)
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("open invoices", "open"),
        ("how many urgent tickets per product", "urgent"),
        ("show happy customers", "happy"),
    ],
)
def test_words_that_were_not_used_are_said(demo: Demo, message: str, word: str) -> None:
    asked = bare(demo).ruled(message).asked
    assert asked is not None
    assert asked.status == "proposal"
    assert word in [each.word for each in asked.unused]


def test_relations_that_were_found_serve_as_keys(demo: Demo) -> None:
    relation = Relation(
        "support_tickets", "account_ref", "billing_invoices", "account_no", 0.9, True
    )
    catalogue = replace(demo.catalogue, relations=(relation,))
    plan, _ = Demo(catalogue, demo.connection).plan("join tickets and invoices")
    assert plan.steps[0].tools == ["join"]
    assert plan.steps[0].arguments["on"] == [{"left": "account_ref", "right": "account_no"}]


def test_rules_keep_to_what_the_policy_allows(demo: Demo) -> None:
    forbidden = frozenset({"execute_query_plan", "clean", "resolve_entities", "chart"})
    strict = Demo(replace(demo.catalogue, forbidden=forbidden), demo.connection)
    for message, _ in REQUESTS:
        plan, _ = strict.plan(message)
        assert not forbidden & set(plan.tools)


def test_when_everything_is_forbidden_the_plan_says_so(demo: Demo) -> None:
    catalogue = replace(demo.catalogue, forbidden=frozenset(demo.catalogue.tools))
    plan, said, _ = RulePlanner().plan(Task("total net", TODAY, "nonce"), catalogue)
    assert plan.tools == ()
    assert "policy" in said
