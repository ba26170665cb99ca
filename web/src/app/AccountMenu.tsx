/** The person's menu: own pages, light or dark, documentation, sign out. */
import { t } from '@lingui/core/macro';
import { useMantineColorScheme } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, ChevronsUpDown, LogOut, Play } from 'lucide-react';
import { useSession } from '@/api/session';
import { COLOUR_SCHEMES, openDocumentation, useLeave } from './account';
import { DropMenu, DropMenuItem, DropMenuLabel, DropMenuLine } from './DropMenu';
import classes from './Menus.module.css';
import { projectPath, useCurrentProject } from './project';
import { initial } from './projects-menu';
import { registry } from './registry';

export function AccountMenu() {
  const { user } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const navigate = useNavigate();
  const project = useCurrentProject();
  const leave = useLeave();
  const button = (
    <>
      <span className={`${classes.badge} ${classes.person}`} aria-hidden>
        {initial(user.name || user.email)}
      </span>
      <span className={classes.names}>
        <span className={classes.name}>{user.name}</span>
      </span>
      <ChevronsUpDown size={14} aria-hidden className={classes.chevron} />
    </>
  );
  return (
    <DropMenu side="above" label={t`Account`} hint={t`Account menu`} button={button}>
      <DropMenuLabel>{user.email}</DropMenuLabel>
      {registry.account.map(({ path, title, icon: Icon }) => (
        <DropMenuItem
          key={path}
          icon={<Icon size={14} aria-hidden />}
          onSelect={() => void navigate({ to: `/${path}` })}
        >
          {title}
        </DropMenuItem>
      ))}
      <DropMenuLine />
      <div role="group" aria-label={t`Appearance`}>
        <DropMenuLabel>{t`Appearance`}</DropMenuLabel>
        {COLOUR_SCHEMES.map(({ value, label }) => (
          <DropMenuItem
            key={value}
            checked={colorScheme === value}
            onSelect={() => setColorScheme(value)}
          >
            {label}
          </DropMenuItem>
        ))}
      </div>
      <DropMenuLine />
      {project && (
        <DropMenuItem
          icon={<Play size={14} aria-hidden />}
          onSelect={() =>
            void navigate({ to: projectPath(project.id), search: { dialog: 'tour' } })
          }
        >
          {t`Take the tour`}
        </DropMenuItem>
      )}
      <DropMenuItem icon={<BookOpen size={14} aria-hidden />} onSelect={openDocumentation}>
        {t`Documentation`}
      </DropMenuItem>
      <DropMenuItem icon={<LogOut size={14} aria-hidden />} onSelect={leave}>
        {t`Sign out`}
      </DropMenuItem>
    </DropMenu>
  );
}
