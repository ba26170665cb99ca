"""Nothing that looks like a secret passes into a log line."""

import io
import json
import logging

import pytest

from steward.core.settings import LogSettings
from steward.trace import configure_logs, get_logger, log_context, redact, redact_text

SECRETS = [
    "stw_hEtZU-6GjnqX3ApUF3OHTvhUhE5g_viVyG4XSoLpmZE",
    "Bearer abcdefgh12345678",
    "sk-proj-abcdefghijklmnop",
    "xoxb-123456789012-abcdefghijkl",
    "ghp_abcdefghijklmnop1234",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "AKIAIOSFODNN7EXAMPLE",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_by_shape_inside_any_text(secret: str) -> None:
    assert secret not in redact_text(f"calling with {secret} failed")
    assert secret not in str(redact({"message": [f"x {secret} y"]}))


def test_passwords_in_addresses_go_and_the_rest_stays() -> None:
    text = redact_text("could not reach postgresql://ada:s3cret@db.example/steward")
    assert "s3cret" not in text
    assert "db.example/steward" in text


@pytest.mark.parametrize(
    "name", ["password", "new_password", "api_key", "Authorization", "csrf_token", "client_secret"]
)
def test_by_name_whatever_the_value(name: str) -> None:
    assert redact({name: "plain", "other": 1}) == {name: "[redacted]", "other": 1}
    assert "plain" not in str(redact({"outer": {"inner": [{name: "plain"}]}}))


def test_values_in_quotes_may_have_spaces_and_names_may_follow_each_other() -> None:
    assert redact_text("password='a b' x=1") == "password='[redacted]' x=1"
    assert redact_text('{"my_token": "a b", "n": "c"}') == '{"my_token": "[redacted]", "n": "c"}'
    assert redact_text("u=password=b&c=d") == "u=password=[redacted]&c=d"
    assert redact_text("secret = a token=b") == "secret = [redacted] token=[redacted]"


@pytest.mark.parametrize("part", ["password", "password=a ", "eyJaaaaaaaa-", "token='a "])
def test_text_that_is_made_to_cost_time_is_read_once(part: str) -> None:
    """It comes in spans, errors and answers of strangers; at this length it took hours."""
    assert len(redact_text(part * 40_000)) > 40_000


def test_ordinary_text_is_left_alone() -> None:
    for text in ("Loaded 3 rows from customers.csv", "run_01kdgq3v0z8r5m2x7c4b9n6t1w is done"):
        assert redact_text(text) == text


def test_log_lines_are_json_with_ids_and_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    before = logging.getLogger().handlers, logging.getLogger().level
    try:
        configure_logs(LogSettings(level="info", format="json"))
        with log_context(request_id="req_1", run_id="run_1"):
            get_logger("steward.test").info("hello", password="hunter2", rows=3)
            try:
                raise ValueError(f"token {SECRETS[0]} refused")
            except ValueError:
                get_logger("steward.test").exception("broke")
        logging.getLogger("some.library").warning("using %s", SECRETS[1])
    finally:
        logging.getLogger().handlers, level = before[0], before[1]
        logging.getLogger().setLevel(level)
    text = stream.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["event"] for line in lines[:2]] == ["hello", "broke"]
    assert lines[0]["request_id"] == "req_1"
    assert lines[0]["run_id"] == "run_1"
    assert lines[0]["rows"] == 3
    assert "hunter2" not in text
    for secret in SECRETS[:2]:
        assert secret not in text
