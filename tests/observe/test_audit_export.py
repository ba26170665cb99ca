"""The event log taken out: every event once, readable by others, and no change of the file goes unseen."""

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core.errors import Invalid
from steward.core.events import TYPE_PREFIX, Event
from steward.identity import Role
from steward.observe import AuditFormat, check_seal
from steward.observe.audit_lines import line_of, seal_in, seal_line
from steward.testing import Installation

API = "/api/v1"
FORMATS = list(AuditFormat)


def _events(installation: Installation, count: int) -> None:
    steward = installation.steward
    for number in range(count):
        steward.secrets.set(installation.scope, f"secret_{number}", "value", author="usr_a")


def _export(installation: Installation, form: AuditFormat, after: int = 0) -> list[str]:
    audit = installation.steward.observations.audit
    text = "".join(audit.lines(installation.scope, form, by="usr_a", after=after))
    assert text.endswith("\n")
    return text[:-1].split("\n")


@pytest.mark.parametrize("form", FORMATS)
def test_every_event_is_exported_once_in_order(
    installation: Installation, form: AuditFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.observe.audit_export._PAGE", 3)
    _events(installation, 10)
    steward = installation.steward
    expected = [event.id for event in steward.events.after(installation.scope, 0, 1000)]
    lines = _export(installation, form)
    pattern = r'"id":"(evt_\w+)"' if form is AuditFormat.jsonl else r"externalId=(evt_\w+)"
    found = [each[1] for line in lines[:-1] if (each := re.search(pattern, line))]
    # The export itself is the last event.
    assert found[:-1] == expected
    assert "audit.exported" in lines[-2]
    checked = check_seal(lines, steward.runs.heads.keys)
    assert (checked.is_intact, checked.events) == (True, len(expected) + 1)

    later = _export(installation, form, checked.last)
    assert check_seal(later, steward.runs.heads.keys).events == 1


@pytest.mark.parametrize("form", FORMATS)
def test_no_change_goes_unseen(installation: Installation, form: AuditFormat) -> None:
    _events(installation, 4)
    keys = installation.steward.runs.heads.keys
    lines = _export(installation, form)
    changed = {
        "removed": [*lines[:1], *lines[2:]],
        "edited": [lines[0].replace("usr_a", "usr_b") + " ", *lines[1:]],
        "swapped": [lines[1], lines[0], *lines[2:]],
        "added": [lines[0], *lines],
        "resealed": [*lines[:-1], lines[-1].replace("version", "Version")],
    }
    for name, file in changed.items():
        assert not check_seal(file, keys).is_intact, name
    with pytest.raises(Invalid, match="no seal"):
        check_seal(lines[:-1], keys)
    foreign = seal_in(lines[-1])
    assert foreign is not None
    again = seal_line(foreign[0], "00" * 64, form)
    assert not check_seal([*lines[:-1], again], keys).is_intact


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_no_text_breaks_a_line_or_forges_a_field(subject: str, by: str, value: str) -> None:
    event = Event(
        id="evt_1",
        type=f"{TYPE_PREFIX}secret.changed",
        source="/projects/prj_1",
        subject=subject,
        time=datetime(2026, 1, 2, tzinfo=UTC),
        data={"by": by, "name": value},
        cursor=7,
    )
    as_json = line_of(event, AuditFormat.jsonl)
    assert json.loads(as_json)["data"] == {"by": by, "name": value}
    cef = line_of(event, AuditFormat.cef)
    for line in (as_json, cef):
        assert "\n" not in line
        assert "\r" not in line
    # Unescaped equals signs are those of our own fields.
    fields = re.findall(r"(?<!\\)(?:\\\\)*=", cef.partition("|5|")[2])
    assert len(fields) == 11
    assert seal_in(cef) is None
    assert seal_in(as_json) is None


def test_admins_export_over_http_and_others_may_not(installation: Installation) -> None:
    path = f"{API}/projects/{installation.scope.project_id}/events/export"
    answer = installation.owner.client.get(path, params={"format": "cef"})
    assert answer.status_code == 200
    assert "events.cef" in answer.headers["content-disposition"]
    lines = answer.text.removesuffix("\n").split("\n")
    assert all(line.startswith("CEF:0|Steward|") for line in lines)
    assert check_seal(lines, installation.steward.runs.heads.keys).is_intact
    editor = installation.person(Role.editor)
    assert editor.client.get(path).status_code == 403
