/** Charts, rows and files of a turn, below its answer. */
import { Skeleton, Text } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import type { Turn } from '@/api/chat-types';
import { artifactAddress } from '@/api/runs';
import { useProject } from '@/app/project';
import { useFormats } from '@/components/format';
import { SmallTable } from '@/components/ValueView';
import { ChartArtifact } from '@/pages/console/ChartArtifact';
import { Artifacts } from '@/pages/run/Artifacts';
import classes from './chat.module.css';
import { shownOf } from './results';

const VegaChart = lazy(() => import('@/pages/dataset/charts/VegaChart'));
const ignore = () => undefined;

export function Results({ turn }: { turn: Turn }) {
  const project = useProject();
  const formats = useFormats();
  const { table, charts, chartFiles, files } = useMemo(() => shownOf(turn), [turn]);
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
      {table && (
        <div>
          <SmallTable label={`Rows: ${table.title}`} table={table.table} />
          {table.rowsInAll > table.table.rows.length && (
            <Text size="xs" c="dimmed" mt={4}>
              The first {formats.number(table.table.rows.length)} of{' '}
              {formats.number(table.rowsInAll)} rows
            </Text>
          )}
        </div>
      )}
      {files.length > 0 && <Artifacts runId={turn.run_id} artifacts={files} />}
    </>
  );
}
