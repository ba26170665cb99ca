/** Tables of one flow or one connector: its versions, what it used, how it failed. */
import { plural, t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Detail, DetailSums, Dimension } from '@/api/observe';
import type { Counted } from '@/api/runs';
import { projectPath, useProject } from '@/app/project';
import { dollars } from '@/components/amounts';
import { durationText } from '@/components/duration';
import type { Formats } from '@/components/format';
import { Section } from '@/components/Section';
import { CountLink } from './CountLink';
import { detailPage, figuresOf, runsBehind } from './figure-links';
import classes from './overview.module.css';

export function Failures({ found, formats }: { found: Detail; formats: Formats }) {
  const project = useProject();
  if (found.failures.length === 0) return null;
  return (
    <Section title={t`How it failed`} framed>
      <ul className={classes.failing}>
        {found.failures.map(({ where, code, times, last_run_id }) => (
          <li key={`${where} ${code}`}>
            <span>
              {where === '' ? t`Runs` : where}: {codeText(code)}
            </span>
            <span>
              <Anchor
                component={Link}
                to={runsBehind(project.id, failedRuns(found, where, code))}
                inherit
              >
                {plural(times, {
                  one: `${formats.number(times)} time`,
                  other: `${formats.number(times)} times`,
                })}
              </Anchor>
              {last_run_id !== '' && (
                <>
                  {' · '}
                  <Anchor
                    component={Link}
                    to={projectPath(project.id, 'runs', last_run_id)}
                    inherit
                  >
                    {t`Latest run`}
                  </Anchor>
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The runs of a flow, or those that called a connection, in the period that is shown. */
export function ownRuns(found: Detail): Counted {
  const since = `${found.first}T00:00:00Z`;
  return found.kind === 'flow'
    ? { flow: found.name, since }
    : { used: 'connector', name: found.name, since };
}

/** The runs that failed in one way, or in which a tool or model did. */
function failedRuns(found: Detail, where: string, code: string): Counted {
  if (where === '') return { ...ownRuns(found), code };
  const isModel = found.parts.some(({ kind, name }) => kind === 'model' && name === where);
  return { ...ownRuns(found), used: isModel ? 'model' : 'tool', name: where, code };
}

const PART_TITLES: Record<string, string> = {
  flow: t`Flows that call it`,
  model: t`Models`,
  tool: t`Tools`,
  agent: t`Agents`,
};

export function Parts({ found, kind, formats }: { found: Detail; kind: string; formats: Formats }) {
  const project = useProject();
  const rows = found.parts.filter((part) => part.kind === kind);
  if (rows.length === 0) return null;
  const runs = (name: string): Counted =>
    kind === 'flow' ? { ...ownRuns(found), flow: name } : { ...ownRuns(found), used: kind, name };
  const named = (name: string, title: string): ReactNode => {
    const isItself = found.kind === 'connector' && kind === 'tool';
    const own = kind === 'tool' ? connectorPage(name) : figuresOf(kind as Dimension, name);
    if (own === null || isItself) return title;
    return (
      <Anchor component={Link} to={projectPath(project.id, own)} inherit>
        {title}
      </Anchor>
    );
  };
  return (
    <SumTable
      title={PART_TITLES[kind] ?? kind}
      counted={t`Times`}
      formats={formats}
      rows={rows.map((part) => ({
        key: part.name,
        name: named(part.name, part.title),
        title: part.title,
        counted: runs(part.name),
        sums: part,
      }))}
    />
  );
}

/** The page of the connector that a tool belongs to, such as "api.crm.find". */
function connectorPage(tool: string): string | null {
  const [word, connector] = tool.split('.');
  return (word === 'api' || word === 'mcp') && connector !== undefined
    ? detailPage('connector', connector)
    : null;
}

interface SumTableProps {
  title: string;
  counted: string;
  formats: Formats;
  rows: { key: string; name: ReactNode; title: string; counted: Counted; sums: DetailSums }[];
}

export function SumTable({ title, counted, formats, rows }: SumTableProps) {
  const project = useProject();
  return (
    <Section title={title} framed>
      <Scroller label={title}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t`Name`}</th>
              <th scope="col">{counted}</th>
              <th scope="col">{t`Failed`}</th>
              <th scope="col">{t`Mean time`}</th>
              <th scope="col">{t`Spent`}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, name, title: named, counted: which, sums }) => (
              <tr key={key}>
                <th scope="row">{name}</th>
                <td>
                  <CountLink
                    count={sums.count}
                    of={`${counted}, ${named}`}
                    to={runsBehind(project.id, which)}
                  />
                </td>
                <td data-bad={sums.errors > 0 || undefined}>
                  <CountLink
                    count={sums.errors}
                    of={t`failed, ${named}`}
                    to={runsBehind(project.id, { ...which, failed: 'true' })}
                  />
                </td>
                <td>{meanText(sums)}</td>
                <td>{dollars(formats, sums.usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </Section>
  );
}

/** Scrolls sideways on small screens, so it must be reachable by keyboard. */
export function Scroller({ label, children }: { label: string; children: ReactNode }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={classes.scroller} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

export function meanText({ count, seconds }: DetailSums): string {
  return count === 0 ? '–' : durationText((seconds / count) * 1000);
}

/** "http-503" as "answered 503"; other codes are what they are. */
export function codeText(code: string): string {
  const status = /^http-(\d{3})$/.exec(code)?.[1];
  return status === undefined ? code : t`answered ${status}`;
}
