/** Shows the current project and switches to another, keeping the page one is on. */
import { t } from '@lingui/core/macro';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, Plus } from 'lucide-react';
import { roleName } from '@/api/roles';
import { useSession } from '@/api/session';
import { useDialog } from '@/components/use-search-param';
import { DropMenu, DropMenuItem, DropMenuLabel, DropMenuLine } from './DropMenu';
import classes from './Menus.module.css';
import { useCurrentProject } from './project';
import { groupByOrganisation, initial, mayCreateProject, samePageIn } from './projects-menu';

export function ProjectSwitcher() {
  const session = useSession();
  const current = useCurrentProject();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const dialog = useDialog('new-project');
  const groups = groupByOrganisation(session.projects);
  const button = (
    <>
      <span className={classes.badge} aria-hidden>
        {initial(current?.name ?? 'Steward')}
      </span>
      <span className={classes.names}>
        <span className={classes.name}>{current?.name ?? t`No project`}</span>
        <span className={classes.detail}>{current?.organisation.name ?? 'Steward'}</span>
      </span>
      <ChevronsUpDown size={14} aria-hidden className={classes.chevron} />
    </>
  );
  return (
    <DropMenu side="below" label={t`Projects`} hint={t`Switch project`} button={button}>
      {groups.map(([organisation, projects]) => (
        <div key={organisation} role="group" aria-label={organisation}>
          <DropMenuLabel>{organisation}</DropMenuLabel>
          {projects.map((project) => (
            <DropMenuItem
              key={project.id}
              checked={project.id === current?.id}
              onSelect={() => void navigate({ to: samePageIn(project.id, pathname) })}
            >
              <span className={classes.name}>{project.name}</span>
              <span className={classes.detail}>{roleName(project.role)}</span>
            </DropMenuItem>
          ))}
        </div>
      ))}
      {mayCreateProject(session) && (
        <>
          {groups.length > 0 && <DropMenuLine />}
          <DropMenuItem icon={<Plus size={14} aria-hidden />} onSelect={() => dialog.open()}>
            {t`New project`}
          </DropMenuItem>
        </>
      )}
    </DropMenu>
  );
}
