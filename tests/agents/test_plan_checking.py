"""Plans against registry, policy and data: what stands, and that every mistake is named."""

from typing import Any

import pytest

from steward.agents.planning.examples import shipped_examples
from steward.agents.planning.plan_checks import PlanRefused, check_plan
from steward.broker.tool import Risk
from tests.agents.planning_kit import catalogue, dataset

KNOWN = catalogue()


def step(**more: Any) -> dict[str, Any]:
    return {
        "id": "s1",
        "title": "Count",
        "agent": "data-analyst",
        "tools": ["execute_query_plan"],
        "arguments": {"plan": {"source": "orders"}},
        **more,
    }


def document(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"goal": "Count the orders", "steps": list(steps)}


def problems(*steps: dict[str, Any], **more: Any) -> list[str]:
    with pytest.raises(PlanRefused) as refused:
        check_plan(document(*steps), catalogue(**more) if more else KNOWN)
    return [f"{each.pointer}: {each.message}" for each in refused.value.problems]


def test_a_good_plan_stands() -> None:
    plan = check_plan(
        document(step(), step(id="s2", needs=["s1"], tools=["list_datasets"], arguments={})), KNOWN
    )
    assert [each.id for each in plan] == ["s1", "s2"]


GOOD: list[dict[str, Any]] = [
    {"tools": ["execute_sql"], "arguments": {"sql": "SELECT country, sum(amount) AS a FROM orders GROUP BY 1 ORDER BY a"}},
    {"tools": ["execute_sql"], "arguments": {"sql": "WITH x AS (SELECT * FROM orders) SELECT count(*) FROM x"}},
    {"tools": ["execute_sql"], "arguments": {"sql": "SELECT o.amount FROM orders o JOIN customers c USING (customer_no)"}},
    {"tools": ["execute_sql"], "arguments": {"sql": "SELECT unnest([1, 2]) AS x"}},
    {"tools": ["preview"], "arguments": {"dataset": "Orders", "sort": [{"column": "AMOUNT"}]}},
    {"tools": ["chart"], "arguments": {"dataset": "orders", "chart": {"kind": "bar", "x": "country"}}},
    {"tools": ["profile"], "arguments": {}},
    {"agent": "data-engineer", "tools": ["join"], "arguments": {"datasets": ["orders", "customers"], "target": "both",
                                                                "on": [{"left": "customer_no", "right": "customer_no"}]}},
    {"agent": "data-engineer", "tools": ["clean"], "arguments": {"dataset": "customers", "operation": "emails",
                                                                 "arguments": {"columns": ["email"]}}},
    {"agent": "summariser", "tools": [], "arguments": {}},
    {"skill": "report-writing"},
]  # fmt: skip


