/** The frame of a page: its title, what one can do here, and its content. */
import { t } from '@lingui/core/macro';
import { Anchor, Group, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { useCurrentProject } from '@/app/project';
import classes from './Page.module.css';

/** Navigation moves the focus here, so that screen readers speak the new page's title. */
export const PAGE_TITLE_ID = 'page-title';

export interface Above {
  label: string;
  to: string;
}

interface Props {
  title: string;
  description?: ReactNode;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** The page above this one, or all pages above it from the top. */
  parent?: Above | Above[];
  /** `narrow` suits forms, `normal` lists, `full` tables, canvases and anything beside a panel. */
  width?: 'narrow' | 'normal' | 'full';
  /** Tabs or filters between the header and the content. */
  toolbar?: ReactNode;
  children: ReactNode;
}

export function Page(props: Props) {
  const { title, description, actions, parent, width = 'normal', toolbar, children } = props;
  const project = useCurrentProject();
  useEffect(() => {
    document.title = [title, project?.name, 'Steward'].filter(Boolean).join(' · ');
  }, [title, project?.name]);

  return (
    <div className={classes.page} data-width={width}>
      <header className={classes.header}>
        {parent && (
          <nav aria-label={t`Breadcrumbs`} className={classes.parents}>
            {[parent].flat().map(({ label, to }) => (
              <span key={to} className={classes.parent}>
                <Anchor component={Link} to={to} size="sm" c="dimmed">
                  {label}
                </Anchor>
                <ChevronRight size={14} aria-hidden />
              </span>
            ))}
          </nav>
        )}
        <div className={classes.heading}>
          <Title order={1} id={PAGE_TITLE_ID} tabIndex={-1} className={classes.title}>
            {title}
          </Title>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </div>
        {description !== undefined && (
          <Text c="dimmed" size="sm" maw="44rem">
            {description}
          </Text>
        )}
      </header>
      {toolbar !== undefined && <div className={classes.toolbar}>{toolbar}</div>}
      <div className={classes.content}>{children}</div>
    </div>
  );
}
