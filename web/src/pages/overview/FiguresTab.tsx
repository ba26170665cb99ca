/** Tiles, a heat map of flows by hour, what costs most and what fails. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { useMemo, useState } from 'react';
import { type BudgetItem, budgetsQuery } from '@/api/budgets';
import { type MetricsState, useMetrics } from '@/api/metrics';
import type { Overview, Ranked } from '@/api/observe';
import { projectPath, useProject } from '@/app/project';
import { durationText } from '@/components/duration';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { type Formats, useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Section } from '@/components/Section';
import { useNow } from '@/components/use-now';
import { change, compact, dollars } from '@/components/amounts';
import { overviewOf } from './figures';
import { CountLink } from './CountLink';
import { detailPage, figuresOf, runsBehind } from './figure-links';
import { HeatMap } from './HeatMap';
import classes from './overview.module.css';
import { CURRENT_PERIOD } from './period-words';

const MINUTE = 60_000;
const PERIODS = [
  { value: '24', label: t`Last 24 hours` },
  { value: '168', label: t`Last 7 days` },
  { value: '720', label: t`Last 30 days` },
];
const KINDS: { kind: Ranked['kind']; title: string; counted: string }[] = [
  { kind: 'flow', title: t`Flows and playbooks`, counted: t`Runs` },
  { kind: 'model', title: t`Models`, counted: t`Requests` },
  { kind: 'agent', title: t`Agents`, counted: t`Steps` },
  { kind: 'connector', title: t`Connectors`, counted: t`Calls` },
  { kind: 'tool', title: t`Tools`, counted: t`Calls` },
];

export function FiguresTab() {
  const project = useProject();
  const [hours, setHours] = useState('24');
  const [attempt, setAttempt] = useState(0);
  return (
    <Followed
      key={attempt}
      hours={hours}
      onHours={setHours}
      retry={() => setAttempt(attempt + 1)}
      project={project}
    />
  );
}

interface FollowedProps {
  project: ReturnType<typeof useProject>;
  hours: string;
  onHours: (hours: string) => void;
  retry: () => void;
}

function Followed({ project, hours, onHours, retry }: FollowedProps) {
  const { document, state, error } = useMetrics(project.id, Number(hours));
  const figures = useMemo(() => document && overviewOf(document), [document]);
  if (!figures) {
    return error === null ? <LoadingLines /> : <ErrorState error={error} retry={retry} />;
  }
  const isEmpty = figures.heat.length === 0 && Object.keys(figures.live).length === 0;
  return (
    <div className={classes.column}>
      <div className={classes.choices}>
        <SegmentedControl
          aria-label={t`Period`}
          data={PERIODS}
          value={hours}
          onChange={onHours}
          className={classes.period ?? ''}
        />
        <Freshness state={state} hasFailed={error !== null} />
      </div>
      {!figures.is_complete && (
        <Text size="sm" c="dimmed" role="status">
          {t`Older runs are still being counted. The figures grow until that is done.`}
        </Text>
      )}
      <Tiles figures={figures} projectId={project.id} />
      {isEmpty ? (
        <EmptyState icon={Gauge} picture="chart" title={t`No runs in this period`}>
          {t`Ask a question in the chat or run a playbook. Its duration, cost and errors appear here.`}
        </EmptyState>
      ) : (
        <>
          <Failing figures={figures} projectId={project.id} />
          <FailingTriggers figures={figures} projectId={project.id} />
          {figures.heat.length > 0 && <HeatMap figures={figures} />}
          <div className={classes.tables}>
            {KINDS.map(({ kind, title, counted }) => (
              <RankedTable
                key={kind}
                title={title}
                counted={counted}
                projectId={project.id}
                since={figures.since}
                rows={figures.ranked.filter((row) => row.kind === kind)}
              />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

function Freshness({ state, hasFailed }: { state: MetricsState; hasFailed: boolean }) {
  let words = t`Live`;
  if (hasFailed) words = t`Steward does not answer. These are the last figures.`;
  else if (state !== 'pushed') words = t`Refreshed every 5 seconds`;
  return (
    <Text size="sm" c="dimmed" role="status">
      {words}
    </Text>
  );
}

function Tiles({ figures, projectId }: { figures: Overview; projectId: string }) {
  const formats = useFormats();
  const { now, before, live, since } = figures;
  const moment = useNow(true, MINUTE);
  const budgets = (useQuery(budgetsQuery(projectId)).data?.items ?? []).filter(
    ({ kind, usd }) => kind === 'project' && usd.limit !== null,
  );
  const count = (...statuses: string[]) =>
    statuses.reduce((sum, status) => sum + (live[status] ?? 0), 0);
  const rate = now.runs === 0 ? 0 : now.failed / now.runs;
  const percent = new Intl.NumberFormat(formats.locale, {
    style: 'percent',
    maximumFractionDigits: 1,
  });
  return (
    <dl className={classes.tiles}>
      <Tile
        label={t`Running now`}
        value={formats.number(count('running'))}
        note={plural(figures.queue.workers, {
          one: `${formats.number(figures.queue.workers)} worker busy`,
          other: `${formats.number(figures.queue.workers)} workers busy`,
        })}
        to={`${projectPath(projectId, 'runs')}?status=active`}
      />
      <Tile
        label={t`Queued`}
        value={formats.number(count('queued'))}
        note={sinceText(t`The oldest waits`, figures.queue.oldest_at, moment)}
        to={`${projectPath(projectId, 'runs')}?status=queued`}
      />
      <Tile
        label={t`Waiting for people`}
        value={formats.number(count('waiting_for_approval', 'blocked', 'reviewing'))}
        note={t`Approvals, questions and budgets`}
        to={`${projectPath(projectId, 'runs')}?status=waiting`}
      />
      <Tile
        label={t`Approvals`}
        value={formats.number(figures.approvals.waiting)}
        note={sinceText(t`The oldest waits`, figures.approvals.oldest_at, moment)}
        to={projectPath(projectId, 'inbox')}
      />
      <Tile
        label={t`Runs ended`}
        value={formats.number(now.runs)}
        note={compared(change(now.runs, before.runs))}
        to={runsBehind(projectId, { since })}
      />
      <Tile
        label={t`Succeeded`}
        value={
          now.runs === 0 ? '–' : percent.format((now.runs - now.failed - now.cancelled) / now.runs)
        }
        note={t`${formats.number(now.cancelled)} cancelled`}
        to={runsBehind(projectId, { since }, 'done')}
      />
      <Tile
        label={t`Failed`}
        value={percent.format(rate)}
        note={plural(now.failed, {
          one: `${formats.number(now.failed)} run`,
          other: `${formats.number(now.failed)} runs`,
        })}
        isBad={now.failed > 0}
        to={runsBehind(projectId, { since }, 'failed')}
      />
      <Tile
        label={t`Spent`}
        value={dollars(formats, now.usd + figures.live_usd)}
        note={compared(change(now.usd, before.usd))}
        to={`${projectPath(projectId, 'overview')}?tab=costs`}
      />
      <Tile
        label={t`Spent today (UTC)`}
        value={dollars(formats, figures.today_usd + figures.live_usd)}
        note={budgetText(formats, budgets) ?? underWayText(formats, figures.live_usd)}
        to={`${projectPath(projectId, 'overview')}?tab=${budgets.length > 0 ? 'budgets' : 'costs'}`}
      />
      <Tile
        label={t`Tokens`}
        value={compact(formats, now.tokens)}
        note={plural(now.calls, {
          one: `${formats.number(now.calls)} tool call`,
          other: `${formats.number(now.calls)} tool calls`,
        })}
        to={`${projectPath(projectId, 'overview')}?tab=costs`}
      />
    </dl>
  );
}

function underWayText(formats: Formats, usd: number): string {
  return t`${dollars(formats, usd)} of it by runs under way`;
}

/** "$12.30 of $50.00 this month", of the budget of the project of which least is left. */
function budgetText(formats: Formats, budgets: BudgetItem[]): string | null {
  const use = ({ usd }: BudgetItem) => (usd.spent + usd.reserved) / (usd.limit ?? 1);
  const [first] = [...budgets].sort((a, b) => use(b) - use(a));
  if (first === undefined) return null;
  const { usd, period } = first;
  return t`${dollars(formats, usd.spent)} of ${dollars(formats, usd.limit ?? 0)} ${CURRENT_PERIOD[period]}`;
}

