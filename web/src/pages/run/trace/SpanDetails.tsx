/** One span: what it was asked and answered, how that differs from another one, and what can be done from here. */
import { t } from '@lingui/core/macro';
import { Anchor, Group, SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { spanContentQuery, type TraceSpan } from '@/api/observe';
import type { RunDetail } from '@/api/run-types';
import { projectPath, useProject } from '@/app/project';
import { durationText } from '@/components/duration';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { JsonTree } from '@/components/JsonTree';
import { LoadingLines } from '@/components/LoadingLines';
import { SpanActions } from './SpanActions';
import { SpanDiff } from './SpanDiff';
import { SpanLines } from './SpanLines';
import { isUnderWay } from './spans';
import classes from './trace.module.css';

const WITH_CONTENT = new Set(['chat', 'execute_tool']);
type View = 'content' | 'diff' | 'attributes';

export function SpanDetails({ span, run }: { span: TraceSpan; run: RunDetail }) {
  const formats = useFormats();
  const project = useProject();
  const hasContent = WITH_CONTENT.has(span.operation) && !isUnderWay(span);
  const [view, setView] = useState<View>(hasContent ? 'content' : 'attributes');
  const views = [
    {
      value: 'content',
      label: span.operation === 'chat' ? t`Prompt and answer` : t`Call and result`,
    },
    { value: 'diff', label: t`Compare` },
    { value: 'attributes', label: t`Attributes` },
  ];
  return (
    <div className={classes.details} role="region" aria-label={t`Details of ${span.name}`}>
      <Text fw={600}>{span.name}</Text>
      <Text size="sm" c="dimmed">
        {formats.dateTime(span.start)} ·{' '}
        {isUnderWay(span) ? t`under way` : durationText(span.milliseconds)} ·{' '}
        {span.about || span.key}
        {span.error !== null && t` · error ${span.error}`}
      </Text>
      {span.run_id !== run.id && (
        <Anchor
          component={Link}
          to={`${projectPath(project.id, 'runs', span.run_id)}?tab=trace`}
          size="sm"
        >
          {t`Open the run that it is part of`}
        </Anchor>
      )}
      <SpanActions span={span} run={run} />
      {hasContent && (
        <SegmentedControl
          aria-label={t`What to show of the span`}
          size="xs"
          data={views}
          value={view}
          onChange={(value) => setView(value as View)}
        />
      )}
      {view === 'content' && <Content span={span} />}
      {view === 'diff' && <SpanDiff span={span} run={run} />}
      {view === 'attributes' && <JsonTree label={t`Attributes`} value={span.attributes} />}
    </div>
  );
}

function Content({ span }: { span: TraceSpan }) {
  const project = useProject();
  const formats = useFormats();
  const query = useQuery(spanContentQuery(project.id, span.run_id, span.about));
  if (query.isError) return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <LoadingLines />;
  const { kind, name, asked, answered, input_tokens: read, output_tokens: written } = query.data;
  const tokens = (count: number | null) =>
    count === null ? '' : t` · ${formats.number(count)} tokens`;
  const [question, answer] = kind === 'model' ? [t`Prompt`, t`Answer`] : [t`Arguments`, t`Result`];
  return (
    <Group align="flex-start" grow preventGrowOverflow={false} className={classes.sides ?? ''}>
      <SpanLines title={`${question}${tokens(read)}`} lines={asked} />
      <SpanLines
        title={`${answer}${kind === 'model' && name !== '' ? t` of ${name}` : ''}${tokens(written)}`}
        lines={answered}
      />
      {query.data.is_cut && (
        <Text size="sm" c="dimmed">
          {t`Only the first lines are shown. The journal has all of them.`}
        </Text>
      )}
    </Group>
  );
}
