/** What went into the run, what came out of it, and what it was allowed. */
import { t } from '@lingui/core/macro';
import { Alert, Stack } from '@mantine/core';
import type { RunDetail } from '@/api/run-types';
import { JsonTree } from '@/components/JsonTree';
import { Section } from '@/components/Section';
import { ValueView } from '@/components/ValueView';

export default function ValuesTab({ run }: { run: RunDetail }) {
  return (
    <Stack gap="xl">
      {run.error && (
        <Alert color="red" variant="light" title={run.error.code}>
          {run.error.message}
        </Alert>
      )}
      <Section title={t`Output`}>
        <ValueView label={t`Output`} value={run.output} />
      </Section>
      <Section title={t`Inputs`}>
        <ValueView label={t`Inputs`} value={run.inputs} />
      </Section>
      <Section title={t`Flow`} description={t`As it was when the run began.`}>
        <JsonTree label={t`Flow`} value={run.document} openTo={3} />
      </Section>
      <Section title={t`What it may do`} description={t`Its token says no more than this.`}>
        <JsonTree label={t`What it may do`} value={{ ...run.grant, budget: run.budget }} />
      </Section>
    </Stack>
  );
}
