"""What people and programs are told about alerts: one message for everything that opened or resolved in one round."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from steward.observe.alert_rules import (
    FIGURE_WORDS,
    AlertRule,
    Channel,
    MailChannel,
    SlackChannel,
    WebhookChannel,
    amount,
    sentence,
)
from steward.observe.alert_verdicts import ALL
from steward.observe.alerts import Alert

PAGE: Final = "overview?tab=alerts"
_MOST_LINES: Final = 20
_LONGEST_NAME: Final = 100
_LONGEST_SENTENCE: Final = 300
_MOST_DRIFTED: Final = 5
_WHY: Final = "The figure is back within its limit."


@dataclass(frozen=True)
class Call:
    """A call of a tool that sends a message."""

    tool: str
    arguments: Mapping[str, Any]
    title: str
    flow: str
    """What it is about; empty for the whole project or several flows: who may not see that does not see the call."""


@dataclass(frozen=True)
class Message:
    title: str
    text: str
    alerts: tuple[Mapping[str, Any], ...]
    has_opened: bool


def message_of(alerts: Sequence[Alert], title_of: Callable[[str], str]) -> Message:
    """For alerts that are firing or resolved; `title_of` gives names of flows, which anybody may have written."""
    opened = [each for each in alerts if each.state != "resolved"]
    resolved = [each for each in alerts if each.state == "resolved"]
    if len(alerts) == 1:
        title = f"{'Alert' if opened else 'Resolved'}: {alerts[0].rule.name}"
    else:
        parts = [count_of(len(opened), "alert")] if opened else []
        if resolved:
            count = str(len(resolved)) if opened else count_of(len(resolved), "alert")
            parts.append(f"{count} resolved")
        title = ", ".join(parts)
    lines = [line_of(each, title_of) for each in (*opened, *resolved)]
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"And {len(lines) - _MOST_LINES} more."]
    return Message(
        title,
        "\n".join(lines),
        tuple(_document(each, title_of) for each in alerts),
        bool(opened),
    )


def call_of(
    channel: Channel, message: Message, flow: str, project: str, address: str | None
) -> Call:
    """The call that sends a message; `address` is Steward's own, where it is known."""
    title = f"Send alert: {message.title}"[:200]
    link = f"\n\n{address}" if address else ""
    match channel:
        case MailChannel():
            arguments: dict[str, Any] = {
                "to": list(channel.to),
                "subject": f"[{one_line(project)}] {message.title}"[:300],
                "text": message.text + link,
            }
            return Call("send_email", _connected(arguments, channel.connection), title, flow)
        case SlackChannel():
            arguments = {"text": f"{message.title}\n{message.text}{link}"}
            if channel.channel is not None:
                arguments["channel"] = channel.channel
            return Call("send_slack", _connected(arguments, channel.connection), title, flow)
        case WebhookChannel():
            data = {"project": one_line(project), "alerts": [dict(each) for each in message.alerts]}
            arguments = {"endpoint": channel.endpoint, "type": "alerts.changed", "data": data}
            return Call("send_webhook", arguments, title, flow)


def sample_call(channel: Channel, rule: AlertRule) -> Call:
    """A call like those that the rule will make, to look at before there is an alert."""
    message = Message(f"Alert: {rule.name}", sentence(rule), (), has_opened=True)
    return call_of(channel, message, ALL, "", None)


def one_line(text: str, longest: int = _LONGEST_NAME) -> str:
    """Text of others without line breaks and control characters, and not long."""
    shown = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(shown.split())[:longest]


def line_of(alert: Alert, title_of: Callable[[str], str]) -> str:
    rule = alert.rule
    what = FIGURE_WORDS[rule.figure]
    of = "" if alert.flow == ALL else f" of “{one_line(title_of(alert.flow))}”"
    over = "" if rule.is_instant else f" in {count_of(rule.window_hours, 'hour')}"
    value = alert.latest if alert.state == "resolved" else alert.value
    if alert.drift is not None:
        return _drift_line(alert, of)
    said = f"{what}{of}{over}: {_amount(alert, value)} ({_limit(alert)})."
    if alert.state == "resolved":
        return f"{rule.name} is resolved. {said} {_WHY}"
    return f"{rule.name}: {said} Since {alert.opened_at:%Y-%m-%d %H:%M} UTC."


def _drift_line(alert: Alert, of: str) -> str:
    if alert.state == "resolved":
        return f"{alert.rule.name} is resolved. The output{of} is as usual again."
    drifted = alert.drift.drifted if alert.drift is not None else ()
    told = " ".join(one_line(each.sentence, _LONGEST_SENTENCE) for each in drifted[:_MOST_DRIFTED])
    more = f" And {len(drifted) - _MOST_DRIFTED} more." if len(drifted) > _MOST_DRIFTED else ""
    return f"{alert.rule.name}: the output{of} changed. {told}{more}"


def _limit(alert: Alert) -> str:
    how = {"above": "limit", "below": "at least", "unusual": "usual limit"}
    return f"{how[alert.rule.condition.kind]} {_amount(alert, alert.limit)}"


def _amount(alert: Alert, value: float | None) -> str:
    return "none" if value is None else amount(alert.rule.figure, value)


def _document(alert: Alert, title_of: Callable[[str], str]) -> dict[str, Any]:
    return {
        "id": alert.id,
        "rule": alert.rule.name,
        "figure": alert.rule.figure,
        "flow": None if alert.flow == ALL else one_line(title_of(alert.flow)),
        "state": alert.state,
        "value": alert.latest if alert.state == "resolved" else alert.value,
        "limit": alert.limit,
        "drift": alert.drift.to_json() if alert.drift is not None else None,
        "opened_at": alert.opened_at.isoformat(),
        "resolved_at": alert.resolved_at.isoformat() if alert.resolved_at else None,
    }


def _connected(arguments: dict[str, Any], connection: str | None) -> dict[str, Any]:
    return arguments if connection is None else {**arguments, "connection": connection}


def count_of(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
