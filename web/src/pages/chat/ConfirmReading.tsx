/** Keeps a question with the reading it was answered by: asked again, it is read the same way. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Button, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BookCheck } from 'lucide-react';
import type { Turn } from '@/api/chat-types';
import { definitionsQuery } from '@/api/definitions';
import type { Reading } from '@/api/readings';
import { projectPath, useMay, useProject } from '@/app/project';
import { useChange } from '@/pages/definitions/use-definitions';

const entryOf = (ask: string) => `/questions/${ask.replaceAll('~', '~0').replaceAll('/', '~1')}`;

export function ConfirmReading({ turn, reading }: { turn: Turn; reading: Reading }) {
  const project = useProject();
  const mayConfirm = useMay('editor');
  const { data } = useQuery(definitionsQuery(project.id));
  const { change, isPending } = useChange(data?.revision ?? 0);
  const known = data?.definitions.questions?.find(
    ({ ask, state }) => ask === turn.message && state === 'confirmed',
  );
  if (known) {
    return (
      <Text span size="xs" c="dimmed">
        <Trans>
          Confirmed in{' '}
          <Anchor component={Link} to={projectPath(project.id, 'definitions')} size="xs">
            Definitions
          </Anchor>
        </Trans>
      </Text>
    );
  }
  if (!mayConfirm || !data) return null;
  const confirm = () => {
    const value = { ask: turn.message, reading, state: 'confirmed' };
    const changes = [{ entry: entryOf(turn.message), value }];
    change({ kind: 'set', changes }, t`Reading confirmed`);
  };
  return (
    <Tooltip label={t`Ask it again, and it is read the same way`}>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        leftSection={<BookCheck size={12} aria-hidden />}
        loading={isPending}
        onClick={confirm}
      >
        {t`Confirm this reading`}
      </Button>
    </Tooltip>
  );
}
