/** What an agent did and cost lately, from the journals of ended runs. */
import { Anchor, Select, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { useState } from 'react';
import { agentFiguresQuery } from '@/api/agents';
import { projectPath, useProject } from '@/app/project';
import { durationText } from '@/components/duration';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { Section } from '@/components/Section';
import { usdText } from '../chat/cost';
import classes from './agents.module.css';

const PERIODS = [
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
];

export function AgentFigures({ name }: { name: string }) {
  const project = useProject();
  const formats = useFormats();
  const [days, setDays] = useState('30');
  const query = useQuery(agentFiguresQuery(project.id, name, Number(days)));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  const figures = query.data;
  return (
    <Stack>
      <Select
        aria-label="Period"
        data={PERIODS}
        value={days}
        allowDeselect={false}
        maw="12rem"
        onChange={(value) => setDays(value ?? '30')}
      />
      {!figures && <Skeleton height={120} aria-busy />}
      {figures?.runs === 0 && (
        <EmptyState icon={Activity} title="No runs in this time">
          Try it, or name it in a flow.
        </EmptyState>
      )}
      {figures && figures.runs > 0 && (
        <>
          <dl className={classes.facts}>
            <Fact label="Runs" value={formats.number(figures.runs)} />
            <Fact label="Failed runs" value={formats.number(figures.failed_runs)} />
            <Fact label="Finished tasks" value={formats.number(figures.works)} />
            <Fact
              label="Mean time of a task"
              value={
                figures.works > 0 ? durationText((figures.seconds / figures.works) * 1000) : '–'
              }
            />
            <Fact label="Requests to models" value={formats.number(figures.requests)} />
            <Fact label="Tokens" value={formats.number(figures.tokens)} />
            <Fact label="Cost" value={usdText(String(figures.usd))} />
          </dl>
          {figures.tools.length > 0 && (
            <Section title="Tools it called" framed>
              <ul className={classes.tools}>
                {figures.tools.map(({ name: tool, calls, errors }) => (
                  <li key={tool} className={classes.line}>
                    <Text span size="sm">
                      {tool}
                    </Text>
                    <Text span size="sm" c="dimmed">
                      {formats.number(calls)} {calls === 1 ? 'call' : 'calls'}
                      {errors > 0 ? `, ${formats.number(errors)} failed` : ''}
                    </Text>
                  </li>
                ))}
              </ul>
            </Section>
          )}
          <Section title="Latest runs" framed>
            <ul className={classes.tools}>
              {figures.last_runs.map((run) => (
                <li key={run}>
                  <Anchor component={Link} to={projectPath(project.id, 'runs', run)} size="sm">
                    {run}
                  </Anchor>
                </li>
              ))}
            </ul>
          </Section>
          {!figures.is_complete && (
            <Text size="xs" c="dimmed">
              Steward is still counting earlier runs.
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}
