/** What a test starts with: inputs, who answers, whether models are asked, and how far it goes. */
import { t } from '@lingui/core/macro';
import { Button, Group, Select, Stack, Switch, Text, Textarea } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { itemsOf } from '@/api/lists';
import { priceQuery, type TestWish, testInputsQuery } from '@/api/playbook-tests';
import { type PlaybookDetail, playbookRunsQuery } from '@/api/playbooks';
import { runQuery } from '@/api/runs';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { showFailure } from '@/components/undo';
import { runPriceText } from '../standing';

interface Props {
  playbook: PlaybookDetail;
  /** The chosen step: a test can end there. */
  step: string | null;
  title: string | null;
  isPending: boolean;
  lastTest: string | null;
  onStart: (wish: Partial<TestWish>) => void;
}

export function TestForm({ playbook, step, title, isPending, lastTest, onStart }: Props) {
  const project = useProject();
  const { dateTime } = useFormats();
  const samples = useQuery(testInputsQuery(project.id, playbook.id)).data ?? [];
  const price = useQuery(priceQuery(project.id, playbook.id)).data;
  const runs = itemsOf(useInfiniteQuery(playbookRunsQuery(project.id, playbook.id)).data);
  const [written, setWritten] = useState<string | null>(null);
  const [like, setLike] = useState<string | null>(null);
  const [isSpending, setSpending] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const take = async (chosen: string) => {
    const sample = samples[Number(chosen)];
    try {
      const given = sample
        ? sample.value
        : (await client.query(runQuery(project.id, chosen))).inputs;
      setWritten(JSON.stringify(given ?? {}, null, 2));
    } catch (problem) {
      showFailure(problem);
    }
  };
  const text = written ?? JSON.stringify(samples[0]?.value ?? {}, null, 2);
  const inputs = parsed(text);
  const begin = (until: string | null) =>
    inputs && onStart({ inputs, like, spend: isSpending, ask: isAsking, until });
  const hasInputs = Object.keys(playbook.inputs.properties ?? {}).length > 0;
  return (
    <Stack gap="sm">
      {hasInputs && (
        <>
          <Select
            label={t`Inputs`}
            description={t`Made from the schema, edge cases included, or those of a past run.`}
            placeholder={t`Choose`}
            searchable
            data={[
              {
                group: t`Made from the schema`,
                items: samples.map(({ name, is_valid: isValid }, index) => ({
                  value: String(index),
                  label: isValid ? name : t`${name} (refused)`,
                })),
              },
              {
                group: t`Of a past run`,
                items: runs.map(({ id, created_at: at }) => ({ value: id, label: dateTime(at) })),
              },
            ]}
            onChange={(chosen) => chosen !== null && void take(chosen)}
          />
          <Textarea
            aria-label={t`Inputs as JSON`}
            autosize
            minRows={2}
            maxRows={12}
            spellCheck={false}
            value={text}
            error={inputs === null ? t`This is not a JSON object.` : null}
            onChange={({ currentTarget }) => setWritten(currentTarget.value)}
          />
        </>
      )}
      <Select
        label={t`Outputs of skipped steps`}
        description={t`A test skips steps that send something or ask a model. Their outputs come from here.`}
        placeholder={t`Made from the schema`}
        clearable
        data={[
          ...(lastTest === null ? [] : [{ value: lastTest, label: t`The test before` }]),
          ...runs
            .filter(({ id, status }) => status === 'done' && id !== lastTest)
            .map(({ id, created_at: at }) => ({ value: id, label: t`Run of ${dateTime(at)}` })),
        ]}
        value={like}
        onChange={setLike}
      />
      <Switch
        label={t`Ask models`}
        description={t`Spends money. ${price ? runPriceText(price) : ''}`}
        checked={isSpending}
        onChange={({ currentTarget }) => setSpending(currentTarget.checked)}
      />
      <Switch
        label={t`Ask people`}
        description={t`Otherwise the test approves and answers by itself.`}
        checked={isAsking}
        onChange={({ currentTarget }) => setAsking(currentTarget.checked)}
      />
      <Group gap="xs">
        <Button
          leftSection={<FlaskConical size={14} aria-hidden />}
          loading={isPending}
          disabled={inputs === null}
          onClick={() => begin(null)}
        >
          {t`Test`}
        </Button>
        <Button
          variant="default"
          loading={isPending}
          disabled={inputs === null || step === null || step.includes('/')}
          onClick={() => begin(step)}
        >
          {step === null ? t`Run to a step` : t`Run to ${title ?? step}`}
        </Button>
      </Group>
      {step === null && (
        <Text size="xs" c="dimmed">
          {t`Choose a step to run to it, to pin its output or to pause before it.`}
        </Text>
      )}
    </Stack>
  );
}

export function parsed(text: string): Record<string, unknown> | null {
  try {
    const found = JSON.parse(text) as unknown;
    const isObject = typeof found === 'object' && found !== null && !Array.isArray(found);
    return isObject ? (found as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
