/** What an agent did and cost lately, from the journals of ended runs. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Group, Select, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { useState } from 'react';
import { type AgentFigures as Figures, agentFiguresQuery } from '@/api/agents';
import type { Counted } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { compact, dollars } from '@/components/amounts';
import { StatusChip } from '@/components/Chip';
import { durationText } from '@/components/duration';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { type Formats, useFormats } from '@/components/format';
import { Section } from '@/components/Section';
import { CountLink } from '../overview/CountLink';
import { runsBehind } from '../overview/figure-links';
import overview from '../overview/overview.module.css';
import classes from './agents.module.css';

const PERIODS = [
  { value: '7', label: t`Last 7 days` },
  { value: '30', label: t`Last 30 days` },
  { value: '90', label: t`Last 90 days` },
];

const DAY = 86_400_000;
const WEEK = 7 * DAY;

export function AgentFigures({ name }: { name: string }) {
  const project = useProject();
  const formats = useFormats();
  const [days, setDays] = useState('30');
  const query = useQuery(agentFiguresQuery(project.id, name, Number(days)));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  const figures = query.data;
  const since = new Date(startOfToday() - (Number(days) - 1) * DAY).toISOString();
  const runs = runsBehind(project.id, { since, used: 'agent', name });
  const failed = runsBehind(project.id, { since, used: 'agent', name }, 'failed');
  const toolNames = new Set(figures?.tools.map((tool) => tool.name));
  const costs = `${projectPath(project.id, 'overview')}?tab=costs`;
  const used = (kind: 'tool' | 'model', of: string, more: Counted = {}) =>
    runsBehind(project.id, { since, used: kind, name: of, agent: name, ...more });
  return (
    <Stack>
      <Select
        aria-label={t`Period`}
        data={PERIODS}
        value={days}
        allowDeselect={false}
        maw="12rem"
        onChange={(value) => setDays(value ?? '30')}
      />
      {!figures && <Skeleton height={120} aria-busy />}
      {figures?.runs === 0 && (
        <EmptyState icon={Activity} title={t`No runs in this time`}>
          {t`Try it, or name it in a flow.`}
        </EmptyState>
      )}
      {figures && figures.runs > 0 && (
        <>
          <dl className={classes.facts}>
            <Fact label={t`Runs`} to={runs} value={formats.number(figures.runs)} />
            <Fact label={t`Failed runs`} to={failed} value={formats.number(figures.failed_runs)} />
            <Fact label={t`Finished tasks`} to={runs} value={formats.number(figures.works)} />
            <Fact
              label={t`Mean time of a task`}
              to={runs}
              value={meanText(figures.works, figures.seconds)}
            />
            <Fact
              label={t`Requests to models`}
              to={runs}
              value={formats.number(figures.requests)}
            />
            <Fact label={t`Tokens`} to={costs} value={formats.number(figures.tokens)} />
            <Fact label={t`Cost`} to={costs} value={dollars(formats, figures.usd)} />
            <Fact
              label={t`Changes undone`}
              to={runs}
              value={t`${formats.number(figures.undone)} of ${formats.number(figures.changes)}`}
            />
            <Fact label={t`Kept to the plan`} to={runs} value={adherenceText(formats, figures)} />
          </dl>
          <Days days={figures.days} />
          {figures.failures.length > 0 && (
            <Section title={t`Errors`}>
              <ul className={classes.tools}>
                {figures.failures.map(({ where, code, times }) => (
                  <li key={`${where} ${code}`} className={classes.line}>
                    <Text span size="sm">
                      {where === '' ? t`Its own work` : where}: {code}
                    </Text>
                    <Text span size="sm" c="dimmed">
                      <CountLink
                        count={times}
                        of={t`runs with ${code}`}
                        to={
                          where === ''
                            ? runsBehind(project.id, { since, used: 'agent', name, code })
                            : used(toolNames.has(where) ? 'tool' : 'model', where, { code })
                        }
                      />{' '}
                      {plural(times, { one: `time`, other: `times` })}
                    </Text>
                  </li>
                ))}
              </ul>
            </Section>
          )}
          {figures.tools.length > 0 && (
            <Section title={t`Tools it called`}>
              <ul className={classes.tools}>
                {figures.tools.map(({ name: tool, calls, errors }) => (
                  <li key={tool} className={classes.line}>
                    <Text span size="sm">
                      {tool}
                    </Text>
                    <Text span size="sm" c="dimmed">
                      <CountLink count={calls} of={t`calls of ${tool}`} to={used('tool', tool)} />{' '}
                      {plural(calls, { one: `call`, other: `calls` })}
                      {errors > 0 && (
                        <>
                          <Trans>
                            ,{' '}
                            <CountLink
                              count={errors}
                              of={t`failed calls of ${tool}`}
                              to={used('tool', tool, { failed: 'true' })}
                            />{' '}
                            failed
                          </Trans>
                        </>
                      )}
                    </Text>
                  </li>
                ))}
              </ul>
            </Section>
          )}
          <Section title={t`Latest runs`}>
            <ul className={classes.tools}>
              {figures.last_runs.map((run) => (
                <li key={run.id} className={classes.line}>
                  <Anchor component={Link} to={projectPath(project.id, 'runs', run.id)} size="sm">
                    {run.title}
                  </Anchor>
                  <Group gap="xs" wrap="nowrap">
                    <Text span size="sm" c="dimmed">
                      {formats.dateTime(run.ended_at)}
                    </Text>
                    <StatusChip status={run.status} />
                  </Group>
                </li>
              ))}
            </ul>
          </Section>
          {!figures.is_complete && (
            <Text size="xs" c="dimmed">
              {t`Steward is still counting earlier runs.`}
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

/** Time, tokens and cost of each day on which it worked, the newest first. */
function Days({ days }: { days: Figures['days'] }) {
  const formats = useFormats();
  return (
    <Section title={t`Day by day`} description={t`Days are those of UTC.`} framed>
      {/* Scrolls sideways on small screens, so it must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={overview.scroller} role="group" aria-label={t`Day by day`} tabIndex={0}>
        <table className={overview.table}>
          <thead>
            <tr>
              <th scope="col">{t`Day`}</th>
              <th scope="col">{t`Mean time`}</th>
              <th scope="col">{t`Mean of 7 days`}</th>
              <th scope="col">{t`Cost`}</th>
              <th scope="col">{t`Tasks`}</th>
              <th scope="col">{t`Tokens`}</th>
              <th scope="col">{t`Kept to the plan`}</th>
            </tr>
          </thead>
          <tbody>
            {[...days].reverse().map(({ day, works, seconds, tokens, usd, ...kept }) => (
              <tr key={day}>
                <th scope="row">{formats.date(`${day}T12:00:00Z`)}</th>
                <td>{meanText(works, seconds)}</td>
                <td>{weekText(days, day)}</td>
                <td>{dollars(formats, usd)}</td>
                <td>{formats.number(works)}</td>
                <td>{compact(formats, tokens)}</td>
                <td>{adherenceText(formats, kept)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

/** Midnight in UTC, as figures count days. */
function startOfToday(): number {
  return Date.parse(new Date().toISOString().slice(0, 10));
}

function meanText(works: number, seconds: number): string {
  return works > 0 ? durationText((seconds / works) * 1000) : '–';
}

/** The mean time of the tasks of seven days, of which the given one is the last. */
function weekText(days: Figures['days'], last: string): string {
  const end = Date.parse(last);
  const week = days.filter(({ day }) => Date.parse(day) <= end && Date.parse(day) > end - WEEK);
  const sum = (of: 'works' | 'seconds') => week.reduce((added, each) => added + each[of], 0);
  return meanText(sum('works'), sum('seconds'));
}

/** Of the steps whose plan named a tool: in how many that tool did the work, and no fallback. */
function adherenceText(formats: Formats, kept: { judged: number; adhered: number }): string {
  return kept.judged === 0
    ? '–'
    : plural(kept.judged, {
        one: `${((kept.adhered / kept.judged) * 100).toFixed(0)}% of ${formats.number(kept.judged)} step`,
        other: `${((kept.adhered / kept.judged) * 100).toFixed(0)}% of ${formats.number(kept.judged)} steps`,
      });
}

function Fact({ label, to, value }: { label: string; to: string; value: string }) {
  return (
    <div>
      <dt>
        <Anchor component={Link} to={to} inherit>
          {label}
        </Anchor>
      </dt>
      <dd>{value}</dd>
    </div>
  );
}
