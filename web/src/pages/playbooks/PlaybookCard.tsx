/** A playbook in the library: what it is for, how it stands, whose it is. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ArchiveRestore, Trash2, Users } from 'lucide-react';
import { usePersonName } from '@/api/members';
import type { Playbook } from '@/api/playbooks';
import { projectPath, useMay } from '@/app/project';
import { Chip } from '@/components/Chip';
import { RelativeTime } from '@/components/Moment';
import classes from './playbooks.module.css';
import { DELETED, STATES } from './states';
import { cardId } from './use-opened';
import { usePutAway } from './use-put-away';

export function PlaybookCard({ playbook, projectId }: { playbook: Playbook; projectId: string }) {
  const owner = usePersonName(projectId)(playbook.owner);
  const mayLook = useMay('viewer');
  const mayEdit = useMay('editor');
  const { allowed } = playbook;
  const isShared = allowed.everyone || allowed.users.length + allowed.groups.length > 0;
  const isAhead = mayLook && playbook.deployed !== null && playbook.deployed !== playbook.head;
  return (
    <li className={classes.card}>
      <div className={classes.cardTop}>
        {playbook.deleted_at === null ? (
          <Anchor
            component={Link}
            id={cardId(playbook.id)}
            to={projectPath(projectId, 'playbooks', playbook.id)}
            search
            resetScroll={false}
            className={classes.cardLink ?? ''}
            fw={600}
            c="inherit"
            underline="never"
          >
            {playbook.name}
          </Anchor>
        ) : (
          <Text fw={600}>{playbook.name}</Text>
        )}
        <Chip {...(playbook.deleted_at === null ? STATES[playbook.state] : DELETED)} />
      </div>
      <Text size="sm" c="dimmed" lineClamp={3}>
        {playbook.goal === '' ? t`No goal is written down.` : playbook.goal}
      </Text>
      <Text size="xs" c="dimmed" className={classes.cardBottom ?? ''}>
        {owner !== null && `${owner} · `}
        {playbook.deleted_at === null ? (
          <Trans>
            changed <RelativeTime value={playbook.updated_at} />
          </Trans>
        ) : (
          <Trans>
            deleted <RelativeTime value={playbook.deleted_at} />
          </Trans>
        )}
        {isAhead && t` · revision ${playbook.deployed ?? ''} of ${playbook.head} deployed`}
        {isShared && (
          <span className={classes.shared}>
            <Users size={12} aria-hidden /> {t`shared`}
          </span>
        )}
      </Text>
      {mayEdit && <WaysBack playbook={playbook} projectId={projectId} />}
    </li>
  );
}

/** What can be done with one that is put away, without opening it. */
function WaysBack({ playbook, projectId }: { playbook: Playbook; projectId: string }) {
  const putAway = usePutAway(projectId, playbook);
  const { name } = playbook;
  if (playbook.deleted_at !== null) {
    return (
      <Group gap="xs" className={classes.cardActions ?? ''}>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<ArchiveRestore size={14} aria-hidden />}
          loading={putAway.isRestoring}
          aria-label={t`Restore ${name}`}
          onClick={putAway.restore}
        >
          {t`Restore`}
        </Button>
      </Group>
    );
  }
  if (playbook.state !== 'archived') return null;
  return (
    <Group gap="xs" className={classes.cardActions ?? ''}>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<ArchiveRestore size={14} aria-hidden />}
        loading={putAway.isArchiving}
        aria-label={t`Bring back ${name}`}
        onClick={putAway.bringBack}
      >
        {t`Bring back`}
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Trash2 size={14} aria-hidden />}
        loading={putAway.isDeleting}
        aria-label={t`Delete ${name}`}
        onClick={() => putAway.remove()}
      >
        {t`Delete`}
      </Button>
    </Group>
  );
}
