"""Run tokens: only ours, only whole, only in time, and never wider than their parent's."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.broker.tokens import AUDIENCE, ISSUER, Claims, RunTokens, Wanted, narrow
from steward.broker.tool import Risk
from steward.core import MovableClock
from steward.core.errors import Denied, Misconfigured
from steward.store import Scope

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
KEY, OTHER_KEY = b"k" * 32, b"o" * 32
CLAIMS = Claims(
    scope=Scope("org_1", "prj_1"),
    user_id="usr_1",
    run_id="run_1",
    tools=frozenset({"preview", "query"}),
    highest_risk=Risk.write,
    branch="main",
    expires_at=START + timedelta(minutes=30),
    playbook="pbk_1",
    parent_run="run_0",
)


@pytest.fixture
def tokens(clock: MovableClock) -> RunTokens:
    return RunTokens(KEY, clock)


def _refusal(tokens: RunTokens, token: str, **expected: Any) -> str:
    with pytest.raises(Denied) as refused:
        tokens.verify(token, **expected)
    return refused.value.specific_code


def _body(token: str) -> dict[str, Any]:
    body: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return body


def test_a_token_says_what_was_put_in(tokens: RunTokens) -> None:
    read = tokens.verify(tokens.issue(CLAIMS), run_id="run_1", scope=CLAIMS.scope)
    assert replace(read, token_id="") == CLAIMS
    free = replace(CLAIMS, playbook=None, parent_run=None)
    assert replace(tokens.verify(tokens.issue(free)), token_id="") == free
    assert read.token_id
    assert read.token_id != tokens.verify(tokens.issue(CLAIMS)).token_id


def test_a_token_ends(tokens: RunTokens, clock: MovableClock) -> None:
    token = tokens.issue(CLAIMS)
    clock.advance(minutes=30, seconds=-1)
    tokens.verify(token)
    clock.advance(seconds=1)
    assert _refusal(tokens, token) == "token-expired"
    with pytest.raises(Denied):
        tokens.issue(CLAIMS)


def test_a_token_is_short_lived(tokens: RunTokens, clock: MovableClock) -> None:
    long = replace(CLAIMS, expires_at=clock.now() + timedelta(days=9))
    assert tokens.verify(tokens.issue(long)).expires_at == clock.now() + timedelta(hours=1)


def test_a_token_from_the_future_waits(tokens: RunTokens) -> None:
    ahead = RunTokens(KEY, MovableClock(START + timedelta(minutes=5)))
    assert _refusal(tokens, ahead.issue(CLAIMS)) == "token-early"


def test_a_token_is_of_one_run(tokens: RunTokens) -> None:
    token = tokens.issue(CLAIMS)
    assert _refusal(tokens, token, run_id="run_2") == "token-of-another-run"
    elsewhere = Scope("org_1", "prj_2")
    assert _refusal(tokens, token, scope=elsewhere) == "token-of-another-run"


@pytest.mark.parametrize("changed", [{"aud": "steward:api"}, {"aud": [AUDIENCE]}, {"iss": "else"}])
def test_another_purpose(tokens: RunTokens, changed: dict[str, Any]) -> None:
    body = {**_body(tokens.issue(CLAIMS)), **changed}
    assert _refusal(tokens, jwt.encode(body, KEY)) == "token-audience"


def test_another_key(tokens: RunTokens, clock: MovableClock) -> None:
    assert _refusal(tokens, RunTokens(OTHER_KEY, clock).issue(CLAIMS)) == "token-tampered"


def test_a_changed_body(tokens: RunTokens) -> None:
    head, body, signature = tokens.issue(CLAIMS).split(".")
    altered = {**json.loads(base64.urlsafe_b64decode(body + "==")), "risk": "secret"}
    forged = base64.urlsafe_b64encode(json.dumps(altered).encode()).rstrip(b"=").decode()
    assert _refusal(tokens, f"{head}.{forged}.{signature}") == "token-tampered"


@pytest.mark.parametrize("algorithm", ["none", "HS512"])
def test_a_token_cannot_choose_its_algorithm(tokens: RunTokens, algorithm: str) -> None:
    body = _body(tokens.issue(CLAIMS))
    key: str | bytes = "" if algorithm == "none" else KEY * 2
    assert _refusal(tokens, jwt.encode(body, key, algorithm=algorithm)) == "token-algorithm"


@pytest.mark.parametrize("name", sorted(_body(RunTokens(KEY, MovableClock(START)).issue(CLAIMS))))
def test_every_claim_is_needed(tokens: RunTokens, name: str) -> None:
    body = _body(tokens.issue(CLAIMS))
    del body[name]
    with pytest.raises(Denied):
        tokens.verify(jwt.encode(body, KEY))


@pytest.mark.parametrize(
    "changed", [{"risk": "cosmic"}, {"exp": "later"}, {"exp": True}, {"tools": 3}, {"nbf": 1.5}]
)
def test_signed_nonsense_is_refused(tokens: RunTokens, changed: dict[str, Any]) -> None:
    body = {**_body(tokens.issue(CLAIMS)), **changed}
    assert _refusal(tokens, jwt.encode(body, KEY)) == "token-malformed"


@given(st.text(max_size=80))
def test_noise_is_refused(noise: str) -> None:
    assert _refusal(RunTokens(KEY, MovableClock(START)), noise) == "token-malformed"


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_no_byte_can_be_changed(place: int, change: int) -> None:
    tokens = RunTokens(KEY, MovableClock(START))
    token = bytearray(tokens.issue(replace(CLAIMS, token_id="fixed")).encode())
    place %= len(token) - 1  # the last character holds bits that no decoder reads
    token[place] ^= change
    with pytest.raises(Denied):
        tokens.verify(token.decode("latin-1"))


def test_a_weak_key_is_refused(clock: MovableClock) -> None:
    with pytest.raises(Misconfigured):
        RunTokens(b"short", clock)


def test_calls_are_held_to_the_claims() -> None:
    CLAIMS.refuse_unless_covered("query", Risk.read)
    with pytest.raises(Denied) as refused:
        CLAIMS.refuse_unless_covered("send_email", Risk.read)
    assert refused.value.specific_code == "tool-not-granted"
    with pytest.raises(Denied) as refused:
        CLAIMS.refuse_unless_covered("query", Risk.external_send)
    assert refused.value.specific_code == "risk-not-granted"


names = st.frozensets(st.sampled_from(["preview", "query", "clean", "send_email", "undo"]))
moments = st.integers(-3600, 7200).map(lambda seconds: START + timedelta(seconds=seconds))
parents = st.builds(
    replace,
    st.just(CLAIMS),
    tools=names,
    highest_risk=st.sampled_from(Risk),
    expires_at=moments,
)
wishes = st.builds(
    Wanted,
    st.sampled_from(["run_2", "run_3"]),
    st.none() | names,
    st.none() | st.sampled_from(Risk),
    st.sampled_from([None, "main", "main/draft", "mainly", "other", ""]),
    st.none() | moments,
    st.none() | st.just("pbk_2"),
)


@given(parents, st.lists(wishes, min_size=1, max_size=4))
def test_descendants_only_narrow(parent: Claims, chain: list[Wanted]) -> None:
    tokens = RunTokens(KEY, MovableClock(START))
    above = parent
    for wanted in chain:
        branch = wanted.branch or above.branch
        if not f"{branch}/".startswith(f"{above.branch}/"):
            with pytest.raises(Denied):
                narrow(above, wanted)
            return
        below = narrow(above, wanted)
        assert below.tools <= above.tools
        assert below.highest_risk.at_most(above.highest_risk)
        assert below.expires_at <= above.expires_at
        assert (below.branch + "/").startswith(above.branch + "/")
        assert (below.scope, below.user_id) == (above.scope, above.user_id)
        assert (below.run_id, below.parent_run) == (wanted.run_id, above.run_id)
        if below.expires_at > START:
            assert tokens.verify(tokens.issue(below)).expires_at <= above.expires_at
        above = below


def test_the_issuer_is_named(tokens: RunTokens) -> None:
    assert _body(tokens.issue(CLAIMS))["iss"] == ISSUER
