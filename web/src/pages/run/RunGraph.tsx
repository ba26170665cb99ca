/** The flow of the run, coloured by how far each node is; the same as a list for everybody. */
import { Skeleton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense, useMemo } from 'react';
import type { RunDetail } from '@/api/run-types';
import { StateChip } from '@/components/Chip';
import { flowGraph, nodeState, nodeTitle } from './flow-graph';
import classes from './run.module.css';

const Graph = lazy(() => import('@/components/Graph'));

export function RunGraph({ run }: { run: RunDetail }) {
  const { progress, waits, document: flow } = run;
  const graph = useMemo(
    () => flowGraph({ progress, waits, document: flow }),
    [progress, waits, flow],
  );
  const isWide = useMediaQuery('(min-width: 48em)', true);
  const nodes = flow?.nodes ?? [];
  if (nodes.length < 2) return null;
  return (
    <>
      {isWide && (
        <div className={classes.graph}>
          <Suspense fallback={<Skeleton height={240} />}>
            <Graph label="Flow of the run" nodes={graph.nodes} edges={graph.edges} />
          </Suspense>
        </div>
      )}
      <ul className={classes.nodes} aria-label="Nodes of the flow">
        {nodes.map((node) => (
          <li key={node.id}>
            {nodeTitle(node)} <StateChip state={nodeState(run, node.id)} />
          </li>
        ))}
      </ul>
    </>
  );
}
