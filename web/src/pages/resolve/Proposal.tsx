/** What the rules would do, pair by pair, rule by rule and as a document; each of them can be changed. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Stack, Tabs, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { estimateRules, type Proposal as Proposed } from '@/api/resolve';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { Section } from '@/components/Section';
import { Counts } from './Counts';
import { Pairs } from './Pairs';
import classes from './resolve.module.css';
import { readRules, withDecision, withThreshold } from './rules';
import { RulesError } from './RulesError';
import { RulesView } from './RulesView';
import { ThresholdTable } from './ThresholdTable';
import { Trial } from './Trial';
import type { Way } from './use-trial';

interface Props {
  found: Proposed;
  way: Way;
}

export function Proposal({ found, way }: Props) {
  const project = useProject();
  const { datasets } = way.steps;
  const [text, setText] = useState(found.rules);
  const rules = readRules(text);
  const isChanged = text !== found.rules;
  const weigh = useMutation({
    mutationFn: () => estimateRules(project.id, datasets, text),
    onSuccess: ({ id }) => way.go({ proposal: id }),
  });
  return (
    <>
      <Section title={t`What the rules would do`}>
        <Facts found={found} />
      </Section>
      <Section title={t`The rules`}>
        <Tabs defaultValue="pairs" keepMounted={false}>
          <Tabs.List className={classes.tabs ?? ''}>
            <Tabs.Tab value="pairs">{t`Borderline pairs`}</Tabs.Tab>
            <Tabs.Tab value="threshold">{t`Threshold`}</Tabs.Tab>
            <Tabs.Tab value="rules">{t`Rules`}</Tabs.Tab>
            <Tabs.Tab value="document">{t`Document`}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="pairs" pt="md">
            <Pairs
              pairs={found.borderline}
              total={found.estimate.borderline}
              rules={rules}
              onDecide={rules && ((pair, same) => setText(withDecision(text, pair, same)))}
            />
          </Tabs.Panel>
          <Tabs.Panel value="threshold" pt="md">
            <ThresholdTable
              steps={found.estimate.steps}
              rules={rules}
              onChange={rules && ((match) => setText(withThreshold(text, match)))}
            />
          </Tabs.Panel>
          <Tabs.Panel value="rules" pt="md">
            {rules ? <RulesView rules={rules} /> : <NotReadable />}
          </Tabs.Panel>
          <Tabs.Panel value="document" pt="md">
            <Textarea
              label={t`Rules as YAML`}
              description={t`Everything that decides which rows are the same, to read, change and keep.`}
              error={rules === null ? t`This is not YAML yet.` : null}
              value={text}
              autosize
              minRows={12}
              maxRows={32}
              spellCheck={false}
              classNames={{ input: classes.document ?? '' }}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
            />
          </Tabs.Panel>
        </Tabs>
        <RulesError error={weigh.error} />
        {isChanged && (
          <Alert variant="light" className={classes.changed ?? ''}>
            <Group justify="space-between" gap="xs">
              <Text size="sm" role="status">
                {t`You changed the rules. The counts and pairs above are those from before.`}
              </Text>
              <Group gap="xs">
                <Button variant="subtle" color="gray" onClick={() => setText(found.rules)}>
                  {t`Discard changes`}
                </Button>
                <Button
                  loading={weigh.isPending}
                  disabled={rules === null}
                  onClick={() => weigh.mutate()}
                >
                  {t`Weigh again`}
                </Button>
              </Group>
            </Group>
          </Alert>
        )}
      </Section>
      {!isChanged && <Trial rules={found.rules} way={way} />}
    </>
  );
}

function NotReadable() {
  return (
    <Text size="sm" c="dimmed">
      {t`The document is not YAML yet. Correct it there, and the rules show here.`}
    </Text>
  );
}

function Facts({ found: { estimate, notes } }: { found: Proposed }) {
  const formats = useFormats();
  const said = [...new Set([...notes, ...estimate.notes])];
  return (
    <Stack gap="sm">
      <Counts
        items={[
          [t`Rows`, estimate.rows],
          // Rows with an equal key are one party before anything is compared.
          ...(estimate.parties === estimate.rows
            ? []
            : [[t`Parties`, estimate.parties] satisfies [string, number]]),
          [t`Pairs compared`, estimate.pairs_compared],
          [t`Pairs that match`, estimate.matches],
          [t`Pairs to look at`, estimate.borderline],
          [t`Entities`, estimate.entities],
          [t`Largest entity`, estimate.largest_entity],
          [t`Matches kept apart`, estimate.links_refused],
        ]}
      />
      <Text size="sm" c="dimmed">
        {t`${formats.number(estimate.pairs_compared)} of ${formats.number(estimate.pairs_possible)} possible pairs share enough to be compared. `}
        {estimate.sources
          .map(
            ({ table, rows, entities }) =>
              t`${table}: ${formats.number(rows)} rows are ${formats.number(entities)} entities.`,
          )
          .join(' ')}
      </Text>
      {said.length > 0 && (
        <ul className={classes.notes}>
          {said.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </Stack>
  );
}
