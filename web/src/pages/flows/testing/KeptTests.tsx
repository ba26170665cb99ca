/** Tests that run before each deployment. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { keptTestsQuery, useForgetTest } from '@/api/playbook-tests';
import type { PlaybookDetail } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { showDone, showFailure } from '@/components/undo';
import classes from './testing.module.css';

export function KeptTests({ playbook }: { playbook: PlaybookDetail }) {
  const project = useProject();
  const kept = useQuery(keptTestsQuery(project.id, playbook.id)).data ?? [];
  const forget = useForgetTest(project.id, playbook.id);
  if (kept.length === 0) return null;
  return (
    <section aria-label={t`Kept tests`}>
      <Text size="sm" fw={600}>
        {t`Run before each deployment`}
      </Text>
      <ul className={classes.kept}>
        {kept.map(({ id, name }) => (
          <li key={id}>
            <span>{name}</span>
            {playbook.may_edit && (
              <ActionIcon
                variant="subtle"
                size="sm"
                aria-label={t`Delete the test ${name}`}
                onClick={() =>
                  forget.mutate(id, {
                    onSuccess: () => showDone(t`Deleted ${name}`),
                    onError: showFailure,
                  })
                }
              >
                <Trash2 size={14} aria-hidden />
              </ActionIcon>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
