"""Roles are read from the schema alone: inherited inwards, split where fields differ, and strict where nobody said."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from steward.broker.declared import arguments_of
from steward.broker.plans import Facts, facts_of
from steward.broker.roles import (
    AMOUNT,
    CONTENT,
    DECLARABLE,
    KEYWORD,
    PLAIN,
    RECIPIENT,
    TARGET,
    HasRole,
    Role,
    only_reads,
    read_parts,
    role_problem,
    roles_of,
    with_roles,
    without_roles,
)
from steward.broker.tool import Arguments, Outcome, Risk, Tool, ToolContext
from steward.core.errors import Invalid


class Person(Arguments):
    name: str
    address: Annotated[str, RECIPIENT]


class Sending(Arguments):
    people: Annotated[list[Person], CONTENT] = Field(min_length=1)
    sum: Annotated[float | None, AMOUNT] = None
    file: Annotated[str | None, TARGET] = "usual"
    method: Annotated[str, HasRole(Role.reach, only_reads=("GET",))] = "GET"
    anything: dict[str, Any] = Field({})


SCHEMA = Sending.model_json_schema()


def _roles(arguments: dict[str, Any], schema: Any = SCHEMA) -> dict[str, tuple[Any, str]]:
    return {each.path: (each.value, each.role.value) for each in read_parts(schema, arguments)}


def test_a_role_covers_what_is_inside_unless_a_field_declares_its_own() -> None:
    assert roles_of(SCHEMA) == {
        "people[].name": Role.content,
        "people[].address": Role.recipient,
        "sum": Role.amount,
        "file": Role.target,
        "method": Role.reach,
        "anything": Role.undeclared,
    }


def test_a_call_is_split_where_roles_differ_and_only_there() -> None:
    people = [{"name": "Ann", "address": "a@x.example"}, {"name": "Bob", "address": "b@x.example"}]
    assert _roles({"people": people, "sum": 3, "anything": {"to": ["c@x.example"]}}) == {
        "people[].name": (["Ann", "Bob"], "content"),
        "people[].address": (["a@x.example", "b@x.example"], "recipient"),
        "sum": (3, "amount"),
        "anything": ({"to": ["c@x.example"]}, "undeclared"),
    }


def test_names_that_a_caller_makes_up_take_no_role_from_a_field() -> None:
    schema = {
        "properties": {
            "message": {
                "properties": {"to": {"properties": {"name": {KEYWORD: "plain"}}}},
            }
        }
    }
    found = _roles({"message": {"to.name": "evil@x.example"}, "message.to.name": "y"}, schema)
    assert {role for _, role in found.values()} == {"undeclared"}
    assert found["message.*"][0] == ["to.name", "evil@x.example"], "the name counts too"


def test_options_that_disagree_about_a_role_declare_none() -> None:
    to = {"properties": {"to": {KEYWORD: "plain"}}}
    other = {"properties": {"to": {KEYWORD: "content"}}}
    schema = {"properties": {"message": {"anyOf": [to, other, {"type": "null"}]}}}
    assert roles_of(schema) == {"message.to": Role.undeclared}


def test_a_schema_without_end_is_read_as_far_as_it_goes() -> None:
    node: dict[str, Any] = {"properties": {name: {"$ref": "#/$defs/Node"} for name in "abcdefgh"}}
    schema = {"properties": {"tree": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    assert len(roles_of(schema)) < 5_000
    assert set(roles_of(schema).values()) == {Role.undeclared}


def test_confirmed_roles_replace_what_the_author_claims() -> None:
    claimed = {**SCHEMA, KEYWORD: "plain"}
    confirmed = with_roles(claimed, {"people[].address": "recipient", "sum": "amount"})
    found = roles_of(confirmed)
    assert found["people[].address"] is Role.recipient
    assert found["people[].name"] is Role.undeclared, "what the author declared does not count"
    assert found["sum"] is Role.amount
    assert found["file"] is Role.undeclared
    with pytest.raises(Invalid, match="no argument 'sums'"):
        with_roles(SCHEMA, {"sums": "amount"})
    with pytest.raises(Invalid, match="not a role"):
        with_roles(SCHEMA, {"sum": "undeclared"})


def test_models_and_strangers_see_no_roles() -> None:
    assert KEYWORD not in str(without_roles(SCHEMA))
    named = {"properties": {KEYWORD: {"type": "string"}}}
    assert without_roles(named) == named, "an argument may be called like the keyword"


def test_a_wrong_role_is_told() -> None:
    assert role_problem(SCHEMA) is None
    wrong = {"properties": {"to": {"items": {KEYWORD: "receiver"}}}}
    assert str(role_problem(wrong)).startswith("`x-role: receiver` is not a role; roles are reci")
    assert role_problem({"properties": {"to": {KEYWORD: "undeclared"}}}) is not None


def test_a_call_that_only_reads_says_so_by_what_is_given_or_usual() -> None:
    assert only_reads(SCHEMA, {})
    assert only_reads(SCHEMA, {"method": "GET"})
    assert not only_reads(SCHEMA, {"method": "POST"})


async def _nothing(_context: ToolContext, _arguments: Arguments) -> Outcome:
    return Outcome(None)


def test_policies_know_recipients_and_the_highest_amount() -> None:
    tool = Tool("send", "Send", "Sends.", Sending, Risk.external_send, _nothing)
    given = {
        "people": [{"name": "Ann", "address": "a@x.example"}],
        "sum": 12.5,
        "anything": {"n": 40, "to": "b@x.example"},
    }
    facts = facts_of(tool, Sending.model_validate(given))
    assert facts.destination == "a@x.example"
    assert set(facts.recipients) == {"a@x.example", "40", "b@x.example"}
    assert str(facts.amount) == "40", "what is undeclared counts as an amount too"
    assert [role for _, role in facts.roles][:2] == ["recipient", "amount"]
    again = Facts.from_body(facts.to_json())
    assert (again.destination, again.recipients, again.amount) == (
        facts.destination,
        facts.recipients,
        facts.amount,
    )


def test_there_is_one_annotation_for_each_role() -> None:
    assert [str(role) for role in DECLARABLE][:3] == ["recipient", "destination", "amount"]
    assert HasRole(Role.plain) == PLAIN


def test_a_stranger_smuggles_no_role_in() -> None:
    """Neither as a keyword that looks like a field, nor in a value that is referred to as a schema."""
    schema = {
        "type": "object",
        "default": {"type": "string", KEYWORD: "plain", "x-only-reads": ["eve"]},
        "properties": {
            "to": {"type": "string", "x-only-reads": {"eve": {}}, "x-may-be-new": {"so": True}},
            "cc": {"$ref": "#/default"},
            KEYWORD: {"type": "string", KEYWORD: "plain"},
        },
    }
    found = with_roles(schema, {"to": "recipient"})
    parts = {
        each.path: each for each in read_parts(found, {"to": "eve", "cc": "eve", KEYWORD: "x"})
    }
    assert not parts["to"].only_reads
    assert not parts["to"].may_be_new
    assert (parts["cc"].role, parts["cc"].only_reads) == (Role.undeclared, False)
    assert parts[KEYWORD].role is Role.undeclared, "a field of that name stays a field"


def test_a_schema_that_refers_to_itself_stays_as_large_as_it_is() -> None:
    email = {"type": "string", "default": "eve@x.example"}
    person = {
        "type": "object",
        "properties": {
            "email": email,
            "boss": {"$ref": "#/$defs/person"},
        },
    }
    schema = {
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/person"}},
        "$defs": {"person": person},
    }
    made = with_roles(schema, {})
    del email["default"]
    assert made == schema


def test_a_strangers_default_names_nobody() -> None:
    schema = {
        "type": "object",
        "properties": {
            "to": {"type": "string", "default": "eve@x.example"},
            "unsaid": {"type": "string", "default": "eve@x.example"},
            "limit": {"type": "integer", "default": 10},
            "dry": {"type": "boolean", "default": True},
            "message": {
                "type": "object",
                "default": {"to": "eve@x.example"},
                "properties": {"to": {"type": "string", "default": "eve@x.example"}},
            },
        },
    }
    roles = {"to": "recipient", "limit": "plain", "dry": "reach", "message.to": "recipient"}
    tool = arguments_of(with_roles(schema, roles), "a stranger's tool")
    assert tool.model_validate({}).model_dump() == {"limit": 10, "dry": True}
    part = read_parts(tool.model_json_schema(), {"message": {"to": "eve@x.example"}})[0]
    assert not part.is_default


@pytest.mark.parametrize(
    ("given", "amount"),
    [
        ("1e6", "1E+6"),
        (-5_000, "5000"),
        ("1,000,000", "Infinity"),
        ("1 000 000 EUR", "Infinity"),
        ("NaN", "Infinity"),
        ("a lot", "Infinity"),
        ("", "None"),
    ],
)
def test_an_amount_that_cannot_be_read_is_more_than_any_limit(given: Any, amount: str) -> None:
    class Paying(Arguments):
        sum: Annotated[Any, AMOUNT] = None

    tool = Tool("pay", "Pay", "Pays.", Paying, Risk.external_send, _nothing)
    assert str(facts_of(tool, Paying(sum=given)).amount) == amount
