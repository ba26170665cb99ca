"""Policy decisions: the strictest wins, nothing is permitted by silence, and no text lifts Steward's own rules."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.broker.policy import (
    Amounts,
    Asker,
    Decision,
    Origin,
    PolicySet,
    Question,
    Resource,
    decide,
    simulate,
)
from steward.broker.policy_text import PolicyVerdict
from steward.broker.policy_words import explain
from steward.broker.presets import PRESETS, faults
from steward.broker.tool import Effects, Risk
from steward.core.errors import Invalid
from steward.identity import Role
from steward.store import Scope

SCOPE = Scope("org_1", "prj_1")
GRAVE = (Risk.external_send, Risk.destructive, Risk.admin, Risk.secret)
EVERYTHING = '@id("all") permit(principal, action, resource);'


def _question(risk: Risk = Risk.read, role: Role = Role.owner, **other: Any) -> Question:
    groups = frozenset(other.pop("groups", ()))
    return Question(Asker("usr_1", role, groups), SCOPE, f"some_{risk.value}", risk, **other)


def _rule(name: str, verdict: str, condition: str = "true", **notes: str) -> str:
    effect = "forbid" if verdict == "deny" else "permit"
    outcome = "" if verdict == "deny" else f'@outcome("{verdict}")'
    further = " ".join(f'@{key}("{value}")' for key, value in notes.items())
    return f'@id("{name}") {outcome} {further} {effect}(principal, action, resource) when {{ {condition} }};'


def _at(decision: Decision) -> list[tuple[str, str]]:
    return [(rule.level, rule.id) for rule in decision.rules]


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("read-only", ["allow", "allow", "deny", "deny", "deny", "deny", "deny"]),
        ("draft-only", ["allow", "allow", "dry_run", "deny", "deny", "deny", "deny"]),
        ("supervised", ["allow", "allow", "dry_run", "ask", "ask", "ask", "ask"]),
        ("trusted", ["allow", "allow", "allow", "dry_run", "ask", "ask", "ask"]),
    ],
)
def test_presets_by_risk(preset: str, expected: list[str]) -> None:
    policies = PolicySet(organisation=PRESETS[preset])
    answers = [decide(policies, _question(risk, branch="draft")).verdict for risk in Risk]
    assert answers == expected


def test_drafts_are_not_main() -> None:
    policies = PolicySet(project=PRESETS["draft-only"])
    assert decide(policies, _question(Risk.write, branch="main")).verdict is PolicyVerdict.deny
    assert decide(policies, _question(Risk.write)).verdict is PolicyVerdict.deny


def test_a_role_holds_for_all_above_it() -> None:
    policies = PolicySet(organisation=PRESETS["supervised"])
    answers = {role: decide(policies, _question(Risk.destructive, role)).verdict for role in Role}
    assert [role for role, verdict in answers.items() if verdict is PolicyVerdict.ask] == [
        Role.editor,
        Role.admin,
        Role.owner,
    ]


def test_no_policy_denies() -> None:
    for policies in (PolicySet(), PolicySet(project="  \n"), PolicySet(project="// nothing yet")):
        decision = decide(policies, _question())
        assert decision.verdict is PolicyVerdict.deny
        assert explain(decision) == "Denied. There is no policy at all."


def test_every_level_with_a_text_must_permit() -> None:
    silent = '@id("never") permit(principal, action, resource) when { context.safe_mode };'
    decision = decide(PolicySet(EVERYTHING, silent), _question())
    assert decision.verdict is PolicyVerdict.deny
    assert _at(decision) == [("project", "")]
    assert "No rule of the project policy permits it" in explain(decision)


def test_the_rules_that_decided_are_named() -> None:
    policies = PolicySet(
        EVERYTHING,
        _rule("free", "allow") + _rule("finance", "ask", approvers="finance", reason="Money."),
        _rule("ours", "ask", approvers="ops") + _rule("tried", "dry_run"),
    )
    decision = decide(policies, _question(Risk.write))
    assert decision.verdict is PolicyVerdict.ask
    assert _at(decision) == [("project", "finance"), ("playbook", "ours")]
    assert decision.approvers == ("finance", "ops")
    assert decision.reason == "Money."
    assert explain(decision) == (
        "Needs an approval. The project's rule “finance” decides: Money. The playbook's rule “ours” "
        "decides. The approver must belong to “finance” and “ops”."
    )
    assert decision.to_json()["rules"][0] == {
        "level": "project",
        "id": "finance",
        "effect": "permit",
        "reason": "Money.",
    }


def test_a_forbid_denies_whatever_permits() -> None:
    text = EVERYTHING + _rule("stop", "deny", "context.risk_rank > 1", reason="Closed for audit.")
    decision = decide(PolicySet(text, EVERYTHING), _question(Risk.write))
    assert (decision.verdict, _at(decision)) == (PolicyVerdict.deny, [("organisation", "stop")])
    assert explain(decision).endswith("rule “stop” forbids: Closed for audit.")


def test_an_error_while_evaluating_denies_and_names_the_rule() -> None:
    text = EVERYTHING + _rule("big", "ask", "context.amounts.rows > 10")
    decision = decide(PolicySet(text), _question())
    assert decision.verdict is PolicyVerdict.deny
    assert "`big`" in decision.errors[0]
    assert "`big`" in explain(decision)
    assert decide(PolicySet(text), _question(amounts=Amounts(rows=11))).verdict is PolicyVerdict.ask


def test_a_call_that_cannot_be_judged_is_denied() -> None:
    decision = decide(PolicySet(EVERYTHING), _question(resource=Resource("dataset", "\ud800")))
    assert decision.verdict is PolicyVerdict.deny
    assert decision.errors
    decision = decide(PolicySet(EVERYTHING), _question(destination="\ud800"))
    assert decision.verdict is PolicyVerdict.deny
    assert decision.errors


def test_an_invalid_text_is_never_evaluated() -> None:
    with pytest.raises(Invalid):
        decide(PolicySet("permit(principal"), _question())


@pytest.mark.parametrize(
    ("condition", "question"),
    [
        ('principal in Group::"finance"', _question(groups=["finance"])),
        ('principal.groups.contains("finance")', _question(groups=["finance"])),
        ('action == Action::"some_write"', _question(Risk.write)),
        ('resource in Project::"prj_1" && resource is Dataset', _question(resource=Resource("dataset", "orders"))),
        ('resource in Organisation::"org_1"', _question()),
        ('resource is Destination && resource.address like "*@example.com"', _question(resource=Resource("destination", "a@example.com"))),
        ('context has destination && context.destination like "*@example.com"', _question(destination="a@example.com")),
        ('context has playbook && context.playbook == "pbk"', _question(playbook="pbk")),
        ('context.provenance.sources.contains("url:x")', _question(origin=Origin(sources=("url:x",)))),
        ('context.amounts has usd && context.amounts.usd.greaterThan(decimal("2.5000"))', _question(amounts=Amounts(usd=Decimal("2.50001")))),
        ("context.effects.hands_out", _question(effects=Effects(hands_out=True))),
        ('context.recipients.contains("eve@evil.example")', _question(recipients=("eve@evil.example",))),
        ('["a@x.example"].containsAll(context.recipients)', _question(recipients=("a@x.example",))),
        ('context.amounts has highest && context.amounts.highest.greaterThan(decimal("500.0"))', _question(amounts=Amounts(highest=Decimal("500.01")))),
        ("context.amounts has bytes && context.amounts.bytes > 9000000000000000000", _question(amounts=Amounts(bytes=10**30))),
    ],
)  # fmt: skip
def test_what_policies_can_look_at(condition: str, question: Question) -> None:
    tools = {"some_write": Risk.write}
    assert faults(_rule("it", "allow", condition), tools) == [], "it could not be saved"
    assert (
        decide(PolicySet(_rule("it", "allow", condition)), question).verdict is PolicyVerdict.allow
    )
    assert decide(PolicySet(_rule("it", "allow", f"!({condition})")), question).verdict is (
        PolicyVerdict.deny
    )


def test_names_that_would_confuse_are_refused() -> None:
    asker = Asker("usr_1", Role.owner)
    with pytest.raises(Invalid):
        Question(asker, SCOPE, "admin", Risk.read)
    with pytest.raises(Invalid):
        Question(asker, SCOPE, "preview", Risk.read, Resource("planet"))


def test_safe_mode_asks_before_any_change() -> None:
    policies = PolicySet(organisation=PRESETS["trusted"])
    answers = [decide(policies, _question(risk, safe_mode=True)).verdict for risk in Risk]
    assert answers[:3] == ["allow", "allow", "ask"]
    assert set(answers[3:]) == {"ask"}


verdicts = st.sampled_from(["allow", "dry_run", "ask", "deny"])
conditions = st.sampled_from(
    ["true", "context.risk_rank > 2", "context.provenance.read_untrusted", 'principal in Role::"admin"']
)  # fmt: skip
texts = st.lists(st.tuples(verdicts, conditions), max_size=4).map(
    lambda rules: "\n".join(_rule(f"r{i}", *rule) for i, rule in enumerate(rules))
)
questions = st.builds(
    _question,
    st.sampled_from(Risk),
    st.sampled_from(Role),
    safe_mode=st.booleans(),
    origin=st.builds(Origin, st.booleans(), st.booleans(), asked_for=st.booleans()),
)


@given(texts, texts, texts, questions)
def test_a_lower_level_only_narrows(high: str, middle: str, low: str, question: Question) -> None:
    if high:
        ranks = [
            decide(PolicySet(*levels), question).verdict.rank
            for levels in ((high,), (high, middle), (high, middle, low))
        ]
        assert ranks == sorted(ranks)


@given(texts, texts, texts, questions)
def test_untrusted_content_never_acts_alone(
    high: str, middle: str, low: str, question: Question
) -> None:
    decision = decide(PolicySet(high, middle, low), question)
    tainted = question.origin.untrusted_arguments or question.origin.read_untrusted
    asked_for = question.origin.asked_for and question.risk is Risk.external_send
    if tainted and question.risk in GRAVE and not asked_for:
        assert decision.verdict in {PolicyVerdict.ask, PolicyVerdict.deny}


@pytest.mark.parametrize(
    ("preset", "verdict"), [("trusted", PolicyVerdict.dry_run), ("supervised", PolicyVerdict.ask)]
)
def test_what_a_person_asked_for_is_for_the_project_to_decide(
    preset: str, verdict: PolicyVerdict
) -> None:
    origin = Origin(untrusted_arguments=True, read_untrusted=True, asked_for=True)
    policies = PolicySet(project=PRESETS[preset])
    assert decide(policies, _question(Risk.external_send, origin=origin)).verdict is verdict
    for risk in (Risk.destructive, Risk.admin, Risk.secret):
        assert decide(policies, _question(risk, origin=origin)).verdict is PolicyVerdict.ask


@given(texts, questions)
def test_the_verdict_is_the_strictest_of_what_matched(text: str, question: Question) -> None:
    """Each rule alone gives its verdict or nothing; together the strictest of them counts."""
    rules = [line for line in text.splitlines() if line]
    alone = [decide(PolicySet(rule), question) for rule in rules]
    matched = [one for one in alone if one.rules[0].effect != "default"]
    expected = max((one.verdict.rank for one in matched), default=PolicyVerdict.deny.rank)
    assert decide(PolicySet(text), question).verdict.rank == expected


def test_a_change_is_simulated_on_past_calls() -> None:
    past = [_question(risk) for risk in (Risk.read, Risk.write, Risk.external_send)]
    old, new = PolicySet(PRESETS["supervised"]), PolicySet(PRESETS["trusted"])
    changes = simulate(old, new, past)
    assert [(c.question.risk, c.before.verdict, c.after.verdict) for c in changes] == [
        (Risk.write, PolicyVerdict.dry_run, PolicyVerdict.allow),
        (Risk.external_send, PolicyVerdict.ask, PolicyVerdict.dry_run),
    ]
    assert all(change.is_looser for change in changes)
    assert simulate(old, old, past) == []


def test_a_change_of_approvers_is_a_change() -> None:
    old, new = (PolicySet(_rule("a", "ask", approvers=group)) for group in ("one", "two"))
    (change,) = simulate(old, new, [_question()])
    assert not change.is_looser


def test_each_place_is_decided_about_and_the_strictest_counts() -> None:
    house = _rule("house", "allow", 'context.destination like "mailto:*@house.example"')
    policies = PolicySet(project=house + _rule("rest", "ask", 'context.destination like "*@x.*"'))

    def verdict(*places: str) -> PolicyVerdict:
        joined = ", ".join(places)
        return decide(
            policies,
            _question(
                Risk.external_send,
                destination=joined,
                resource=Resource.named(joined),
                places=places,
            ),
        ).verdict

    ours, other, unknown = "mailto:a@house.example", "mailto:b@x.example", "mailto:c@y.example"
    assert verdict(ours) is PolicyVerdict.allow
    # One that ends like a place of ours would pass for it if they were looked at together.
    assert verdict(other, ours) is PolicyVerdict.ask
    assert verdict(unknown, ours) is PolicyVerdict.deny


@pytest.mark.parametrize(
    ("recipients", "addresses"),
    [
        (("EVE@Evil.Example",), ()),
        (('"Ann" <ann@house.example>, Eve <Eve@evil.example>',), ()),
        (("ann@house.example;eve@evil.example",), ()),
        (("\uff45ve@evil.example",), ()),
        ((), ("HTTPS://EVIL.example:8443/way?x=1",)),
        ((), ("https://house.example@evil.example/",)),
        ((), ("https://evil.example.",)),
        ((), ("https://evil.example\\@house.example/",)),
    ],
)
def test_another_spelling_is_the_same_recipient_or_host(
    recipients: tuple[str, ...], addresses: tuple[str, ...]
) -> None:
    stop = (
        'context.recipients.contains("eve@evil.example") || '
        'context.destinations.contains("evil.example")'
    )
    text = EVERYTHING + _rule("stop", "deny", stop)
    assert faults(text) == []
    question = _question(Risk.external_send, recipients=recipients, addresses=addresses)
    assert decide(PolicySet(project=text), question).verdict is PolicyVerdict.deny
    harmless = _question(Risk.external_send, recipients=("ann@house.example",))
    assert decide(PolicySet(project=text), harmless).verdict is PolicyVerdict.allow
