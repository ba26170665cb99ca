"""The HTTP door: routes, guards and errors; no logic of its own."""

from functools import cache
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import BaseRoute

from steward.api import openapi, problems, webapp
from steward.api.context import ApiContext
from steward.api.guards import guard_of
from steward.api.limits import RateLimiter
from steward.api.metric_feeds import Feed, Feeds, Key
from steward.api.middleware import RequestFrame
from steward.api.route_index import RouteIndex
from steward.api.routes import (
    ag_ui,
    agent_notes,
    agents,
    alerts,
    analyses,
    approvals,
    blueprints,
    budgets,
    catalogue,
    changes,
    chat,
    code_checks,
    connection_proposals,
    connections,
    datasets,
    definitions,
    details,
    directories,
    dossiers,
    evaluations,
    events,
    health,
    history,
    invitations,
    links,
    mcp,
    metrics,
    models,
    network,
    notifications,
    oauth,
    observe,
    passkeys,
    playbook_deployments,
    playbook_drafts,
    playbook_files,
    playbook_revisions,
    playbook_runs,
    playbook_schedules,
    playbook_tests,
    playbooks,
    plugins,
    policy,
    project_code,
    projects,
    readings,
    received_spans,
    recipes,
    resolve,
    retention,
    run_journal,
    run_records,
    run_steering,
    runs,
    saved_queries,
    scim,
    search,
    second_step,
    secrets,
    server_tools,
    servers,
    session,
    sign_ins,
    sign_on,
    skills,
    span_contents,
    take_back,
    threads,
    tokens,
    tools,
    triggers,
    two_step,
    uploads,
    weighings,
)
from steward.api.streams import StreamPlaces
from steward.app import Steward, live_figures
from steward.core.lazy_doors import lazily

if TYPE_CHECKING:
    from steward.api.server import serve

__all__ = [
    "create_api",
    "create_routes",
    "serve",
]

_ROUTERS = (
    session.router,
    sign_on.router,
    directories.router,
    projects.router,
    project_code.router,
    invitations.router,
    search.router,
    tokens.router,
    oauth.router,
    models.router,
    models.local_router,
    secrets.router,
    notifications.router,
    events.router,
    datasets.router,
    definitions.router,
    uploads.router,
    weighings.router,
    servers.router,
    connections.router,
    catalogue.router,
    connection_proposals.router,
    server_tools.router,
    sign_ins.router,
    changes.router,
    history.router,
    take_back.router,
    resolve.router,
    network.router,
    retention.router,
    tools.router,
    skills.router,
    plugins.router,
    observe.router,
    details.router,
    metrics.router,
    alerts.router,
    analyses.router,
    span_contents.router,
    analyses.users_router,
    runs.router,
    run_journal.router,
    run_steering.router,
    run_records.router,
    dossiers.router,
    evaluations.router,
    playbook_files.router,
    playbook_deployments.router,
    playbook_drafts.router,
    playbook_revisions.router,
    playbook_runs.router,
    playbook_schedules.router,
    playbook_tests.router,
    playbooks.router,
    triggers.router,
    second_step.router,
    two_step.router,
    passkeys.router,
    triggers.hooks,
    links.router,
    links.public,
    triggers.forms,
    blueprints.router,
    budgets.router,
    chat.router,
    code_checks.router,
    readings.router,
    saved_queries.router,
    received_spans.router,
    threads.router,
    ag_ui.router,
    agents.router,
    agent_notes.router,
    recipes.router,
    approvals.router,
    policy.router,
    health.about_router,
)


def create_routes() -> FastAPI:
    """The routes without an installation behind them; enough to describe the API."""
    api = FastAPI(title="Steward", docs_url=None, redoc_url=None, openapi_url=None)
    routes = _built_routes()
    api.router.routes.extend([RouteIndex(routes), *routes])
    openapi.install(api)
    return api


@cache
def _built_routes() -> tuple[BaseRoute, ...]:
    """Built once in a process: to read the signatures of all of them takes half a second."""
    api = FastAPI(openapi_url=None, generate_unique_id_function=lambda route: route.name)
    for router in _ROUTERS:
        api.include_router(router, prefix=openapi.PREFIX)
    api.include_router(health.router)
    api.include_router(mcp.router)
    api.include_router(oauth.public)
    api.include_router(scim.router)
    api.include_router(metrics.named)
    api.include_router(analyses.named)
    for path, route in openapi.routes_of(api):
        if path.startswith(openapi.ALL):
            guard_of(route)
    return tuple(api.router.routes)


def create_api(steward: Steward) -> FastAPI:
    """The whole HTTP application over an open installation."""
    api = create_routes()
    http = steward.settings.http
    limiter = RateLimiter(
        steward.clock, per_minute=http.requests_per_minute, burst=http.request_burst
    )

    def feed(key: Key) -> Feed:
        figures = live_figures(steward, key.scope, key.hours, key.visible)
        return Feed(figures, key.scope, steward.events, steward.bus)

    places = StreamPlaces(http.streams_per_person)
    api.state.context = ApiContext(steward, limiter, places, Feeds(feed))
    problems.install(api, steward.metrics)
    api.add_exception_handler(mcp.Unsigned, mcp.answer_unsigned)

    @api.get(f"{openapi.PREFIX}/openapi.json", include_in_schema=False)
    def description() -> dict[str, object]:
        return api.openapi()

    webapp.install(api)
    api.add_middleware(RequestFrame, steward=steward)
    return api


__getattr__ = lazily(
    __name__,
    {
        "steward.api.server": ["serve"],
    },
)
