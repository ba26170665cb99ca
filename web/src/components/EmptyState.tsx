/** What a place shows when there is nothing yet: what belongs here and how to begin. */
import { Stack, Text } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import classes from './State.module.css';

interface Props {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon: Icon, title, children, action }: Props) {
  return (
    <Stack align="center" gap="xs" className={classes.root}>
      <span className={classes.icon}>
        <Icon size={20} aria-hidden />
      </span>
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
