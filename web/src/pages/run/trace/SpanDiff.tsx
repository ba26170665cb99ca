/** A span beside the request before, the same one of the last good run, of the run it was forked from, or of any other. */
import { t } from '@lingui/core/macro';
import { Group, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { analysisQuery, spanContentQuery, spanDiffQuery, type TraceSpan } from '@/api/observe';
import type { RunDetail } from '@/api/run-types';
import { useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { SpanLines } from './SpanLines';

type Choice = 'before' | 'good' | 'origin' | 'other';
const RUN_ID = /^run_[0-9a-z]{26}$/;

export function SpanDiff({ span, run }: { span: TraceSpan; run: RunDetail }) {
  const project = useProject();
  const before = useQuery(spanContentQuery(project.id, span.run_id, span.about)).data?.before;
  const good = useQuery(analysisQuery(project.id, run.id)).data?.compared_with;
  const [picked, setPicked] = useState<Choice | null>(null);
  const [typed, setTyped] = useState('');
  const [other] = useDebouncedValue(typed.trim(), 300);
  const isOwn = span.run_id === run.id;
  const choices: { value: Choice; label: string }[] = [];
  if (before) choices.push({ value: 'before', label: t`The request before` });
  if (good && isOwn) choices.push({ value: 'good', label: t`The last good run` });
  if (run.forked_from !== null && isOwn)
    choices.push({ value: 'origin', label: t`The run it was forked from` });
  choices.push({ value: 'other', label: t`Another run or fork` });
  const choice = picked ?? choices[0]?.value ?? 'other';
  const otherRun = { before: span.run_id, good, origin: run.forked_from, other }[choice] ?? '';
  const place = { run: otherRun, about: (choice === 'before' ? before : null) ?? span.about };
  return (
    <>
      <Group gap="sm" align="flex-end">
        <Select
          label={t`Compare with`}
          size="xs"
          data={choices}
          value={choice}
          allowDeselect={false}
          onChange={setPicked}
        />
        {choice === 'other' && (
          <TextInput
            label={t`Id of the run`}
            placeholder={t`run_…`}
            size="xs"
            w="18rem"
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
      </Group>
      {RUN_ID.test(otherRun) && <Compared span={span} place={place} />}
    </>
  );
}

interface ComparedProps {
  span: TraceSpan;
  place: { run: string; about: string };
}

function Compared({ span, place }: ComparedProps) {
  const project = useProject();
  const formats = useFormats();
  const here = { run: span.run_id, about: span.about };
  const query = useQuery(spanDiffQuery(project.id, here, place));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines />;
  const { asked, answered, left, right } = query.data;
  const tokens = (a: number | null, b: number | null) =>
    a === null || b === null ? '' : t` · ${formats.number(a)} → ${formats.number(b)} tokens`;
  const isSame = [...asked, ...answered].every(({ change }) => change === 'same');
  const [question, answer] =
    span.operation === 'chat' ? [t`Prompt`, t`Answer`] : [t`Arguments`, t`Result`];
  if (isSame) return <Text size="sm">{t`Both are equal, line by line.`}</Text>;
  return (
    <Group align="flex-start" grow preventGrowOverflow={false}>
      <SpanLines
        title={`${question}${tokens(left.input_tokens, right.input_tokens)}`}
        lines={asked}
      />
      <SpanLines
        title={`${answer}${tokens(left.output_tokens, right.output_tokens)}`}
        lines={answered}
      />
    </Group>
  );
}
