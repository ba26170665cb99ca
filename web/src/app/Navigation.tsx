/** The navigation: only pages that exist and that the person's role may use. */
import { Kbd, UnstyledButton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import type { ProjectRef } from '@/api/types';
import { AccountMenu } from './AccountMenu';
import classes from './Navigation.module.css';
import { NotificationsBell } from './NotificationsBell';
import type { ProjectPage } from './page-definition';
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
          <span className={classes.grow}>Search</span>
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
  const manage = pagesFor(registry.project, project.role, 'manage');
  const links = (pages: ProjectPage[]) =>
    pages.map((page) => (
      <PageLink key={page.path} page={page} projectId={project.id} onNavigate={onNavigate} />
    ));
  return (
    <nav aria-label="Pages" className={classes.links}>
      <ul>{links(pagesFor(registry.project, project.role, 'work'))}</ul>
      {manage.length > 0 && (
        <>
          <p className={classes.heading} id="manage-pages">
            Project
          </p>
          <ul aria-labelledby="manage-pages">{links(manage)}</ul>
        </>
      )}
    </nav>
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
