/** The navigation: only pages that exist and that the person's role may use. */
import { t } from '@lingui/core/macro';
import { Kbd, UnstyledButton } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { ChevronRight, Search } from 'lucide-react';
import { type PropsWithChildren, useEffect, useRef, useState } from 'react';
import type { ProjectRef } from '@/api/types';
import { AccountMenu } from './AccountMenu';
import classes from './Navigation.module.css';
import { NotificationsBell } from './NotificationsBell';
import { type ProjectPage, type Section, SECTIONS } from './page-definition';
import { projectPath, useCurrentProject } from './project';
import { ProjectSwitcher } from './ProjectSwitcher';
import { pagesFor, registry } from './registry';
import { MODIFIER } from './platform';

interface Props {
  onSearch: () => void;
  onNotifications: () => void;
  onNavigate: () => void;
}

export function Navigation({ onSearch, onNotifications, onNavigate }: Props) {
  const project = useCurrentProject();
  return (
    <div className={classes.root}>
      <div className={classes.top}>
        <ProjectSwitcher />
        <UnstyledButton className={classes.search} onClick={onSearch}>
          <Search size={14} aria-hidden />
          <span className={classes.grow}>{t`Search`}</span>
          <Kbd size="xs">{MODIFIER} K</Kbd>
        </UnstyledButton>
      </div>
      <div className={classes.scroller}>
        {project && <PageLinks project={project} onNavigate={onNavigate} />}
      </div>
      <div className={classes.bottom}>
        <AccountMenu />
        {project && <NotificationsBell projectId={project.id} onClick={onNotifications} />}
      </div>
    </div>
  );
}

function PageLinks({ project, onNavigate }: { project: ProjectRef; onNavigate: () => void }) {
  const sections = Map.groupBy(pagesFor(registry.project, project.role), (page) => page.section);
  const links = (pages: ProjectPage[]) =>
    pages.map((page) => (
      <PageLink key={page.path} page={page} projectId={project.id} onNavigate={onNavigate} />
    ));
  const place = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a low screen the entry of the open page may lie below the others.
  useEffect(() => {
    place.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [pathname]);
  return (
    <nav aria-label={t`Pages`} className={classes.links} ref={place}>
      {[...sections].map(([section, pages]) => {
        const title = SECTIONS[section];
        return title === null ? (
          <ul key={section}>{links(pages)}</ul>
        ) : (
          <Group key={section} section={section} title={title}>
            {links(pages)}
          </Group>
        );
      })}
    </nav>
  );
}

/** Which sections somebody closed is remembered in their browser. */
function Group({
  section,
  title,
  children,
}: PropsWithChildren<{ section: Section; title: string }>) {
  const key = `steward.navigation.${section}`;
  const [open, setOpen] = useState(() => localStorage.getItem(key) !== 'closed');
  return (
    <details
      className={classes.group}
      open={open}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
        localStorage.setItem(key, currentTarget.open ? 'open' : 'closed');
      }}
    >
      <summary className={classes.heading}>
        <ChevronRight size={12} aria-hidden />
        {title}
      </summary>
      <ul aria-label={title}>{children}</ul>
    </details>
  );
}

interface PageLinkProps {
  page: ProjectPage;
  projectId: string;
  onNavigate: () => void;
}

function PageLink({ page, projectId, onNavigate }: PageLinkProps) {
  const { icon: Icon, path, title, badge: Badge } = page;
  return (
    <li>
      <Link
        to={projectPath(projectId, path)}
        className={classes.link}
        activeOptions={{ exact: path === '', includeSearch: false }}
        onClick={onNavigate}
      >
        <Icon size={16} aria-hidden />
        {title}
        {Badge && <Badge projectId={projectId} />}
      </Link>
    </li>
  );
}
