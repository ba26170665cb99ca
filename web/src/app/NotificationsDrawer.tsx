/** The notifications of a project, newest first; opening one marks it read. */
import { t } from '@lingui/core/macro';
import { Button, Drawer, Group, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  BellOff,
  CircleAlert,
  CircleCheck,
  Info,
  type LucideIcon,
  TriangleAlert,
} from 'lucide-react';
import { itemsOf } from '@/api/lists';
import { notificationsQuery, useMarkRead } from '@/api/notifications';
import type { Notification } from '@/api/types';
import { MoreButton } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { showFailure } from '@/components/undo';
import classes from './NotificationsDrawer.module.css';
import { projectPath } from './project';
import { safeNext } from './search';

const ICONS: Record<Notification['level'], LucideIcon> = {
  info: Info,
  success: CircleCheck,
  warning: TriangleAlert,
  error: CircleAlert,
};

interface Props {
  projectId: string;
  opened: boolean;
  onClose: () => void;
}

export default function NotificationsDrawer({ projectId, opened, onClose }: Props) {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="26rem"
      title={t`Notifications`}
      classNames={{ body: classes.body }}
    >
      <NotificationList projectId={projectId} onClose={onClose} />
    </Drawer>
  );
}

function NotificationList({ projectId, onClose }: Omit<Props, 'opened'>) {
  const query = useInfiniteQuery(notificationsQuery(projectId));
  const markRead = useMarkRead(projectId);
  const navigate = useNavigate();
  const notes = itemsOf(query.data);
  const unread = query.data?.pages[0]?.unread ?? 0;

  const open = (note: Notification) => {
    if (note.read_at === null) markRead.mutate({ ids: [note.id] }, { onError: showFailure });
    if (note.link === null) return;
    onClose();
    // It is the address of a page within the project.
    void navigate({ href: safeNext(projectPath(projectId, note.link)) });
  };

  if (query.isPending) return <Loading />;
  if (query.isError && notes.length === 0) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (notes.length === 0) {
    return (
      <EmptyState icon={BellOff} title={t`Nothing new`}>
        {t`Results, questions and problems of this project will be told here.`}
      </EmptyState>
    );
  }
  return (
    <>
      <Group justify="space-between" px="md" pb="xs">
        <Text size="xs" c="dimmed">
          {unread === 0 ? t`All read` : t`${unread} unread`}
        </Text>
        <Button
          variant="subtle"
          size="compact-xs"
          disabled={unread === 0}
          onClick={() => markRead.mutate({ all: true }, { onError: showFailure })}
        >
          {t`Mark all as read`}
        </Button>
      </Group>
      <ul className={classes.list}>
        {notes.map((note) => (
          <li key={note.id}>
            <NotificationItem note={note} onOpen={() => open(note)} />
          </li>
        ))}
      </ul>
      <MoreButton query={query} />
    </>
  );
}

function NotificationItem({ note, onOpen }: { note: Notification; onOpen: () => void }) {
  const Icon = ICONS[note.level];
  const unread = note.read_at === null;
  return (
    <UnstyledButton className={classes.item} data-unread={unread} onClick={onOpen}>
      <Icon size={16} className={classes.icon} data-level={note.level} aria-label={note.level} />
      <span className={classes.text}>
        <span className={classes.title}>{note.title}</span>
        {note.body !== '' && <span className={classes.detail}>{note.body}</span>}
        <span className={classes.detail}>
          <RelativeTime value={note.created_at} />
        </span>
      </span>
      {unread && <span className={classes.dot} role="img" aria-label={t`unread`} />}
    </UnstyledButton>
  );
}

function Loading() {
  return (
    <Stack px="md" gap="lg" aria-busy>
      {[0, 1, 2].map((row) => (
        <Stack key={row} gap={6}>
          <Skeleton height={12} width="55%" />
          <Skeleton height={10} width="85%" />
        </Stack>
      ))}
    </Stack>
  );
}
