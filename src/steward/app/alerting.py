"""Who is told of alerts and how messages leave: joins the rules of alerts with people, playbooks and governed calls."""

from dataclasses import dataclass

from steward.app.figure_names import flow_titles
from steward.app.present_access import present_access
from steward.core import Denied, HttpSettings, Invalid, NotFound, Problem, StewardError, Unavailable
from steward.flows import DirectCall, DirectCalls
from steward.identity import Access, Identity, Role
from steward.observe import ALL, MESSAGES, PAGE, AlertRule, Call, View, sample_call
from steward.playbooks import ALERTS_ABOUT_ALL, SUBJECT, Playbooks, alerts_about
from steward.runs import RunRequest
from steward.store import Scope


@dataclass(eq=False, repr=False)
class AlertBystanders:
    _identity: Identity
    _playbooks: Playbooks
    _direct_calls: DirectCalls
    _settings: HttpSettings

    def view(self, scope: Scope, user_id: str, token_role: Role | None) -> View | None:
        try:
            return alert_view(
                self._playbooks, present_access(self._identity, scope, user_id, token_role)
            )
        except NotFound:
            return None

    def title(self, scope: Scope, user_id: str, flow: str) -> str:
        return flow_titles(self._playbooks, present_access(self._identity, scope, user_id, None))(
            flow
        )

    def request(
        self, scope: Scope, user_id: str, token_role: Role | None, call: Call
    ) -> RunRequest:
        access = present_access(self._identity, scope, user_id, token_role)
        if access.role < Role.editor:
            raise Denied("The author of the rule is no longer an editor of this project.")
        wanted = DirectCall(
            call.tool, call.arguments, title=call.title, subject=_subject(call.flow)
        )
        return self._direct_calls.request(access, wanted)

    def project(self, scope: Scope, user_id: str) -> str:
        return self._identity.projects.get(
            present_access(self._identity, scope, user_id, None)
        ).name

    def address(self, scope: Scope) -> str | None:
        base = self._settings.public_url
        return f"{base.rstrip('/')}/p/{scope.project_id}/{PAGE}" if base else None


async def check_channels(direct_calls: DirectCalls, access: Access, rule: AlertRule) -> list[str]:
    """Kinds of channels whose messages a person must approve; Invalid where one cannot send at all."""
    waiting = []
    for index, channel in enumerate(rule.channels):
        call = sample_call(channel, rule)
        try:
            if await direct_calls.needs_approval(access, DirectCall(call.tool, call.arguments)):
                waiting.append(channel.kind)
        except Unavailable:
            raise
        except StewardError as problem:
            raise _refused(f"/channels/{index}", channel.kind, problem) from problem
    return list(dict.fromkeys(waiting))


def _refused(place: str, kind: str, problem: StewardError) -> Invalid:
    found = problem.problems if isinstance(problem, Invalid) else ()
    problems = [Problem(place + each.pointer, each.message) for each in found]
    return Invalid(
        f"The rule cannot send by {kind}. {problem.message}",
        problems=problems or [Problem(place, problem.message)],
    )


def _subject(flow: str) -> str:
    """A message about a playbook is hidden with it; one about several, with any of them."""
    if flow == ALL:
        return ALERTS_ABOUT_ALL
    return alerts_about(flow) if flow.startswith(SUBJECT) else MESSAGES


def alert_view(playbooks: Playbooks, access: Access) -> View:
    """What of alerts somebody sees."""
    sight = playbooks.people.sight(access)
    return View(access.user_id, sight.among, not sight.hides_some)
