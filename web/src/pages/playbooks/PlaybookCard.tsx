/** A playbook in the library: what it is for, how it stands, whose it is. */
import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { usePersonName } from '@/api/members';
import type { Playbook } from '@/api/playbooks';
import { projectPath, useMay } from '@/app/project';
import { Chip } from '@/components/Chip';
import { RelativeTime } from '@/components/Moment';
import classes from './playbooks.module.css';
import { STATES } from './states';

export function PlaybookCard({ playbook, projectId }: { playbook: Playbook; projectId: string }) {
  const owner = usePersonName(projectId)(playbook.owner);
  const mayLook = useMay('viewer');
  const { allowed } = playbook;
  const isShared = allowed.everyone || allowed.users.length + allowed.groups.length > 0;
  const isAhead = mayLook && playbook.deployed !== null && playbook.deployed !== playbook.head;
  return (
    <li className={classes.card}>
      <div className={classes.cardTop}>
        <Anchor
          component={Link}
          to={projectPath(projectId, 'playbooks', playbook.id)}
          className={classes.cardLink ?? ''}
          fw={600}
          c="inherit"
          underline="never"
        >
          {playbook.name}
        </Anchor>
        <Chip {...STATES[playbook.state]} />
      </div>
      <Text size="sm" c="dimmed" lineClamp={3}>
        {playbook.goal === '' ? 'No goal is written down.' : playbook.goal}
      </Text>
      <Text size="xs" c="dimmed" className={classes.cardBottom ?? ''}>
        {owner !== null && `${owner} · `}changed <RelativeTime value={playbook.updated_at} />
        {isAhead && ` · revision ${playbook.deployed} of ${playbook.head} deployed`}
        {isShared && (
          <span className={classes.shared}>
            <Users size={12} aria-hidden /> shared
          </span>
        )}
      </Text>
    </li>
  );
}
