/** Retention: how long records are kept, what that would delete, and legal holds that stop every deletion. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Button, Group, NumberInput, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Lock } from 'lucide-react';
import { useState } from 'react';
import type { Versioned } from '@/api/client';
import {
  holdsQuery,
  type Periods,
  retentionQuery,
  usePreviewRetention,
  useSaveRetention,
} from '@/api/retention';
import { projectPath, useMay, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { FormattedDate } from '@/components/Moment';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { showDone } from '@/components/undo';
import { Holds } from './Holds';
import classes from './RetentionPage.module.css';

const KINDS: { kind: keyof Periods; label: string; description: string }[] = [
  {
    kind: 'runs',
    label: t`Runs`,
    description: t`With journals, approvals, chat messages and the files that runs made.`,
  },
  {
    kind: 'versions',
    label: t`Earlier versions`,
    description: t`Of datasets and files. The current version always stays, and so do versions that a kept run needs for undo.`,
  },
  {
    kind: 'events',
    label: t`Activity events`,
    description: t`Runs, data, chats, alerts, triggers and notifications in the event log.`,
  },
  {
    kind: 'audit',
    label: t`Audit events`,
    description: t`Everything else in the event log: sign-ins, members, approvals, policies, secrets.`,
  },
];

export default function RetentionPage() {
  const project = useProject();
  const rule = useQuery(retentionQuery(project.id));
  const holds = useQuery(holdsQuery(project.id));
  return (
    <Page
      title={t`Retention`}
      width="narrow"
      parent={{ label: t`Settings`, to: projectPath(project.id, 'settings') }}
      description={t`How long this project keeps its records, and legal holds that stop every deletion.`}
    >
      {rule.isPending || holds.isPending ? (
        <Skeleton height={200} aria-busy />
      ) : rule.isError ? (
        <ErrorState error={rule.error} retry={() => void rule.refetch()} />
      ) : holds.isError ? (
        <ErrorState error={holds.error} retry={() => void holds.refetch()} />
      ) : (
        <>
          {holds.data.items.some((hold) => hold.lifted_at === null) && (
            <Alert
              color="yellow"
              icon={<Lock size={16} aria-hidden />}
              title={t`A legal hold is in force`}
            >
              {t`Nothing in this project can be deleted until every hold is lifted. People can still lose access, and secrets and tokens can still be deleted.`}
            </Alert>
          )}
          <PeriodsForm key={rule.data.etag} current={rule.data} />
          <Holds holds={holds.data.items} />
        </>
      )}
    </Page>
  );
}

interface Rule extends Periods {
  starts_at: string | null;
}

function PeriodsForm({ current }: { current: Versioned<Rule> }) {
  const project = useProject();
  const mayChange = useMay('owner');
  const save = useSaveRetention(project.id);
  const preview = usePreviewRetention(project.id);
  const { runs, versions, events, audit, starts_at } = current.document;
  const [periods, setPeriods] = useState<Periods>({ runs, versions, events, audit });
  const change = (kind: keyof Periods, value: string | number) => {
    preview.reset();
    setPeriods({ ...periods, [kind]: typeof value === 'number' ? value : null });
  };
  const isChanged = KINDS.some(({ kind }) => periods[kind] !== current.document[kind]);
  return (
    <Section
      title={t`Periods`}
      framed
      description={t`Steward deletes older records for good. Leave a field empty to keep everything.`}
    >
      <Stack>
        {KINDS.map(({ kind, label, description }) => (
          <NumberInput
            key={kind}
            label={t`${label}, days`}
            description={description}
            placeholder={t`Kept for good`}
            min={1}
            max={36_500}
            allowDecimal={false}
            allowNegative={false}
            disabled={!mayChange}
            value={periods[kind] ?? ''}
            onChange={(value) => {
              change(kind, value);
            }}
          />
        ))}
        {starts_at !== null && !isChanged && (
          <Text size="sm" c="dimmed">
            <Trans>
              These periods take effect on <FormattedDate value={starts_at} withTime />. Steward
              waits one day after a change.
            </Trans>
          </Text>
        )}
        {preview.data && <Preview items={preview.data.items} />}
        <FormError error={save.error ?? preview.error} />
        <Group>
          <Button
            variant="default"
            loading={preview.isPending}
            onClick={() => {
              preview.mutate(periods);
            }}
          >
            {t`Show what would be deleted`}
          </Button>
          {mayChange && (
            <Button
              loading={save.isPending}
              disabled={!isChanged || !preview.isSuccess}
              onClick={() => {
                save.mutate(
                  { periods, etag: current.etag },
                  {
                    onSuccess: () => {
                      showDone(t`Retention saved`);
                    },
                  },
                );
              }}
            >
              {t`Save`}
            </Button>
          )}
        </Group>
      </Stack>
    </Section>
  );
}

interface Due {
  kind: string;
  count: number;
  oldest: string | null;
}

function Preview({ items }: { items: Due[] }) {
  const labelOf = (kind: string) => KINDS.find((each) => each.kind === kind)?.label ?? kind;
  return (
    <table className={classes.preview} aria-label={t`What would be deleted`}>
      <thead>
        <tr>
          <th scope="col">{t`Records`}</th>
          <th scope="col">{t`Would be deleted`}</th>
          <th scope="col">{t`Oldest`}</th>
        </tr>
      </thead>
      <tbody>
        {items.map(({ kind, count, oldest }) => (
          <tr key={kind}>
            <td>{labelOf(kind)}</td>
            <td>{count.toLocaleString()}</td>
            <td>{oldest === null ? '–' : <FormattedDate value={oldest} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
