/** What one flow or one connector did lately: day by day, by version, how it failed, and whether a service is away. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Anchor, SegmentedControl, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Activity, Unplug } from 'lucide-react';
import { useState } from 'react';
import { insideSentence } from '@/language';
import { type Detail, type DetailSums, detailQuery } from '@/api/observe';
import { projectPath, useProject } from '@/app/project';
import { compact, dollars } from '@/components/amounts';
import { durationText } from '@/components/duration';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { type Formats, useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import type { Counted } from '@/api/runs';
import { CountLink } from './CountLink';
import { codeText, Failures, meanText, ownRuns, Parts, Scroller, SumTable } from './DetailTables';
import { listOf, runsBehind } from './figure-links';
import classes from './overview.module.css';

const PERIODS = [
  { value: '7', label: t`7 days` },
  { value: '30', label: t`30 days` },
  { value: '90', label: t`90 days` },
];
const DAY = 86_400_000;
const WEEK = 7;

export function DetailPage({ kind, name }: { kind: Detail['kind']; name: string }) {
  const project = useProject();
  const [days, setDays] = useState('30');
  const query = useQuery(detailQuery(project.id, kind, name, Number(days)));
  const found = query.data;
  const own = listOf(kind, name);
  return (
    <Page
      title={found?.title ?? name}
      description={kind === 'flow' ? t`What this flow did and cost.` : t`Calls to this connection.`}
      width="full"
      parent={{ label: t`Overview`, to: projectPath(project.id, 'overview') }}
      actions={
        own !== null && (
          <Anchor component={Link} to={projectPath(project.id, own)} size="sm">
            {kind === 'flow' ? t`Open the flow` : t`Open connections`}
          </Anchor>
        )
      }
    >
      <div className={classes.column}>
        <SegmentedControl
          className={classes.period}
          aria-label={t`Period`}
          data={PERIODS}
          value={days}
          onChange={setDays}
        />
        {query.isError && !found && (
          <ErrorState error={query.error} retry={() => void query.refetch()} />
        )}
        {!query.isError && !found && <LoadingLines />}
        {found && <Found found={found} days={Number(days)} />}
      </div>
    </Page>
  );
}

function Found({ found, days }: { found: Detail; days: number }) {
  const formats = useFormats();
  const isFlow = found.kind === 'flow';
  const counted = isFlow ? t`Runs` : t`Calls`;
  return (
    <>
      <OutageList found={found} formats={formats} />
      {found.days.length === 0 ? (
        <EmptyState
          icon={Activity}
          title={t`No ${insideSentence(counted)} in the last ${days} days`}
        >
          {isFlow
            ? t`When it runs, you see its runs, errors, time and cost here, day by day.`
            : t`When an agent or a playbook uses this connection, you see its calls, errors and outages here, day by day.`}
        </EmptyState>
      ) : (
        <>
          <Tiles found={found} formats={formats} counted={counted} />
          <Section
            title={t`Day by day`}
            description={t`Bars count ${insideSentence(counted)}; the red part failed. Days are those of UTC.`}
            framed
          >
            <DayBars found={found} days={days} formats={formats} counted={counted} />
          </Section>
          <div className={classes.tables}>
            {isFlow && (
              <SumTable
                title={t`Versions`}
                counted={counted}
                formats={formats}
                rows={found.versions.map((each) => ({
                  key: String(each.revision),
                  name: each.revision === 0 ? t`No playbook` : t`Revision ${each.revision}`,
                  title: each.revision === 0 ? t`No playbook` : t`Revision ${each.revision}`,
                  counted: { ...ownRuns(found), revision: String(each.revision) },
                  sums: each,
                }))}
              />
            )}
            <Failures found={found} formats={formats} />
            {['flow', 'model', 'tool', 'agent'].map((kind) => (
              <Parts key={kind} found={found} kind={kind} formats={formats} />
            ))}
          </div>
        </>
      )}
      {!found.is_complete && (
        <Text size="xs" c="dimmed">
          {t`Steward is still counting earlier runs.`}
        </Text>
      )}
    </>
  );
}

function OutageList({ found, formats }: { found: Detail; formats: Formats }) {
  const project = useProject();
  return found.outages.map((each) => (
    <Alert
      key={each.connector}
      color="red"
      variant="light"
      icon={<Unplug size={16} aria-hidden />}
      title={t`${each.connector} is failing`}
    >
      <Trans>
        <Anchor
          component={Link}
          to={runsBehind(
            project.id,
            { used: 'connector', name: each.connector, failed: 'true', since: each.since },
            'failed',
          )}
          inherit
        >
          {plural(each.failed_runs, {
            one: `${formats.number(each.failed_runs)} run failed`,
            other: `${formats.number(each.failed_runs)} runs failed`,
          })}
        </Anchor>{' '}
        since {formats.dateTime(each.since)}.{' '}
        {plural(each.calls, {
          one: `In that time ${formats.number(each.calls)} call failed and none succeeded.`,
          other: `In that time ${formats.number(each.calls)} calls failed and none succeeded.`,
        })}{' '}
        Latest error: {codeText(each.code)}.{' '}
      </Trans>
      {each.last_run_id !== '' && (
        <Anchor component={Link} to={projectPath(project.id, 'runs', each.last_run_id)} inherit>
          {t`Latest failed run`}
        </Anchor>
      )}
    </Alert>
  ));
}

function Tiles({ found, formats, counted }: { found: Detail; formats: Formats; counted: string }) {
  const project = useProject();
  const { total, latest } = found;
  const runs = (more: Counted = {}) => runsBehind(project.id, { ...ownRuns(found), ...more });
  const costs = `${projectPath(project.id, 'overview')}?tab=costs`;
  const rate = total.count === 0 ? 0 : total.errors / total.count;
  return (
    <dl className={classes.tiles}>
      <Tile label={counted} value={formats.number(total.count)} to={runs()} />
      <Tile
        label={t`Failed`}
        to={runs({ failed: 'true' })}
        value={formats.number(total.errors)}
        note={`${(rate * 100).toFixed(1)}%`}
        bad={total.errors > 0}
      />
      <Tile label={t`Mean time`} value={meanText(total)} to={runs()} />
      {latest.median_ms !== null && latest.slow_ms !== null && (
        <Tile
          label={t`Median time`}
          to={runsBehind(project.id, { flow: found.name }, 'done')}
          value={durationText(latest.median_ms)}
          note={t`19 of 20 below ${durationText(latest.slow_ms)}; latest ${formats.number(latest.runs)} runs`}
        />
      )}
      <Tile label={t`Tokens`} value={compact(formats, total.tokens)} to={costs} />
      <Tile label={t`Spent`} value={dollars(formats, total.usd)} to={costs} />
      {found.kind === 'flow' && (
        <Tile
          label={t`Undone`}
          to={runsBehind(project.id, { flow: found.name })}
          value={
            latest.changes === 0 ? '–' : `${((latest.undone / latest.changes) * 100).toFixed(0)}%`
          }
          note={plural(latest.changes, {
            one: `${formats.number(latest.undone)} of ${formats.number(latest.changes)} change`,
            other: `${formats.number(latest.undone)} of ${formats.number(latest.changes)} changes`,
          })}
        />
      )}
    </dl>
  );
}

function Tile(props: { label: string; value: string; to: string; note?: string; bad?: boolean }) {
  return (
    <div className={classes.tile}>
      <dt>
        <Anchor component={Link} to={props.to} inherit>
          {props.label}
        </Anchor>
      </dt>
      <dd className={classes.value} data-bad={props.bad === true ? true : undefined}>
        {props.value}
      </dd>
      {props.note !== undefined && <dd className={classes.note}>{props.note}</dd>}
    </div>
  );
}

interface DayProps {
  found: Detail;
  days: number;
  formats: Formats;
  counted: string;
}

function DayBars({ found, days, formats, counted }: DayProps) {
  const start = Date.parse(found.first);
  const byDay = new Map(found.days.map((each) => [each.day, each]));
  const all = Array.from({ length: days }, (_, index) =>
    byDay.get(new Date(start + index * DAY).toISOString().slice(0, 10)),
  );
  const most = Math.max(...all.map((each) => each?.count ?? 0), 1);
  const dayName = (index: number) =>
    formats.date(`${new Date(start + index * DAY).toISOString().slice(0, 10)}T12:00:00Z`);
  return (
    <>
      <div className={classes.bars} role="img" aria-label={t`By day; the table below has the sums`}>
        {all.map((each, index) => {
          const count = each?.count ?? 0;
          const errors = each?.errors ?? 0;
          return (
            <Tooltip
              key={dayName(index)}
              label={t`${dayName(index)}: ${formats.number(count)} ${insideSentence(counted)}, ${formats.number(errors)} failed, mean ${rollingText(all, index)} over 7 days`}
            >
              <div className={classes.bar}>
                <span className={classes.failed} style={{ height: `${(errors / most) * 100}%` }} />
                <span
                  className={classes.done}
                  style={{ height: `${((count - errors) / most) * 100}%` }}
                />
              </div>
            </Tooltip>
          );
        })}
      </div>
      <p className={classes.scale}>
        <span>{dayName(0)}</span>
        <span>{dayName(days - 1)}</span>
      </p>
      <DayTable found={found} all={all} dayName={dayName} formats={formats} counted={counted} />
    </>
  );
}

interface DayTableProps {
  found: Detail;
  all: (DetailSums | undefined)[];
  dayName: (index: number) => string;
  formats: Formats;
  counted: string;
}

/** The latest days in numbers, newest first. */
function DayTable({ found, all, dayName, formats, counted }: DayTableProps) {
  const project = useProject();
  const start = Date.parse(found.first);
  const runs = (index: number, more: Counted = {}) =>
    runsBehind(project.id, {
      ...ownRuns(found),
      since: new Date(start + index * DAY).toISOString(),
      until: new Date(start + (index + 1) * DAY).toISOString(),
      ...more,
    });
  const latest = all
    .map((each, index) => ({ each, index }))
    .filter((row): row is { each: DetailSums; index: number } => row.each !== undefined)
    .reverse()
    .slice(0, WEEK);
  return (
    <Scroller label={t`Latest days`}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t`Day`}</th>
            <th scope="col">{counted}</th>
            <th scope="col">{t`Failed`}</th>
            <th scope="col">{t`Mean time`}</th>
            <th scope="col">{t`Mean of 7 days`}</th>
            <th scope="col">{t`Tokens`}</th>
            <th scope="col">{t`Spent`}</th>
          </tr>
        </thead>
        <tbody>
          {latest.map(({ each, index }) => (
            <tr key={index}>
              <th scope="row">{dayName(index)}</th>
              <td>
                <CountLink
                  count={each.count}
                  of={`${counted}, ${dayName(index)}`}
                  to={runs(index)}
                />
              </td>
              <td data-bad={each.errors > 0 || undefined}>
                <CountLink
                  count={each.errors}
                  of={t`failed, ${dayName(index)}`}
                  to={runs(index, { failed: 'true' })}
                />
              </td>
              <td>{meanText(each)}</td>
              <td>{rollingText(all, index)}</td>
              <td>{compact(formats, each.tokens)}</td>
              <td>{dollars(formats, each.usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function rollingText(all: (DetailSums | undefined)[], index: number): string {
  const week = all.slice(Math.max(0, index - WEEK + 1), index + 1);
  const count = week.reduce((sum, each) => sum + (each?.count ?? 0), 0);
  const seconds = week.reduce((sum, each) => sum + (each?.seconds ?? 0), 0);
  return count === 0 ? '–' : durationText((seconds / count) * 1000);
}
