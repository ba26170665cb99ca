/** Shows what was built upon a change before it is taken back. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Modal, Stack, Switch, Text } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { Action } from '@/api/run-types';
import { useFormats } from '@/components/format';

interface Dependant {
  commit: string;
  message: string;
  name: string;
  reason: string;
  created_at: string;
}

export interface Asking {
  action: Pick<Action, 'key' | 'summary'>;
  plan: { dependants: Dependant[]; blocked: string[] };
  /** True puts back only rows that nobody changed since; null leaves everything as it is. */
  answer: (mergeRows: boolean | null) => void;
}

export function DependantsDialog({ asking }: { asking: Asking | null }) {
  return (
    <Modal
      opened={asking !== null}
      onClose={() => asking?.answer(null)}
      title={t`Later work depends on it`}
      size="38rem"
    >
      {asking && <Dependants key={asking.action.key} asking={asking} />}
    </Modal>
  );
}

function Dependants({ asking: { action, plan, answer } }: { asking: Asking }) {
  const formats = useFormats();
  const [mergeRows, setMergeRows] = useState(false);
  const isBlocked = plan.blocked.length > 0;
  return (
    <Stack>
      <Text size="sm">{action.summary}</Text>
      {plan.dependants.length > 0 && (
        <Alert color="yellow" variant="light" icon={<TriangleAlert size={16} aria-hidden />}>
          <ul>
            {plan.dependants.map(({ commit, message, name, reason, created_at }) => (
              <li key={`${commit}/${name}`}>
                {message} ({name}, {formats.dateTime(created_at)}): {reason}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      {isBlocked && (
        <Switch
          label={t`Put back only rows that nobody changed since`}
          description={t`Changed again meanwhile: ${plan.blocked.join(', ')}`}
          checked={mergeRows}
          onChange={({ currentTarget }) => setMergeRows(currentTarget.checked)}
        />
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => answer(null)}>
          {t`Leave it`}
        </Button>
        <Button disabled={isBlocked && !mergeRows} onClick={() => answer(mergeRows)}>
          {t`Undo`}
        </Button>
      </Group>
    </Stack>
  );
}
