"""Alerts: the open ones and their history, their rules, and what a rule would have done in the past."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import Body, Query, Request, Response, status
from pydantic import AwareDatetime, Field

from steward.api.context import context_of
from steward.api.documents import (
    Cursor,
    IfMatch,
    Input,
    Limit,
    Output,
    Page,
    page,
    revision_from,
    set_etag,
)
from steward.api.guards import AsEditor, AsOperator, AsViewer
from steward.api.routing import Router
from steward.api.types import AlertId, RuleId
from steward.app import Steward, alert_view, check_channels, flow_titles, people_names
from steward.core import NotFound, copied
from steward.identity import Access
from steward.observe import (
    ALL,
    LEAST_BASELINE,
    OPEN,
    Alert,
    AlertRule,
    Alerts,
    KeptRule,
    Past,
    State,
    View,
    one_line,
    sentence,
)
from steward.playbooks import subject_of
from steward.runs import Status

router = Router(prefix="/projects/{project_id}", tags=["alerts"])


class SendOut(Output):
    channel: Literal["mail", "slack", "webhook"]
    about: Literal["firing", "resolved"]
    run_id: str | None = Field(None, description="The run that sends the message.")
    problem: str | None = Field(None, description="Why there is no such run.")
    status: Status | None = Field(None, description="How the run that sends it stands now.")


class AlertOut(Output):
    id: str
    rule_id: str
    name: str
    sentence: str = Field(description="What the rule looks for.")
    figure: str
    condition: Literal["above", "below", "unusual"]
    flow: str | None = Field(description="Null for the whole project.")
    flow_title: str | None
    state: Literal["firing", "acknowledged", "resolved"]
    value: float | None = Field(description="When the alert opened.")
    latest: float | None = Field(description="At the last check, or when it resolved.")
    limit: float | None
    changes: list[str] = Field(
        description="For drift of outputs: what was not as usual when the alert opened."
    )
    run_id: str | None = Field(description="For drift of outputs: the run with that output.")
    opened_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None = Field(description="A name.")
    resolved_at: datetime | None
    resolved_why: Literal["recovered", "new_normal", "rule_changed", "rule_deleted"] | None
    muted_until: datetime | None
    sends: list[SendOut]


class AlertRuleOut(Output):
    id: str
    revision: int
    rule: AlertRule
    sentence: str
    flow_title: str | None
    author: str
    author_name: str
    is_paused: bool = Field(
        description="Whether it is not checked because its author left the project."
    )
    updated_at: datetime
    waiting_channels: list[Literal["mail", "slack", "webhook"]] = Field(
        [],
        description="After saving: channels whose messages wait for an approval, as policy is now.",
    )


class FlowChoice(Output):
    flow: str
    title: str


class AlertRulesOut(Output):
    items: list[AlertRuleOut]
    flows: list[FlowChoice] = Field(description="What rules can be about.")


class EpisodeOut(Output):
    flow_title: str | None
    first: datetime = Field(description="The hour in which the alert would have opened.")
    last: datetime | None = Field(description="The hour in which it would have resolved.")
    value: float


class PastOut(Output):
    times: int = Field(description="How often the rule would have fired in 28 days.")
    episodes: list[EpisodeOut] = Field(description="The newest 200 of these times.")
    flow_title: str | None = Field(description="Whose values these are; null: the whole project.")
    since: datetime = Field(description="The first hour of the values.")
    values: list[float | None] = Field(description="The figure at the end of each hour.")
    limits: list[float | None]
    learned_days: float | None = Field(
        description="For unusual figures: days of history so far, of the 14 that they need."
    )
    sentence: str


class MuteIn(Input):
    until: AwareDatetime | None = Field(description="Null: no longer muted.")


_RULE_EXAMPLE: dict[str, Any] = {
    "name": "Failed runs",
    "figure": "failed_runs",
    "window_hours": 24,
    "condition": {"kind": "above", "threshold": 3},
}
RuleIn = Annotated[AlertRule, Body(examples=[_RULE_EXAMPLE])]
_MOST_EPISODES = 200


class _Desk:
    """One caller at the alerts of a project."""

    def __init__(self, steward: Steward, access: Access) -> None:
        self.alerts: Alerts = steward.observations.alerts
        self.view: View = alert_view(steward.playbooks, access)
        self._steward = steward
        self._access = access
        self.title: Callable[[str], str] = flow_titles(steward.playbooks, access)
        self.name: Callable[[str], str] = people_names(steward.identity)

    def titled(self, flow: str | None) -> str | None:
        return None if flow is None or flow == ALL else self.title(flow)

    def rule_out(self, kept: KeptRule) -> AlertRuleOut:
        author = self._steward.governing.groups.role(self._access.scope, kept.author)
        return AlertRuleOut(
            id=kept.id,
            revision=kept.revision,
            rule=kept.rule,
            sentence=sentence(kept.rule),
            flow_title=self.titled(kept.rule.flow),
            author=kept.author,
            author_name=self.name(kept.author),
            is_paused=author is None,
            updated_at=kept.updated_at,
        )

    def alert_out(self, alert: Alert) -> AlertOut:
        return copied(
            AlertOut,
            alert,
            name=alert.rule.name,
            sentence=sentence(alert.rule),
            figure=alert.rule.figure,
            condition=alert.rule.condition.kind,
            flow=alert.flow or None,
            flow_title=self.titled(alert.flow),
            changes=[one_line(each.sentence, 300) for each in alert.drift.drifted]
            if alert.drift is not None
            else [],
            run_id=alert.drift.run_id if alert.drift is not None else None,
            acknowledged_by=self.name(alert.acknowledged_by) if alert.acknowledged_by else None,
            sends=[self._send_out(each) for each in alert.sends],
        )

    def _send_out(self, sent: Mapping[str, str]) -> SendOut:
        status: Status | None = None
        if run_id := sent.get("run_id"):
            with suppress(NotFound):
                status = self._steward.runs.get(self._access.scope, run_id).status
        return SendOut.model_validate({**sent, "status": status})

    def flows(self) -> list[FlowChoice]:
        """Those that ran lately, and playbooks that have not."""
        known = set(self.alerts.flows(self._access.scope, self.view))
        cards = self._steward.playbooks.library.listed(self._access, limit=200)
        known |= {subject_of(card.id) for card in cards}
        found = [FlowChoice(flow=flow, title=self.title(flow)) for flow in known]
        return sorted(found, key=lambda each: (each.title.casefold(), each.flow))

    def past_out(self, rule: AlertRule, past: Past) -> PastOut:
        return PastOut(
            times=len(past.episodes),
            episodes=[
                EpisodeOut(
                    flow_title=self.titled(each.flow),
                    first=_moment(each.first),
                    last=_moment(each.last) if each.last is not None else None,
                    value=each.value,
                )
                for each in past.episodes[-_MOST_EPISODES:]
            ],
            flow_title=self.titled(past.flow),
            since=_moment(past.first_hour),
            values=past.values,
            limits=past.limits,
            learned_days=_days(past.learned_hours),
            sentence=sentence(rule),
        )


@router.get("/alerts")
async def list_alerts(
    request: Request,
    access: AsViewer,
    state: Annotated[
        Literal["open", "resolved"], Query(description="`open`: firing or acknowledged.")
    ] = "open",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[AlertOut]:
    """Alerts, newest first."""
    context = context_of(request)

    def read() -> Page[AlertOut]:
        desk = _Desk(context.steward, access)
        states: tuple[State, ...] = OPEN if state == "open" else ("resolved",)

        def fetch(before: str | None, count: int) -> Sequence[Alert]:
            return desk.alerts.listed(access.scope, desk.view, states, before, count)

        items, following = page(fetch, lambda alert: alert.id, cursor, limit)
        return Page(items=[desk.alert_out(each) for each in items], next_cursor=following)

    return await context.in_turn(access, read)


@router.post("/alerts/{alert_id}/acknowledge")
async def acknowledge_alert(request: Request, access: AsOperator, alert_id: AlertId) -> AlertOut:
    """Says that somebody looks after it. The alert stays open until its figure is back within the limit."""
    return await _change(
        request, access, lambda desk: desk.alerts.acknowledge(access, desk.view, alert_id)
    )


@router.post("/alerts/{alert_id}/mute")
async def mute_alert(
    request: Request, access: AsOperator, alert_id: AlertId, body: MuteIn
) -> AlertOut:
    """Sends no message about its cause (the rule and the flow) until a moment."""
    return await _change(
        request, access, lambda desk: desk.alerts.mute(access, desk.view, alert_id, body.until)
    )


@router.post("/alerts/{alert_id}/normal")
async def accept_alert_as_normal(request: Request, access: AsEditor, alert_id: AlertId) -> AlertOut:
    """This is the new normal: resolves the alert and learns what is usual again, from now on."""
    return await _change(
        request, access, lambda desk: desk.alerts.accept_as_normal(access, desk.view, alert_id)
    )


@router.get("/alert-rules")
async def list_alert_rules(request: Request, access: AsViewer) -> AlertRulesOut:
    """Rules, and the flows that they can be about."""
    context = context_of(request)

    def read() -> AlertRulesOut:
        desk = _Desk(context.steward, access)
        rules = desk.alerts.rules(access.scope, desk.view)
        return AlertRulesOut(items=[desk.rule_out(each) for each in rules], flows=desk.flows())

    return await context.in_turn(access, read)


@router.post("/alert-rules", status_code=status.HTTP_201_CREATED)
async def create_alert_rule(
    request: Request, response: Response, access: AsEditor, body: RuleIn
) -> AlertRuleOut:
    """Adds a rule. Messages are sent in the name of who saved it last."""
    waiting = await _waiting(request, access, body)
    saved = await _save(
        request,
        response,
        access,
        lambda desk: desk.alerts.add_rule(access, desk.view, body),
    )
    return saved.model_copy(update={"waiting_channels": waiting})


@router.post("/alert-rule-preview")
async def preview_alert_rule(request: Request, access: AsViewer, body: RuleIn) -> PastOut:
    """How often a rule would have fired in the last 28 days, and when. Nothing is saved."""
    context = context_of(request)

    def read() -> PastOut:
        desk = _Desk(context.steward, access)
        return desk.past_out(body, desk.alerts.preview(access.scope, desk.view, body))

    return await context.in_turn(access, read)


@router.get("/alert-rules/{rule_id}")
async def get_alert_rule(
    request: Request, response: Response, access: AsViewer, rule_id: RuleId
) -> AlertRuleOut:
    return await _save(
        request,
        response,
        access,
        lambda desk: desk.alerts.rule(access.scope, desk.view, rule_id),
    )


@router.put("/alert-rules/{rule_id}")
async def change_alert_rule(
    request: Request,
    response: Response,
    access: AsEditor,
    rule_id: RuleId,
    body: RuleIn,
    if_match: IfMatch = None,
) -> AlertRuleOut:
    """Replaces a rule. Alerts resolve when it looks for something else than before."""
    expected = revision_from(if_match)
    waiting = await _waiting(request, access, body)
    saved = await _save(
        request,
        response,
        access,
        lambda desk: desk.alerts.change_rule(access, desk.view, rule_id, body, expected),
    )
    return saved.model_copy(update={"waiting_channels": waiting})


@router.delete("/alert-rules/{rule_id}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_alert_rule(
    request: Request, access: AsEditor, rule_id: RuleId, if_match: IfMatch = None
) -> None:
    """Deletes a rule. Its alerts resolve and stay in the history."""
    expected = revision_from(if_match)
    context = context_of(request)

    def delete() -> None:
        desk = _Desk(context.steward, access)
        desk.alerts.delete_rule(access, desk.view, rule_id, expected)

    await context.in_turn(access, delete)


async def _waiting(request: Request, access: Access, rule: AlertRule) -> list[str]:
    """A rule that is off may keep a channel that no longer works."""
    calls = context_of(request).steward.governing.direct_calls
    return await check_channels(calls, access, rule) if rule.enabled else []


async def _change(request: Request, access: Access, act: Callable[[_Desk], Alert]) -> AlertOut:
    context = context_of(request)

    def work() -> AlertOut:
        desk = _Desk(context.steward, access)
        return desk.alert_out(act(desk))

    return await context.in_turn(access, work)


async def _save(
    request: Request, response: Response, access: Access, act: Callable[[_Desk], KeptRule]
) -> AlertRuleOut:
    context = context_of(request)

    def work() -> AlertRuleOut:
        desk = _Desk(context.steward, access)
        return desk.rule_out(act(desk))

    saved = await context.in_turn(access, work)
    set_etag(response, saved.revision)
    return saved


def _days(hours: int | None) -> float | None:
    return None if hours is None else round(min(hours, LEAST_BASELINE) / 24, 1)


def _moment(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3600, UTC)
