/** When what happened in a turn, call by call. */
import { t } from '@lingui/core/macro';
import { Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Turn } from '@/api/chat-types';
import { callsQuery } from '@/api/runs';
import { useProject } from '@/app/project';
import { StateChip } from '@/components/Chip';
import { Elapsed } from '@/components/Elapsed';
import { ErrorState } from '@/components/ErrorState';
import { useFormats } from '@/components/format';
import classes from './chat.module.css';
import { phaseOf } from './phases';

export function Timeline({ turn }: { turn: Turn }) {
  const project = useProject();
  const formats = useFormats();
  const query = useQuery(callsQuery(project.id, turn.run_id));
  if (query.isError) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Skeleton height={60} aria-busy />;
  const happened = query.data.flatMap((call) => {
    const phase = phaseOf(call.key, call.tool, turn);
    return phase === null ? [] : [{ call, phase }];
  });
  return (
    <ol className={classes.timeline} aria-label={t`Timeline`}>
      <li>
        <time dateTime={turn.created_at}>{formats.time(turn.created_at)}</time>
        <Text size="xs">{t`Asked`}</Text>
      </li>
      {happened.map(({ call, phase }) => (
        <li key={call.key}>
          <time dateTime={call.began_at}>{formats.time(call.began_at)}</time>
          <Text size="xs">
            {phase}
            <Text span size="xs" c="dimmed">
              {' '}
              <Elapsed start={call.began_at} end={call.ended_at ?? turn.ended_at} />
            </Text>
          </Text>
          <StateChip state={call.undone ? 'undone' : call.state} />
        </li>
      ))}
      {turn.ended_at !== null && (
        <li>
          <time dateTime={turn.ended_at}>{formats.time(turn.ended_at)}</time>
          <Text size="xs">{t`Ended`}</Text>
        </li>
      )}
    </ol>
  );
}
