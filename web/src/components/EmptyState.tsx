/** What a place shows when there is nothing yet: what belongs here and how to begin. */
import { Stack, Text } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import type { Picture } from './EmptyPicture';
import classes from './State.module.css';

const EmptyPicture = lazy(() => import('./EmptyPicture'));

interface Props {
  icon: LucideIcon;
  /** Draws what will be here, instead of the icon. */
  picture?: Picture;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon: Icon, picture, title, children, action }: Props) {
  return (
    <Stack align="center" gap="xs" className={classes.root}>
      {picture ? (
        <Suspense fallback={<span className={classes.picture} />}>
          <EmptyPicture picture={picture} />
        </Suspense>
      ) : (
        <span className={classes.icon}>
          <Icon size={20} aria-hidden />
        </span>
      )}
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text c="dimmed" size="sm" maw="26rem">
          {children}
        </Text>
      )}
      {action}
    </Stack>
  );
}