@pytest.mark.parametrize("changed", GOOD, ids=str)
def test_what_exists_and_is_allowed_is_accepted(changed: dict[str, Any]) -> None:
    check_plan(document(step(**changed)), KNOWN)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"agent": "data-analist"}, "/steps/0/agent: there is no agent 'data-analist'; do you mean data-analyst?"),
    ({"tools": ["execute_sqll"]}, "/steps/0/tools/0: there is no tool 'execute_sqll'; do you mean execute_sql"),
    ({"tools": []}, "/steps/0/tools: data-analyst works with tools"),
    ({"tools": ["clean"], "arguments": {}}, "/steps/0/tools/0: data-analyst may not call clean; give the step to data-engineer"),
    ({"fallback_tools": ["send_email"]}, "/steps/0/fallback_tools/0: data-analyst may not call send_email"),
    ({"tools": ["http_request"], "arguments": {}}, "the project's policy does not allow http_request"),
    ({"skill": "poetry"}, "/steps/0/skill: there is no skill 'poetry'"),
    ({"arguments": {"plan": {"source": "order"}}}, "/steps/0/arguments/plan/source: there is no dataset 'order'"),
    ({"arguments": {"plan": {"source": "orders", "select": ["price"]}}}, "there is no column 'price' here"),
    ({"arguments": {"plan": {"source": "orders", "group": ["country"]}}}, "group needs an aggregate"),
    ({"arguments": {"plan": "source: ["}}, "/steps/0/arguments/plan"),
    ({"arguments": {"query": "x"}}, "/steps/0/arguments: 'query' is not known here"),
    ({"tools": ["execute_sql"], "arguments": {"sql": "SELECT * FROM payments"}}, "there is no dataset 'payments'"),
    ({"tools": ["execute_sql"], "arguments": {"sql": "SELECT price FROM orders"}}, "there is no column 'price'"),
    ({"tools": ["execute_sql"], "arguments": {"sql": "DELETE FROM orders"}}, "exactly one SELECT"),
    ({"tools": ["execute_sql"], "arguments": {"sql": "SELECT (((" }}, "not SQL"),
    ({"tools": ["execute_sql"], "arguments": {"sql": "(" * 5000}}, "nested too deeply"),
    ({"tools": ["execute_sql"], "arguments": {"sql": "SELECT * FROM orders", "datasets": ["customers"]}}, "there is no dataset"),
    ({"tools": ["preview"], "arguments": {"dataset": "order_lines"}}, "/steps/0/arguments/dataset: there is no dataset"),
    ({"tools": ["preview"], "arguments": {"dataset": "orders", "limit": 5000}}, "/steps/0/arguments/limit"),
    ({"tools": ["preview"], "arguments": {"dataset": "orders", "sort": [{"column": "price"}]}}, "no column 'price'"),
    ({"tools": ["chart"], "arguments": {"dataset": "orders", "chart": {"kind": "bar"}}}, "a bar chart needs x"),
    ({"tools": ["chart"], "arguments": {"dataset": "orders", "chart": {"kind": "bar", "x": "price"}}}, "no column 'price'"),
    ({"agent": "data-engineer", "tools": ["redact"], "arguments": {"dataset": "orders", "columns": {"price": {"method": "mask"}}}},
     "no column 'price'"),
    ({"agent": "data-engineer", "tools": ["clean"], "arguments": {"dataset": "orders", "operation": "parse_dates", "arguments": {}}},
     "'columns' is missing"),
    ({"agent": "data-engineer", "tools": ["join"], "arguments": {"datasets": ["orders", "customers"], "target": "both",
      "on": [{"left": "customer_no", "right": "id"}]}}, "/steps/0/arguments/on/0/right: there is no column 'id'"),
    ({"needs": ["s9"]}, "needs 's9', which is no step before it"),
    ({"id": "Step 1"}, "/steps/0/id"),
    ({"confidence": 7}, "/steps/0/confidence"),
    ({"surprise": 1}, "/steps/0/surprise"),
    ({"agent": "summariser", "tools": []}, "there are arguments but no tool"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "said"), BAD, ids=[each[1][:60] for each in BAD])
def test_a_mistake_is_named_with_its_place(changed: dict[str, Any], said: str) -> None:
    found = problems(step(**changed))
    assert any(said in each for each in found), found


def test_all_mistakes_are_named_at_once_also_beside_a_broken_step() -> None:
    found = problems(
        step(agent="nobody", tools=["nothing"], arguments={}),
        step(id="s2", confidence="high"),
        step(id="s3", arguments={"plan": {"source": "nowhere"}}),
    )
    for wanted in (
        "/steps/0/agent",
        "/steps/0/tools/0",
        "/steps/1/confidence",
        "/steps/2/arguments/plan/source",
    ):
        assert any(each.startswith(wanted) for each in found), (wanted, found)


def test_at_most_four_agents() -> None:
    names = ["data-analyst", "data-engineer", "reconciler", "reporter", "reviewer"]
    steps = [
        step(id=f"s{n}", agent=name, tools=["list_datasets"], arguments={})
        for n, name in enumerate(names)
    ]
    assert any("at most 4 agents" in each for each in problems(*steps))


