/** Flows by hour or day: the darker a cell, the more tokens, or runs where no model was asked. */
import { plural, t } from '@lingui/core/macro';
import { Anchor, Tooltip, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { CSSProperties } from 'react';
import type { Overview } from '@/api/observe';
import { projectPath, useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { Section } from '@/components/Section';
import { compact } from '@/components/amounts';
import { detailPage, runsBehind } from './figure-links';
import { MOST_HOURS } from './figures';
import classes from './overview.module.css';

const HOUR = 3_600_000;

interface Cell {
  tokens: number;
  runs: number;
  errors: number;
}

export function HeatMap({ figures }: { figures: Overview }) {
  const project = useProject();
  const formats = useFormats();
  const step = figures.hours > MOST_HOURS ? 24 * HOUR : HOUR;
  const start = Date.parse(figures.since);
  const columns = Math.ceil((figures.hours * HOUR) / step);
  const rows = new Map<string, Cell[]>();
  for (const each of figures.heat) {
    const cells = rows.get(each.flow) ?? Array.from({ length: columns }, empty);
    const cell = cells[Math.floor((Date.parse(each.hour) - start) / step)];
    if (cell) {
      cell.tokens += each.tokens;
      cell.runs += each.runs;
      cell.errors += each.errors;
    }
    rows.set(each.flow, cells);
  }
  const byTokens = figures.heat.some(({ tokens }) => tokens > 0);
  const weight = (cell: Cell) => (byTokens ? cell.tokens : cell.runs);
  const most = Math.max(1, ...[...rows.values()].flat().map(weight));
  const moment = (index: number) => {
    const iso = new Date(start + index * step).toISOString();
    return step === HOUR ? formats.dateTime(iso) : formats.date(iso);
  };
  const bounds = (index: number) => ({
    since: new Date(start + index * step).toISOString(),
    until: new Date(start + (index + 1) * step).toISOString(),
  });
  return (
    <Section title={byTokens ? t`Tokens by flow and time` : t`Runs by flow and time`} framed>
      {/* Scrolls sideways on small screens, so it must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroller} role="group" aria-label={t`Flows by time`} tabIndex={0}>
        <table className={classes.heat}>
          <tbody>
            {[...rows].map(([flow, cells]) => (
              <tr key={flow}>
                <th scope="row">
                  <Anchor
                    component={Link}
                    to={projectPath(project.id, detailPage('flow', flow))}
                    inherit
                  >
                    {figures.titles[flow] ?? flow}
                  </Anchor>
                </th>
                {cells.map((cell, index) => {
                  const words = plural(cell.runs, {
                    one: `${moment(index)}: ${formats.number(cell.runs)} run, ${formats.number(cell.errors)} failed, ${compact(formats, cell.tokens)} tokens`,
                    other: `${moment(index)}: ${formats.number(cell.runs)} runs, ${formats.number(cell.errors)} failed, ${compact(formats, cell.tokens)} tokens`,
                  });
                  return (
                    // Cells have no identity but their place.
                    <td key={index}>
                      {cell.runs + cell.tokens === 0 ? (
                        <span className={classes.cell} />
                      ) : (
                        <Tooltip label={words}>
                          <Link
                            // By keyboard, the name of the flow leads to the same: its days and their runs.
                            tabIndex={-1}
                            to={runsBehind(project.id, { flow, ...bounds(index) })}
                            className={classes.cell ?? ''}
                            data-bad={cell.errors > 0 || undefined}
                            style={{ '--weight': weight(cell) / most } as CSSProperties}
                          >
                            <VisuallyHidden>{words}</VisuallyHidden>
                          </Link>
                        </Tooltip>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className={classes.scale}>
        <span>{moment(0)}</span>
        <span>{moment(columns - 1)}</span>
      </p>
    </Section>
  );
}

function empty(): Cell {
  return { tokens: 0, runs: 0, errors: 0 };
}
