"""Log lines: one JSON object each, tied together by ids, free of secrets whatever is logged."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
import structlog
from pydantic import SecretStr

from steward.core.settings import LogSettings
from steward.identity import Role
from steward.testing import Installation
from steward.trace import configure_logs, get_logger, log_context, redact, redact_text

VALUE = "hunter2hunter2"
# Each with what must not be seen of it.
CORPUS = [
    ("stw_" + "Ab1-_" * 9, "Ab1-_Ab1"),
    ("sts_" + "Ab1-_" * 9, "Ab1-_Ab1"),
    ("stl_" + "Ab1-_" * 9, "Ab1-_Ab1"),
    ("sti_" + "Ab1-_" * 9, "Ab1-_Ab1"),
    ("csrf_" + "Ab1-_" * 9, "Ab1-_Ab1"),
    (f"Authorization: Bearer {VALUE}", VALUE),
    ("Authorization: Basic YWRhOmxvdmVsYWNl", "YWRhOmxvdmVsYWNl"),
    ("http://127.0.0.1:8400/sign-in?link=stl_" + "Ab1-_" * 9, "Ab1-_Ab1"),
    (f"postgresql://steward:{VALUE}@db.example/steward", VALUE),
    ("postgresql://steward:p@ss-w@rd@db.example/steward", "w@rd"),
    (f"connection failed: password={VALUE} host=db", VALUE),
    (f"/api?token={VALUE}&page=2", VALUE),
    (f'{{"password": "{VALUE} and more", "n": 1}}', VALUE),
    (f"{{'api_key': '{VALUE}'}}", VALUE),
    (f"STEWARD_METRICS__TOKEN={VALUE}", VALUE),
    (f"aws_secret_access_key = {VALUE}", VALUE),
    (f"--password={VALUE}", VALUE),
    ("sk-ant-api03-abcdefghijklmnop", "abcdefghijklmnop"),
    ("sk_live_abcdefghijklmnop", "abcdefghijklmnop"),
    ("github_pat_abcdefghijklmnop1234", "abcdefghijklmnop"),
    ("ghs_abcdefghijklmnop1234", "abcdefghijklmnop"),
    ("glpat-abcdefghijklmnop", "abcdefghijklmnop"),
    ("xoxe-123456789012-abcdefghijkl", "abcdefghijkl"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
    ("AIza" + "SyA0123456789abcdefghijklmnopqrstuv", "SyA0123456789"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "c2lnbmF0dXJl"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----",
        "MIIEabc",
    ),
    ("-----BEGIN PRIVATE KEY-----\nMIIEabc cut off", "MIIEabc"),
]
NAMES = [
    "password",
    "new_password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "client_secret",
    "token",
    "access_token",
    "X-CSRF-Token",
    "Authorization",
    "Cookie",
    "set_cookie",
    "api_key",
    "apiKey",
    "api-key",
    "private_key",
    "AWS_SECRET_ACCESS_KEY",
    "access_key_id",
    "credentials",
    "ciphertext",
    "link",
    "sign_in_link",
    "session_key",
]
ORDINARY = [
    "Loaded 3 rows from customers.csv",
    "run_01kdgq3v0z8r5m2x7c4b9n6t1w is done",
    "/new_password: String should have at most 200 characters",
    "The X-CSRF-Token header is missing or wrong. It is the csrf_token of GET /session.",
    "Sign in, or send an API token as 'Authorization: Bearer <token>'.",
    "Set STEWARD_METRICS__TOKEN to open them.",
    "http://127.0.0.1:8400/projects",
    "Basic instructions follow",
    "a password has at least 10 characters",
]


@dataclass
class Logged:
    """What the process logs from `start` on."""

    monkeypatch: pytest.MonkeyPatch
    stream: io.StringIO = field(default_factory=io.StringIO)

    def start(
        self,
        kind: Literal["json", "text"] = "json",
        level: Literal["debug", "info", "warning", "error"] = "debug",
    ) -> None:
        with self.monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", self.stream)
            configure_logs(LogSettings(level=level, format=kind))

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Logged]:
    """The logging of the test run is put back afterwards."""
    root, before = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers, root.level
    yield Logged(monkeypatch)
    root.handlers = handlers
    root.setLevel(level)
    structlog.configure(**before)


def _log_everywhere(text: str) -> None:
    """Every way in which text gets into a log line."""
    ours, library = get_logger("steward.test"), logging.getLogger("some.library")
    ours.info(text)
    ours.info("formatted %s", text)
    ours.info("field", detail=text)
    ours.info("deep", detail={"a": [{"b": (text, {text})}], text: 1})
    ours.info("object", error=ValueError(text), path=Path("/x") / text, raw=text.encode())
    library.warning("formatted %s", text)
    library.warning("mapped %(x)s", {"x": text})
    with log_context(request_id=text):
        ours.info("context")
    try:
        try:
            raise KeyError(text)
        except KeyError as cause:
            raise ValueError(f"wrapped {text}") from cause
    except ValueError as error:
        ours.exception("broke")
        ours.error("broke", exc_info=error)
        library.exception("broke in a library")


@pytest.mark.parametrize("kind", ["json", "text"])
@pytest.mark.parametrize(("text", "hidden"), CORPUS, ids=[text[:24] for text, _ in CORPUS])
def test_a_secret_gets_through_nowhere(
    logged: Logged, kind: Literal["json", "text"], text: str, hidden: str
) -> None:
    logged.start(kind)
    _log_everywhere(f"before {text} after")
    assert hidden not in logged.text
    assert logged.text.count("[redacted]") >= 11
    assert "before" in logged.text


@pytest.mark.parametrize("name", NAMES)
def test_a_sensitive_name_hides_any_value(name: str) -> None:
    for value in (VALUE, 12345678, 1.5, VALUE.encode(), SecretStr(VALUE), Decimal(12345678)):
        hidden = str(redact({name: value, "n": [{name: [value]}]}))
        assert VALUE not in hidden
        assert "12345678" not in hidden
        assert "1.5" not in hidden
    assert redact({name: None}) == {name: None}
    assert redact({name: True}) == {name: True}


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert redact_text(text) == text


def test_ordinary_values_stay() -> None:
    plain: dict[str, Any] = {"rows": 3, "share": 0.5, "ok": True, "none": None, "names": ["a", "b"]}
    assert redact(plain) == plain


def test_lines_are_json_objects_with_level_logger_and_time(logged: Logged) -> None:
    logged.start()
    get_logger("steward.test").warning("several\nlines", rows=3)
    [line] = logged.lines
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "several\nlines",
        "rows": 3,
        "level": "warning",
        "logger": "steward.test",
    }


def test_the_level_is_kept(logged: Logged) -> None:
    logged.start(level="error")
    get_logger("steward.test").warning("quiet")
    logging.getLogger("some.library").warning("quiet")
    get_logger("steward.test").error("loud")
    assert [line["event"] for line in logged.lines] == ["loud"]


def test_ids_tie_lines_together_and_end_with_their_block(logged: Logged) -> None:
    logged.start()
    with log_context(request_id="req_1"):
        with log_context(run_id="run_1"):
            get_logger("steward.test").info("inside")
        logging.getLogger("some.library").info("between")
    get_logger("steward.test").info("outside")
    inside, between, outside = logged.lines
    assert (inside["request_id"], inside["run_id"]) == ("req_1", "run_1")
    assert (between["request_id"], "run_id" in between) == ("req_1", False)
    assert "request_id" not in outside


def test_requests_are_logged_with_their_id_and_without_their_content(
    installation: Installation, logged: Logged
) -> None:
    client = installation.person(Role.admin).client
    logged.start(level="info")
    address = f"/api/v1/projects/{installation.scope.project_id}/secrets/KEY_{VALUE}"
    made = client.put(address, json={"value": VALUE}, params={"q": VALUE})
    named = client.get("/api/v1/nothing/here", headers={"X-Request-ID": "my-own-request-id"})
    assert (made.status_code, named.status_code) == (200, 404)
    # The client of the test logs too; what counts is what the server says.
    ours = [line for line in logged.lines if line["logger"].startswith("steward")]
    assert [line["request_id"] for line in ours] == [
        made.headers["X-Request-ID"],
        "my-own-request-id",
    ]
    assert ours[0]["route"] == "/api/v1/projects/{project_id}/secrets/{name}"
    assert ours[0]["principal"].startswith("usr_")
    assert (ours[0]["method"], ours[0]["status"]) == ("PUT", 200)
    assert VALUE not in json.dumps(ours)


def test_an_unexpected_error_is_logged_under_the_id_the_caller_sees(
    installation: Installation, logged: Logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = installation.person(Role.admin).client
    logged.start()

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"password={VALUE}")

    monkeypatch.setattr(installation.steward.secrets, "page", broken)
    answer = client.get(f"/api/v1/projects/{installation.scope.project_id}/secrets")
    assert answer.status_code == 500
    assert VALUE not in answer.text
    assert "RuntimeError" not in answer.text
    broke = [line for line in logged.lines if "RuntimeError" in line.get("exception", "")]
    assert {line["request_id"] for line in broke} == {answer.json()["instance"]}
    assert VALUE not in logged.text
