/** Charts, rows and files of a turn, below its answer. */
import { plural, t } from '@lingui/core/macro';
import { Skeleton } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import type { Turn } from '@/api/chat-types';
import { artifactAddress } from '@/api/runs';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { ChartArtifact } from '@/pages/console/ChartArtifact';
import { Artifacts } from '@/pages/run/Artifacts';
import classes from './chat.module.css';
import { AnswerRows } from './AnswerRows';
import { blocksOf } from './markdown';
import { shownOf } from './results';
import { RowsTable } from './RowsTable';

const VegaChart = lazy(() => import('@/pages/dataset/charts/VegaChart'));
const ignore = () => undefined;

const hasTable = (answer: string | null) =>
  blocksOf(answer ?? '').some(({ kind }) => kind === 'table');

export function Results({ turn }: { turn: Turn }) {
  const project = useProject();
  const formats = useFormats();
  const { table, charts, chartFiles, files } = useMemo(() => shownOf(turn), [turn]);
  const isProposal = turn.reading !== null && turn.reading.status !== 'fact';
  return (
    <>
      {charts.map(({ key, spec, description }) => (
        <div key={key} className={classes.chart}>
          <Suspense fallback={<Skeleton height={240} />}>
            <VegaChart spec={spec} description={description} onDrawn={ignore} />
          </Suspense>
        </div>
      ))}
      {chartFiles.map(({ digest, name }) => (
        <div key={digest} className={classes.chart}>
          <ChartArtifact name={name} address={artifactAddress(project.id, turn.run_id, digest)} />
        </div>
      ))}
      {table &&
        !isProposal &&
        (turn.reading !== null ? (
          <AnswerRows turn={turn} table={table} />
        ) : (
          // An answer that shows rows already does not need them twice.
          <details open={!hasTable(turn.answer)} className={classes.rows}>
            <summary>
              {formats.number(table.rowsInAll)}{' '}
              {plural(table.rowsInAll, { one: `row`, other: `rows` })}
              {table.rowsInAll > table.table.rows.length &&
                t`, the first ${formats.number(table.table.rows.length)} here`}
            </summary>
            <RowsTable label={t`Rows: ${table.title}`} table={table.table} />
          </details>
        ))}
      {files.length > 0 && <Artifacts runId={turn.run_id} artifacts={files} />}
    </>
  );
}