/** "The oldest waits 3 h", by the clock of this page. */
function sinceText(words: string, moment: string | null, now: number): string {
  if (moment === null) return t`None waits`;
  return `${words} ${durationText(Math.max(0, now - Date.parse(moment)))}`;
}

function compared(difference: string | null): string {
  return difference === null ? t`Nothing before to compare` : t`${difference} against before`;
}

interface TileProps {
  label: string;
  value: string;
  note: string;
  to?: string;
  isBad?: boolean;
}

function Tile({ label, value, note, to, isBad = false }: TileProps) {
  return (
    <div className={classes.tile}>
      <dt>
        {to === undefined ? (
          label
        ) : (
          <Anchor component={Link} to={to} inherit>
            {label}
          </Anchor>
        )}
      </dt>
      <dd className={classes.value} data-bad={isBad || undefined}>
        {value}
      </dd>
      <dd className={classes.note}>{note}</dd>
    </div>
  );
}

function Failing({ figures, projectId }: { figures: Overview; projectId: string }) {
  const formats = useFormats();
  if (figures.failing.length === 0) return null;
  return (
    <Section title={t`Failing`} framed>
      <ul className={classes.failing}>
        {figures.failing.map((each) => (
          <li key={each.flow}>
            <span>
              <Trans>
                <Anchor
                  component={Link}
                  to={projectPath(projectId, detailPage('flow', each.flow))}
                  fw={700}
                  inherit
                >
                  {each.title}
                </Anchor>
                :{' '}
                <CountLink
                  count={each.failed}
                  of={t`failed runs of ${each.title}`}
                  to={runsBehind(projectId, { flow: each.flow, since: figures.since }, 'failed')}
                />{' '}
                of {formats.number(each.runs)} runs failed.
              </Trans>
            </span>
            <Anchor
              component={Link}
              to={`${projectPath(projectId, 'runs', each.last_run_id)}?tab=trace`}
              size="sm"
              aria-label={t`Open the latest failed run of ${each.title}`}
            >
              {t`Open the latest`}
            </Anchor>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function FailingTriggers({ figures, projectId }: { figures: Overview; projectId: string }) {
  const formats = useFormats();
  if (figures.triggers.length === 0) return null;
  return (
    <Section title={t`Failing triggers`} framed>
      <ul className={classes.failing}>
        {figures.triggers.map((each) => (
          <li key={each.id}>
            <span>
              <Trans>
                <strong>
                  {each.playbook}, {each.name}
                </strong>
                : {each.why || t`No event for longer than expected.`} Since{' '}
                {formats.dateTime(each.since)}.
              </Trans>
            </span>
            <Anchor
              component={Link}
              to={`${projectPath(projectId, 'triggers')}?trigger=${each.id}`}
              size="sm"
              aria-label={t`Open the trigger ${each.name} of ${each.playbook}`}
            >
              {t`Open`}
            </Anchor>
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface RankedProps {
  title: string;
  counted: string;
  rows: Ranked[];
  projectId: string;
  since: string;
}

function RankedTable({ title, counted, rows, projectId, since }: RankedProps) {
  const formats = useFormats();
  const runs = ({ kind, name }: Ranked, failed?: 'true') =>
    runsBehind(projectId, {
      since,
      ...(kind === 'flow' ? { used: 'run', flow: name } : { used: kind, name }),
      ...(failed && { failed }),
    });
  if (rows.length === 0) return null;
  return (
    <Section title={title} framed>
      {/* Scrolls sideways on small screens, so it must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroller} role="group" aria-label={title} tabIndex={0}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t`Name`}</th>
              <th scope="col">{counted}</th>
              <th scope="col">{t`Errors`}</th>
              <th scope="col">{t`Mean time`}</th>
              <th scope="col">{t`Tokens`}</th>
              <th scope="col">{t`Spent`}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">
                  <RankedName row={row} projectId={projectId} />
                </th>
                <td>
                  <CountLink count={row.count} of={`${counted}, ${row.title}`} to={runs(row)} />
                </td>
                <td data-bad={row.errors > 0 || undefined}>
                  <CountLink
                    count={row.errors}
                    of={t`errors, ${row.title}`}
                    to={runs(row, 'true')}
                  />
                </td>
                <td>{row.count === 0 ? '–' : durationText((row.seconds * 1000) / row.count)}</td>
                <td>{compact(formats, row.tokens)}</td>
                <td>{dollars(formats, row.usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function RankedName({ row, projectId }: { row: Ranked; projectId: string }) {
  const to = figuresOf(row.kind, row.name);
  const title = row.title || t`unknown`;
  if (to === null) return <>{title}</>;
  return (
    <Anchor component={Link} to={`/p/${projectId}/${to}`} inherit>
      {title}
    </Anchor>
  );
}
