/** The bar of small screens: menu, project, search, inbox and notifications. */
import { t } from '@lingui/core/macro';
import { ActionIcon, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Inbox, Menu as MenuIcon, Search } from 'lucide-react';
import { InboxBadge } from './InboxBadge';
import { NotificationsBell } from './NotificationsBell';
import bell from './NotificationsBell.module.css';
import { projectPath, useCurrentProject } from './project';
import classes from './Topbar.module.css';

interface Props {
  onMenu: () => void;
  onSearch: () => void;
  onNotifications: () => void;
}

export function Topbar({ onMenu, onSearch, onNotifications }: Props) {
  const project = useCurrentProject();
  return (
    <section aria-label={t`Top bar`} className={classes.bar}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t`Open navigation`}
        onClick={onMenu}
      >
        <MenuIcon size={18} aria-hidden />
      </ActionIcon>
      <span className={classes.project}>{project?.name ?? 'Steward'}</span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t`Search and commands`}
        onClick={onSearch}
      >
        <Search size={18} aria-hidden />
      </ActionIcon>
      {project && (
        <ActionIcon
          component={Link}
          to={projectPath(project.id, 'inbox')}
          variant="subtle"
          color="gray"
          size="lg"
          className={bell.bell ?? ''}
        >
          <Inbox size={18} aria-hidden />
          <VisuallyHidden>{t`Inbox`}</VisuallyHidden>
          <InboxBadge projectId={project.id} className={bell.count} />
        </ActionIcon>
      )}
      {project && <NotificationsBell projectId={project.id} onClick={onNotifications} />}
    </section>
  );
}
