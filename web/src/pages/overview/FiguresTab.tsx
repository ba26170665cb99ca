/** Tiles, a heat map of flows by hour, what costs most and what fails. */
import { Anchor, SegmentedControl, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Gauge } from 'lucide-react';
import { useState } from 'react';
import { type Overview, overviewQuery, type Ranked } from '@/api/observe';
import { projectPath, useProject } from '@/app/project';
import { durationText } from '@/components/duration';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import { LoadingLines } from '@/components/LoadingLines';
import { Section } from '@/components/Section';
import { change, compact, dollars } from './amounts';
import { HeatMap } from './HeatMap';
import classes from './overview.module.css';

const PERIODS = [
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
];
const KINDS: { kind: Ranked['kind']; title: string; counted: string }[] = [
  { kind: 'flow', title: 'Flows and playbooks', counted: 'Runs' },
  { kind: 'model', title: 'Models', counted: 'Requests' },
  { kind: 'agent', title: 'Agents', counted: 'Steps' },
  { kind: 'tool', title: 'Tools', counted: 'Calls' },
];

export function FiguresTab() {
  const project = useProject();
  const [hours, setHours] = useState('24');
  const query = useQuery(overviewQuery(project.id, Number(hours)));
  const figures = query.data;
  if (query.isError && !figures)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  if (!figures) return <LoadingLines />;
  const isEmpty = figures.heat.length === 0 && Object.keys(figures.live).length === 0;
  return (
    <div className={classes.column}>
      <SegmentedControl
        aria-label="Period"
        data={PERIODS}
        value={hours}
        onChange={setHours}
        className={classes.period ?? ''}
      />
      {!figures.is_complete && (
        <Text size="sm" c="dimmed" role="status">
          Older runs are still being counted. The figures grow until that is done.
        </Text>
      )}
      <Tiles figures={figures} projectId={project.id} />
      {isEmpty ? (
        <EmptyState icon={Gauge} title="No runs in this period">
          Ask a question in the chat or run a playbook. Its duration, cost and errors appear here.
        </EmptyState>
      ) : (
        <>
          <Failing figures={figures} projectId={project.id} />
          {figures.heat.length > 0 && <HeatMap figures={figures} />}
          <div className={classes.tables}>
            {KINDS.map(({ kind, title, counted }) => (
              <RankedTable
                key={kind}
                title={title}
                counted={counted}
                rows={figures.ranked.filter((row) => row.kind === kind)}
              />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

function Tiles({ figures, projectId }: { figures: Overview; projectId: string }) {
  const formats = useFormats();
  const { now, before, live } = figures;
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
        label="Running now"
        value={formats.number(count('running', 'queued'))}
        note={`${formats.number(count('queued'))} queued`}
        to={projectPath(projectId, 'runs')}
      />
      <Tile
        label="Waiting for people"
        value={formats.number(count('waiting_for_approval', 'blocked', 'reviewing'))}
        note="Approvals, questions and budgets"
        to={projectPath(projectId, 'inbox')}
      />
      <Tile
        label="Runs ended"
        value={formats.number(now.runs)}
        note={compared(change(now.runs, before.runs))}
        to={projectPath(projectId, 'runs')}
      />
      <Tile
        label="Failed"
        value={percent.format(rate)}
        note={`${formats.number(now.failed)} runs`}
        isBad={now.failed > 0}
      />
      <Tile
        label="Spent"
        value={dollars(formats, now.usd + figures.live_usd)}
        note={compared(change(now.usd, before.usd))}
        to={`${projectPath(projectId, 'overview')}?tab=costs`}
      />
      <Tile
        label="Tokens"
        value={compact(formats, now.tokens)}
        note={`${formats.number(now.calls)} tool calls`}
      />
    </dl>
  );
}

function compared(difference: string | null): string {
  return difference === null ? 'Nothing before to compare' : `${difference} against before`;
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
    <Section title="Failing" framed>
      <ul className={classes.failing}>
        {figures.failing.map((each) => (
          <li key={each.flow}>
            <span>
              <strong>{each.title}</strong>: {formats.number(each.failed)} of{' '}
              {formats.number(each.runs)} runs failed.
            </span>
            <Anchor
              component={Link}
              to={`${projectPath(projectId, 'runs', each.last_run_id)}?tab=trace`}
              size="sm"
              aria-label={`Open the latest failed run of ${each.title}`}
            >
              Open the latest
            </Anchor>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RankedTable({ title, counted, rows }: { title: string; counted: string; rows: Ranked[] }) {
  const formats = useFormats();
  if (rows.length === 0) return null;
  return (
    <Section title={title} framed>
      {/* Scrolls sideways on small screens, so it must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroller} role="group" aria-label={title} tabIndex={0}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">{counted}</th>
              <th scope="col">Errors</th>
              <th scope="col">Mean time</th>
              <th scope="col">Tokens</th>
              <th scope="col">Spent</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">{row.title || 'unknown'}</th>
                <td>{formats.number(row.count)}</td>
                <td data-bad={row.errors > 0 || undefined}>{formats.number(row.errors)}</td>
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
