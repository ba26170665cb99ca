/** How many things wait for the signed-in person. */
import { t } from '@lingui/core/macro';
import { VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { inboxQuery } from '@/api/inbox';
import classes from './Navigation.module.css';

const MOST_SHOWN = 99;

interface Props {
  projectId: string;
  className?: string | undefined;
}

export function InboxBadge({ projectId, className = classes.badge }: Props) {
  const { data } = useQuery(inboxQuery(projectId));
  const count = data?.length ?? 0;
  if (count === 0) return null;
  return (
    <span className={className}>
      <span aria-hidden>{count > MOST_SHOWN ? `${MOST_SHOWN}+` : count}</span>
      <VisuallyHidden>{t`, ${count} waiting`}</VisuallyHidden>
    </span>
  );
}
