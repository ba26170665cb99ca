/** Creates a schedule: of a playbook with pickers, or of a flow as text for experts. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Modal, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { itemsOf } from '@/api/lists';
import { playbookQuery, playbooksQuery } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { SetSchedule } from '@/pages/playbooks/ScheduleTab';
import { ScheduleForm } from './ScheduleDialog';

export default function CreateDialog({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const [chosen, setChosen] = useState<string | null>(null);
  const [isText, setText] = useState(false);
  const playbooks = useInfiniteQuery(
    playbooksQuery(project.id, { text: '', folder: null, shelf: 'used' }),
  );
  const offered = itemsOf(playbooks.data).map(({ id, name }) => ({ value: id, label: name }));
  const isEmpty = playbooks.isSuccess && offered.length === 0;
  return (
    <Modal opened onClose={onClose} title={t`Create a schedule`} size="44rem">
      {isText ? (
        <ScheduleForm schedule={null} onClose={onClose} />
      ) : (
        <Stack gap="sm">
          <Select
            label={t`Playbook`}
            placeholder={isEmpty ? t`No playbooks yet` : t`Choose what to run`}
            data={offered}
            value={chosen}
            disabled={isEmpty}
            searchable
            allowDeselect={false}
            data-autofocus
            onChange={setChosen}
          />
          {chosen !== null && <Chosen key={chosen} id={chosen} onSaved={onClose} />}
          <Text size="sm" c="dimmed">
            <Trans>
              No fitting playbook? Ask a question in the{' '}
              <Anchor component={Link} to={projectPath(project.id, 'chat')} inherit>
                chat
              </Anchor>{' '}
              and choose “Make this a playbook”, or start from a{' '}
              <Anchor component={Link} to={projectPath(project.id, 'blueprints')} inherit>
                blueprint
              </Anchor>
              . Experts can{' '}
              <Anchor
                component="button"
                type="button"
                inherit
                underline="always"
                onClick={() => setText(true)}
              >
                write a flow as YAML
              </Anchor>
              .
            </Trans>
          </Text>
        </Stack>
      )}
    </Modal>
  );
}

function Chosen({ id, onSaved }: { id: string; onSaved: () => void }) {
  const project = useProject();
  const query = useQuery(playbookQuery(project.id, id));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return null;
  if (!query.data.may_edit)
    return <Text size="sm">{t`Only its editors can schedule this one.`}</Text>;
  return <SetSchedule playbook={query.data} onSaved={onSaved} />;
}
