/** The bell with the number of unread notifications. */
import { t } from '@lingui/core/macro';
import { ActionIcon } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Bell } from 'lucide-react';
import { notificationsQuery } from '@/api/notifications';
import { useFormats } from '@/components/format';
import classes from './NotificationsBell.module.css';

const MOST_SHOWN = 99;

export function NotificationsBell({
  projectId,
  onClick,
}: {
  projectId: string;
  onClick: () => void;
}) {
  const { data: unread = 0 } = useInfiniteQuery({
    ...notificationsQuery(projectId),
    select: (data) => data.pages[0]?.unread ?? 0,
  });
  const formats = useFormats();
  const count = unread > MOST_SHOWN ? `${MOST_SHOWN}+` : formats.number(unread);
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      className={classes.bell}
      title={t`Notifications`}
      aria-label={unread > 0 ? t`Notifications, ${count} unread` : t`Notifications`}
      onClick={onClick}
    >
      <Bell size={17} aria-hidden />
      {unread > 0 && (
        <span className={classes.count} aria-hidden>
          {count}
        </span>
      )}
    </ActionIcon>
  );
}
