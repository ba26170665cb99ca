/** Rules by which records are the same, to be approved: counts, pairs side by side, a threshold to move and weigh. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Proposal } from '@/api/resolve';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { Counts } from '@/pages/resolve/Counts';
import { Pairs } from '@/pages/resolve/Pairs';
import classes from '@/pages/resolve/resolve.module.css';
import { readRules, withDecision, withThreshold } from '@/pages/resolve/rules';
import { RulesError } from '@/pages/resolve/RulesError';
import { RulesView } from '@/pages/resolve/RulesView';
import { ThresholdTable } from '@/pages/resolve/ThresholdTable';
import type { ViewProps } from './views';
import { weighed } from './weighing';

export default function RulesReview({ waiting, request, onEdit }: ViewProps) {
  const project = useProject();
  // The flow that names this view shows what `propose_rules` answers.
  const proposed = request.shown as Proposal;
  const [found, setFound] = useState<Proposal>(proposed);
  const [text, setText] = useState(found.rules);
  const rules = readRules(text);
  const isChanged = text !== found.rules;
  const change = (next: string) => {
    setText(next);
    onEdit(next === found.rules ? ready(found) : { isReady: false });
  };
  const ready = ({ rules: chosen }: Proposal) =>
    chosen === proposed.rules ? { isReady: true } : { isReady: true, payload: { rules: chosen } };
  const weigh = useMutation({
    mutationFn: () => weighed(project.id, waiting, text),
    onSuccess: (answer) => {
      setFound(answer);
      setText(answer.rules);
      onEdit(ready(answer));
    },
  });
  const mayEdit = request.edit !== undefined && rules !== null && !weigh.isPending;
  return (
    <Stack gap="sm">
      <Estimate found={found} before={found === proposed ? null : proposed} />
      <Tabs defaultValue="pairs" keepMounted={false}>
        <Tabs.List className={classes.tabs ?? ''}>
          <Tabs.Tab value="pairs">{t`Borderline pairs`}</Tabs.Tab>
          <Tabs.Tab value="threshold">{t`Threshold`}</Tabs.Tab>
          <Tabs.Tab value="rules">{t`Rules`}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="pairs" pt="md">
          <Pairs
            pairs={found.borderline}
            total={found.estimate.borderline}
            rules={rules}
            onDecide={mayEdit ? (pair, same) => change(withDecision(text, pair, same)) : null}
          />
        </Tabs.Panel>
        <Tabs.Panel value="threshold" pt="md">
          <ThresholdTable
            steps={found.estimate.steps}
            rules={rules}
            onChange={mayEdit ? (match) => change(withThreshold(text, match)) : null}
          />
        </Tabs.Panel>
        <Tabs.Panel value="rules" pt="md">
          {rules && <RulesView rules={rules} />}
        </Tabs.Panel>
      </Tabs>
      <RulesError error={weigh.error} />
      {isChanged && (
        <Alert variant="light" className={classes.changed ?? ''}>
          <Group justify="space-between" gap="xs">
            <Text size="sm" role="status">
              {t`You changed the rules. Weigh them again to see what they would do, then approve.`}
            </Text>
            <Group gap="xs">
              <Button variant="subtle" color="gray" onClick={() => change(found.rules)}>
                {t`Discard changes`}
              </Button>
              <Button loading={weigh.isPending} onClick={() => weigh.mutate()}>
                {t`Weigh again`}
              </Button>
            </Group>
          </Group>
        </Alert>
      )}
    </Stack>
  );
}

interface EstimateProps {
  found: Proposal;
  before: Proposal | null;
}

function Estimate({ found: { estimate }, before }: EstimateProps) {
  const formats = useFormats();
  return (
    <div role="status" aria-label={t`What the rules would do`}>
      <Counts
        items={[
          [t`Rows`, estimate.rows],
          [t`Entities`, estimate.entities],
          [t`Pairs that match`, estimate.matches],
          [t`Pairs to look at`, estimate.borderline],
          [t`Largest entity`, estimate.largest_entity],
        ]}
      />
      {before && (
        <Text size="sm" c="dimmed" mt="xs">
          {t`As proposed: ${formats.number(before.estimate.entities)} entities, ${formats.number(before.estimate.matches)} pairs that match.`}
        </Text>
      )}
    </div>
  );
}