def test_nothing_above_the_grant() -> None:
    found = problems(
        step(agent="data-engineer", tools=["clean"], arguments={}), highest_risk=Risk.compute
    )
    assert any("clean is write, above compute" in each for each in found)


def test_a_dataset_that_a_step_makes_exists_for_those_that_need_it() -> None:
    both = step(
        id="join",
        agent="data-engineer",
        tools=["join"],
        arguments={
            "datasets": ["orders", "customers"],
            "target": "both",
            "on": [{"left": "customer_no", "right": "customer_no"}],
        },
    )
    use = step(
        id="use",
        arguments={"plan": {"source": "both", "select": ["whatever"]}, "datasets": ["both"]},
    )
    check_plan(document(both, {**use, "needs": ["join"]}), KNOWN)
    assert any("put that into `needs`" in each for each in problems(both, use))
    assert any("no dataset 'both'" in each for each in problems(use))


def test_what_a_step_changes_is_needed_by_who_reads_it() -> None:
    clean = step(
        id="clean",
        agent="data-engineer",
        tools=["clean"],
        arguments={"dataset": "orders", "operation": "trim", "arguments": {}},
    )
    look = step(id="look", tools=["preview"], arguments={"dataset": "orders"})
    assert any("put that into `needs`" in each for each in problems(clean, look))
    middle = step(id="middle", tools=["list_datasets"], arguments={}, needs=["clean"])
    check_plan(document(clean, middle, {**look, "needs": ["middle"]}), KNOWN)


HOSTILE: list[Any] = [
    None,
    [],
    "plan",
    5,
    float("nan"),
    {},
    {"goal": "x", "steps": []},
    {"goal": "x", "steps": "all"},
    {"goal": "x", "steps": [None, 3, []]},
    {"goal": "x", "steps": [step(arguments={"plan": {"source": "orders", "limit": float("inf")}})]},
    {"goal": "x", "steps": [step(arguments={"plan": {"source": "orders", "limit": 10**40}})]},
    {"goal": "\ud800", "steps": [step()]},
    {"goal": "a\0b", "steps": [step()]},
    {"goal": "x" * 10**6, "steps": [step()]},
    {"goal": "x", "steps": [step(id=f"s{n}") for n in range(500)]},
    {1: 2},
    {"goal": {"a": object()}},
    {"goal": "x", "steps": [{**step(), "arguments": {"a": {1, 2}}}]},
]


@pytest.mark.parametrize("given", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_comes_is_refused_and_nothing_breaks(given: Any) -> None:
    with pytest.raises(PlanRefused) as refused:
        check_plan(given, KNOWN)
    assert refused.value.problems
    assert len(refused.value.message) < 10_000


def test_depth_and_circles_are_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    circle: dict[str, Any] = {"goal": "x"}
    circle["steps"] = [circle]
    for given in (deep, circle, {"goal": "x", "steps": [step(arguments={"plan": deep})]}):
        with pytest.raises(PlanRefused):
            check_plan(given, KNOWN)
    # Taken apart by hand: the interpreter would do it by recursion.
    while deep:
        deep = deep.pop("a", None)


@pytest.mark.parametrize("example", shipped_examples(), ids=lambda each: each.message)
def test_the_worked_examples_of_the_prompt_stand(example: Any) -> None:
    tables = {}
    for table in example.tables.split("; "):
        name, _, rest = table.partition(" (")
        columns = dict(each.split(" ", 1) for each in _columns(rest.removesuffix(")")))
        tables[name] = dataset(name, columns, next(iter(columns)))
    check_plan(example.plan, catalogue(datasets=tables))


def _columns(text: str) -> list[str]:
    # decimal(10,2) has a comma of its own
    return text.replace("(10,2", "(10.2").split(", ")
