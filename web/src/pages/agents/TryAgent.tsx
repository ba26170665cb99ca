/** Runs the saved agent alone with a test input and shows what came of it. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Anchor, Button, Group, Skeleton, Stack, Text, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { type AgentDetail, useTryAgent } from '@/api/agents';
import { runQuery } from '@/api/runs';
import { projectPath, useMay, useProject } from '@/app/project';
import { StatusChip } from '@/components/Chip';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { RunLink } from '@/components/RunLink';
import { ValueView } from '@/components/ValueView';
import classes from './agents.module.css';

export function TryAgent({ agent }: { agent: AgentDetail }) {
  const project = useProject();
  const mayRun = useMay('operator');
  const attempt = useTryAgent(project.id);
  const [task, setTask] = useState('');
  const [context, setContext] = useState('');
  const hasModel = agent.models.length > 0;
  const send = () => attempt.mutate({ name: agent.name, task, context: valueOf(context) });
  return (
    <Stack maw="52rem">
      {!hasModel && <NoModel agent={agent} />}
      <Textarea
        label={t`Task`}
        description={t`What a flow would ask it to do.`}
        autosize
        minRows={3}
        maxRows={14}
        value={task}
        onChange={({ currentTarget }) => setTask(currentTarget.value)}
      />
      <Textarea
        label={t`Data it works on`}
        description={t`A text, or JSON. Leave it empty when the task says everything.`}
        autosize
        minRows={2}
        maxRows={14}
        value={context}
        onChange={({ currentTarget }) => setContext(currentTarget.value)}
      />
      <Group gap="sm">
        <Button
          leftSection={<Play size={14} aria-hidden />}
          loading={attempt.isPending}
          disabled={!mayRun || !hasModel || agent.archived || task.trim() === ''}
          onClick={send}
        >
          {t`Try it`}
        </Button>
        <Text size="xs" c="dimmed">
          {mayRun
            ? t`A real run of the saved version: recorded, paid from the budget, and asked for approval where policy says so.`
            : t`Operators and above can try agents.`}
        </Text>
      </Group>
      <FormError error={attempt.error} />
      {attempt.data && <Outcome key={attempt.data.run_id} runId={attempt.data.run_id} />}
    </Stack>
  );
}

function NoModel({ agent }: { agent: AgentDetail }) {
  const project = useProject();
  const model = agent.document.model;
  return (
    <Alert variant="light" color="yellow" title={t`No language model is set up`}>
      {typeof model === 'string'
        ? t`This agent asks the model ${model}, which is not set up.`
        : t`An agent needs a language model to work.`}{' '}
      <Anchor component={Link} to={projectPath(project.id, 'models')} inherit>
        {t`Open Models`}
      </Anchor>
    </Alert>
  );
}

function Outcome({ runId }: { runId: string }) {
  const project = useProject();
  const query = useQuery(runQuery(project.id, runId));
  const run = query.data;
  if (!run) {
    return query.isError ? (
      <ErrorState error={query.error} retry={() => void query.refetch()} />
    ) : (
      <Skeleton height={80} aria-busy />
    );
  }
  const isOver = ['done', 'failed', 'cancelled'].includes(run.status);
  return (
    <section aria-label={t`Answer`} aria-live="polite" className={classes.answer}>
      <Group gap="sm" mb="xs">
        <StatusChip status={run.status} />
        <RunLink runId={runId} />
      </Group>
      {run.error !== null && (
        <Text size="sm" role="alert">
          {run.error.message}
        </Text>
      )}
      {run.status === 'done' && <ValueView label={t`Answer`} value={run.output} />}
      {!isOver && run.reason !== null && run.reason !== '' && (
        <Text size="sm">
          <Trans>
            It waits: {run.reason.replace(/\.$/u, '')}.{' '}
            <Anchor component={Link} to={projectPath(project.id, 'inbox')} inherit>
              Open the inbox
            </Anchor>
          </Trans>
        </Text>
      )}
    </section>
  );
}

/** JSON where it is JSON, otherwise the text itself. */
function valueOf(text: string): unknown {
  if (text.trim() === '') return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
