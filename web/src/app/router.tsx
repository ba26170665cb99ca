/** The addresses of the app: public pages, and behind the sign-in the shell with account and project pages. */
import type { QueryClient } from '@tanstack/react-query';
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  Outlet,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router';
import { sessionQuery } from '@/api/session';
import type { Session } from '@/api/types';
import { FailedPage, LoadingPage, MissingPage, MissingProject } from './fallbacks';
import { gatePage } from './gate';
import type { LoadComponent, ProjectPage } from './page-definition';
import { preferredProject, projectPath, rememberProject, useCurrentProject } from './project';
import type { Registry } from './registry';
import { Shell } from './Shell';
import { parseSearch, stringifySearch } from './search';

interface RouterContext {
  queryClient: QueryClient;
}

const NoProjects = lazyRouteComponent(() => import('./NoProjects'), 'NoProjects');

const rootRoute = createRootRouteWithContext<RouterContext>()({ component: Outlet });

/** Everything behind the sign-in; a visitor is sent there and comes back afterwards. */
const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'app',
  component: Shell,
  beforeLoad: async ({ context, location }): Promise<{ session: Session }> => {
    const session = await context.queryClient.query({ ...sessionQuery, staleTime: 'static' });
    if (!session || session.second_step_due) {
      throw redirect({
        to: session ? '/second-step' : '/sign-in',
        search: { next: location.href },
      });
    }
    return { session };
  },
});

const indexRoute = createRoute({
  getParentRoute: () => appRoute,
  path: '/',
  component: NoProjects,
  beforeLoad: ({ context }) => {
    const project = preferredProject(context.session);
    if (project) throw redirect({ to: projectPath(project.id), replace: true });
  },
});

const projectRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'p/$projectId',
  component: ProjectFrame,
  notFoundComponent: MissingProject,
  beforeLoad: async ({ context, params }) => {
    const isListed = ({ id }: { id: string }) => id === params.projectId;
    let session: Session | null = context.session;
    if (!session.projects.some(isListed)) {
      // Someone may have added us since the session was fetched.
      session = await context.queryClient.query({ ...sessionQuery, staleTime: 0 });
    }
    if (!session?.projects.some(isListed)) throw notFound();
    rememberProject(params.projectId);
  },
});

/** A project can go away while its page is open: deleted, or one is no longer a member. */
function ProjectFrame() {
  return useCurrentProject() ? <Outlet /> : <MissingProject />;
}

/** Unknown addresses inside a project keep its navigation. */
const missingInProjectRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: '$',
  component: MissingPage,
});

function lazily(load: LoadComponent) {
  return lazyRouteComponent(load);
}

function projectPageRoutes(page: ProjectPage): AnyRoute[] {
  // One route for the page with and without its item, so that opening one leaves the page as it is.
  const own = { path: page.item ? `{-$${page.item}}` : '', component: page.component };
  return [own, ...(page.children ?? [])].map(({ path, component }) =>
    createRoute({
      getParentRoute: () => projectRoute,
      path: [page.path, path].filter(Boolean).join('/') || '/',
      component: gatePage(page, lazily(component)),
    }),
  );
}

function pageRoutes(parent: () => AnyRoute, pages: { path: string; component: LoadComponent }[]) {
  return pages.map(({ path, component }) =>
    createRoute({ getParentRoute: parent, path, component: lazily(component) }),
  );
}

export function buildRouter(registry: Registry, queryClient: QueryClient, history?: RouterHistory) {
  const projectTree: AnyRoute = projectRoute.addChildren([
    ...registry.project.flatMap(projectPageRoutes),
    missingInProjectRoute,
  ]);
  const appTree: AnyRoute = appRoute.addChildren([
    indexRoute,
    projectTree,
    ...pageRoutes(() => appRoute, registry.account),
  ]);
  const routeTree: AnyRoute = rootRoute.addChildren([
    appTree,
    ...pageRoutes(() => rootRoute, registry.public),
  ]);
  return createRouter({
    routeTree,
    context: { queryClient },
    ...(history ? { history } : {}),
    parseSearch,
    stringifySearch,
    defaultPreload: 'intent',
    defaultPendingMs: 300,
    defaultPendingMinMs: 0,
    defaultPendingComponent: LoadingPage,
    defaultErrorComponent: FailedPage,
    defaultNotFoundComponent: MissingPage,
    scrollRestoration: true,
  });
}

export type AppRouter = ReturnType<typeof buildRouter>;
