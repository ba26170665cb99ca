/** The flow of a run that goes on, coloured by how far each node is; as a list where nothing is drawn. */
import { t } from '@lingui/core/macro';
import { Button, Skeleton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Workflow } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { RunDetail } from '@/api/run-types';
import { isFinal, standingsQuery } from '@/api/runs';
import { useProject } from '@/app/project';
import { StateChip } from '@/components/Chip';
import { flowGraph, nodeState, nodeTitle } from './flow-graph';
import classes from './run.module.css';

const Graph = lazy(() => import('@/components/Graph'));

export function RunGraph({ run }: { run: RunDetail }) {
  const { progress, waits, document: flow } = run;
  const { data: standings } = useQuery(standingsQuery(useProject().id, run.id));
  const graph = useMemo(
    () => flowGraph({ progress, waits, document: flow }, standings),
    [progress, waits, flow, standings],
  );
  const isWide = useMediaQuery('(min-width: 48em)', true);
  const isOver = isFinal(run.status);
  const [isWanted, setWanted] = useState(false);
  const nodes = flow?.nodes ?? [];
  if (nodes.length < 2) return null;
  // Once the run is over, the timeline says how each step went; the drawing is for those who ask for it.
  return (
    <div>
      {isOver && isWide && (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-expanded={isWanted}
          leftSection={<Workflow size={14} aria-hidden />}
          onClick={() => setWanted(!isWanted)}
        >
          {isWanted ? t`Hide the flow` : t`Show the flow`}
        </Button>
      )}
      {isWide && (isWanted || !isOver) && (
        <div className={classes.graph}>
          <Suspense fallback={<Skeleton height={240} />}>
            <Graph label={t`Flow of the run`} nodes={graph.nodes} edges={graph.edges} />
          </Suspense>
        </div>
      )}
      {!isOver && (
        <ul className={classes.nodes} data-drawn={isWide} aria-label={t`Nodes of the flow`}>
          {nodes.map((node) => (
            <li key={node.id}>
              {nodeTitle(node)} <StateChip state={nodeState(run, node.id)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
