/** The frame around every page behind the sign-in: navigation, palette, notifications and live updates. */
import { t } from '@lingui/core/macro';
import { VisuallyHidden } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Outlet, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { useLiveProject } from '@/api/live';
import type { StreamEvent } from '@/api/stream';
import { PAGE_TITLE_ID } from '@/components/Page';
import { undoLatest } from '@/components/undo';
import { useDialog } from '@/components/use-search-param';
import { listenEarly, takeEarly } from './early-keys';
import { Navigation } from './Navigation';
import { useCurrentProject } from './project';
import { SafeMode } from './SafeMode';
import classes from './Shell.module.css';
import { Topbar } from './Topbar';

const CreateProject = lazy(() => import('./CreateProject'));
const loadPalette = () => import('./Palette');
const Tour = lazy(() => import('./Tour'));
const Palette = lazy(loadPalette);
const NavigationDrawer = lazy(() => import('./NavigationDrawer'));
const NotificationsDrawer = lazy(() => import('./NotificationsDrawer'));

const IDLE_AFTER = 2_000;

export function Shell() {
  const project = useCurrentProject();
  const [menu, openMenu, closeMenu] = useLazily();
  const [palette, showPalette, closePalette] = useLazily();
  const openPalette = useCallback(() => {
    listenEarly();
    loadPalette().then(showPalette, takeEarly);
  }, [showPalette]);
  const [inbox, openInbox, closeInbox] = useLazily();
  const newProject = useDialog('new-project');
  const tour = useDialog('tour');
  useHotkeys([['mod+K', openPalette]], []);
  useHotkeys([['mod+Z', undoLatest]]);
  useEffect(() => {
    // Fetched while nothing else is going on, so that the first Ctrl-K opens at once.
    const timer = setTimeout(() => void loadPalette(), IDLE_AFTER);
    return () => clearTimeout(timer);
  }, []);
  useFocusOnNavigation(closeMenu);

  const navigation = (
    <Navigation onSearch={openPalette} onNotifications={openInbox} onNavigate={closeMenu} />
  );
  return (
    <div className={classes.shell}>
      <a href="#main" className={classes.skip}>
        {t`Skip to content`}
      </a>
      <Topbar onMenu={openMenu} onSearch={openPalette} onNotifications={openInbox} />
      <aside aria-label={t`Sidebar`} className={classes.sidebar}>
        {navigation}
      </aside>
      <main id="main" tabIndex={-1} className={classes.main}>
        {project && <SafeMode projectId={project.id} />}
        <Outlet />
      </main>
      {project && <Live key={project.id} projectId={project.id} />}
      <Suspense>
        {newProject.opened && <CreateProject />}
        {tour.opened && <Tour />}
        {menu.wanted && (
          <NavigationDrawer opened={menu.opened} onClose={closeMenu}>
            {navigation}
          </NavigationDrawer>
        )}
        {palette.wanted && <Palette opened={palette.opened} onClose={closePalette} />}
        {inbox.wanted && project && (
          <NotificationsDrawer projectId={project.id} opened={inbox.opened} onClose={closeInbox} />
        )}
      </Suspense>
    </div>
  );
}

/** Something that is loaded when first opened and kept from then on, so that it can close gracefully. */
function useLazily() {
  const [state, setState] = useState({ wanted: false, opened: false });
  const open = useCallback(() => setState({ wanted: true, opened: true }), []);
  const close = useCallback(() => setState({ wanted: true, opened: false }), []);
  return [state, open, close] as const;
}

/** Follows the project's events and says aloud when a notification arrives. */
function Live({ projectId }: { projectId: string }) {
  const [spoken, setSpoken] = useState('');
  const onEvent = useCallback((event: StreamEvent) => {
    if (event.type === 'org.steward.notification.created') setSpoken(t`New notification`);
  }, []);
  useLiveProject(projectId, onEvent);
  return <VisuallyHidden role="status">{spoken}</VisuallyHidden>;
}

/** After navigation the keyboard starts at the new page's title, not where the old page was left. */
function useFocusOnNavigation(onNavigated: () => void): void {
  const router = useRouter();
  useEffect(() => {
    const leaf = () => String(router.state.matches.at(-1)?.routeId);
    let before = leaf();
    return router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
      const now = leaf();
      // An item that opens over its page, or closes, looks after the focus itself.
      const isOverPage = now === before && now.includes('{-$');
      before = now;
      if (!fromLocation || !pathChanged) return;
      onNavigated();
      if (!isOverPage) document.getElementById(PAGE_TITLE_ID)?.focus({ preventScroll: true });
    });
  }, [router, onNavigated]);
}
