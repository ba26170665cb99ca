/** The bar of small screens: menu, project, search and notifications. */
import { ActionIcon } from '@mantine/core';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { NotificationsBell } from './NotificationsBell';
import { useCurrentProject } from './project';
import classes from './Topbar.module.css';

interface Props {
  onMenu: () => void;
  onSearch: () => void;
  onNotifications: () => void;
}

export function Topbar({ onMenu, onSearch, onNotifications }: Props) {
  const project = useCurrentProject();
  return (
    <section aria-label="Top bar" className={classes.bar}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Open navigation"
        onClick={onMenu}
      >
        <MenuIcon size={18} aria-hidden />
      </ActionIcon>
      <span className={classes.project}>{project?.name ?? 'Steward'}</span>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Search and commands"
        onClick={onSearch}
      >
        <Search size={18} aria-hidden />
      </ActionIcon>
      {project && <NotificationsBell projectId={project.id} onClick={onNotifications} />}
    </section>
  );
}
