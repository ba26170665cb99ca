/** The calls of a step that ran many times, such as the items of a map: only the rows in view are drawn. */
import { t } from '@lingui/core/macro';
import { Anchor, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { itemsOf } from '@/api/lists';
import { nodeCallsQuery } from '@/api/runs';
import { useProject } from '@/app/project';
import { StateChip } from '@/components/Chip';
import { callPath } from './standing';
import classes from './flows.module.css';

const ROW = 32;
const SHOWN = 10;

export function NodeCalls({ runId, node }: { runId: string; node: string }) {
  const project = useProject();
  const query = useInfiniteQuery(nodeCallsQuery(project.id, runId, node));
  const [top, setTop] = useState(0);
  const calls = itemsOf(query.data);
  const first = Math.max(0, Math.floor(top / ROW) - 2);
  const shown = calls.slice(first, first + SHOWN + 4);
  const scroll = (element: HTMLElement) => {
    setTop(element.scrollTop);
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (left < SHOWN * ROW && query.hasNextPage && !query.isFetchingNextPage)
      void query.fetchNextPage();
  };
  return (
    <div
      className={classes.calls}
      role="group"
      aria-label={t`Items`}
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
      tabIndex={0}
      style={{ maxHeight: SHOWN * ROW }}
      onScroll={({ currentTarget }) => scroll(currentTarget)}
    >
      <ol style={{ height: calls.length * ROW }}>
        {shown.map(({ key, state, summary, error }, index) => (
          <li key={key} style={{ top: (first + index) * ROW, height: ROW }}>
            <StateChip state={state} />
            <Anchor component={Link} to={callPath(project.id, runId, key)} size="xs">
              {key}
            </Anchor>
            <Text span size="xs" c="dimmed" truncate>
              {error?.message ?? summary}
            </Text>
          </li>
        ))}
      </ol>
    </div>
  );
}
