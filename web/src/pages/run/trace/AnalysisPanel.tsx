/** Why a run failed, was slow or cost much: findings by rules with the spans that show them; words of a model on request. */
import { t } from '@lingui/core/macro';
import { Alert, Anchor, Button, CloseButton, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleAlert, Info, type LucideIcon, Sparkles, TriangleAlert } from 'lucide-react';
import { analysisQuery, type Finding, startAnalysis } from '@/api/observe';
import type { RunDetail } from '@/api/run-types';
import { isFinal, runQuery } from '@/api/runs';
import { projectPath, useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { ErrorState } from '@/components/ErrorState';
import { LoadingLines } from '@/components/LoadingLines';
import { RunLink } from '@/components/RunLink';
import type { Tone } from '@/components/run-status';
import { showFailure } from '@/components/undo';
import classes from './trace.module.css';

interface Props {
  run: RunDetail;
  onSpan: (position: number) => void;
  onClose: () => void;
}

const UNDER_WAY = new Set<string>(['queued', 'running']);

const WEIGHTS: Record<Finding['weight'], { word: string; icon: LucideIcon; tone: Tone }> = {
  cause: { word: t`Cause`, icon: CircleAlert, tone: 'bad' },
  warning: { word: t`Look at`, icon: TriangleAlert, tone: 'wait' },
  note: { word: t`Note`, icon: Info, tone: 'neutral' },
};

export function AnalysisPanel({ run, onSpan, onClose }: Props) {
  const project = useProject();
  const analysis = useQuery({ ...analysisQuery(project.id, run.id), staleTime: 0 });
  const found = analysis.data;
  return (
    <section className={classes.analysis} aria-label={t`Analysis`}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Text fw={600}>{t`Analysis`}</Text>
        <CloseButton aria-label={t`Close the analysis`} onClick={onClose} />
      </Group>
      {analysis.isError && (
        <ErrorState error={analysis.error} retry={() => void analysis.refetch()} />
      )}
      {analysis.isPending && <LoadingLines />}
      {found && (
        <Stack gap="sm">
          <Text size="sm">{found.summary}</Text>
          {found.findings.length > 0 && (
            <ol className={classes.findings}>
              {found.findings.map((finding, index) => (
                <FindingItem key={index} finding={finding} number={index + 1} onSpan={onSpan} />
              ))}
            </ol>
          )}
          <Group gap="sm">
            {found.compared_with !== null && (
              <Anchor
                component={Link}
                to={projectPath(project.id, 'runs', found.compared_with)}
                size="sm"
              >
                {t`Open the last good run`}
              </Anchor>
            )}
          </Group>
          {found.has_model && <Words run={run} />}
        </Stack>
      )}
    </section>
  );
}

interface ItemProps {
  finding: Finding;
  number: number;
  onSpan: (position: number) => void;
}

function FindingItem({ finding, number, onSpan }: ItemProps) {
  const shown = finding.spans.slice(0, 3);
  return (
    <li className={classes.finding}>
      <Chip {...WEIGHTS[finding.weight]} />
      <div>
        <Text size="sm">
          <Text span c="dimmed" className="tabular">
            [{number}]
          </Text>{' '}
          {finding.text}
        </Text>
        {finding.quote !== '' && (
          <Text size="sm" className={classes.quote}>
            {finding.quote}
          </Text>
        )}
        {shown.length > 0 && (
          <Group gap="xs" mt={4}>
            {shown.map((span) => (
              <Button
                key={span.position}
                size="compact-xs"
                variant="default"
                onClick={() => onSpan(span.position)}
              >
                {span.name}
              </Button>
            ))}
            {finding.spans.length > shown.length && (
              <Text size="xs" c="dimmed">
                {t`and ${finding.spans.length - shown.length} more`}
              </Text>
            )}
          </Group>
        )}
      </div>
    </li>
  );
}

/** A run of its own, on its own budget, whose words are checked against the findings. */
function Words({ run }: { run: RunDetail }) {
  const project = useProject();
  const maySpend = useMay('operator');
  const start = useMutation({
    mutationFn: () => startAnalysis(project.id, run.id),
    onError: showFailure,
  });
  const id = start.data?.id;
  const explained = useQuery({
    ...runQuery(project.id, id ?? ''),
    enabled: id !== undefined,
  }).data;
  const output = explained?.output as { text: string; by_model: boolean; note: string } | null;
  if (!maySpend) return null;
  if (!id) {
    return (
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Sparkles size={13} aria-hidden />}
          loading={start.isPending}
          onClick={() => start.mutate()}
        >
          {t`Explain in words`}
        </Button>
        <Text size="xs" c="dimmed">
          {t`Asks your model. Steward leaves the answer out unless the findings support it.`}
        </Text>
      </Group>
    );
  }
  if (!explained || UNDER_WAY.has(explained.status)) return <LoadingLines />;
  if (!isFinal(explained.status)) {
    return (
      <Alert color="yellow" variant="light" title={t`The request waits`}>
        {explained.reason} <RunLink runId={id} />
      </Alert>
    );
  }
  if (!output) {
    return (
      <Alert color="red" variant="light" title={t`The model did not answer`}>
        {explained.error?.message ?? ''}
      </Alert>
    );
  }
  return (
    <section aria-label={t`In words`}>
      {output.by_model && <Text size="sm">{output.text}</Text>}
      {output.note !== '' && (
        <Text size="sm" c="dimmed">
          {output.note}
        </Text>
      )}
      <Anchor component={Link} to={projectPath(project.id, 'runs', id)} size="xs">
        {output.by_model ? t`Written by a model from the findings above` : t`Show the request`}
      </Anchor>
    </section>
  );
}
