/** What goes on in a turn just now, in words; and when the connection to it is lost. */
import { t } from '@lingui/core/macro';
import { Loader, Text } from '@mantine/core';
import { WifiOff } from 'lucide-react';
import type { Turn } from '@/api/chat-types';
import { Elapsed } from '@/components/Elapsed';
import classes from './chat.module.css';
import type { Following } from './following';

interface Props {
  turn: Turn;
  following: Following | undefined;
}

export function Progress({ turn, following }: Props) {
  const words = wordsOf(turn, following?.text.answer !== undefined);
  if (words === null) return null;
  return (
    <div className={classes.progress}>
      {following?.connection === 'lost' ? (
        <>
          <WifiOff size={14} aria-hidden />
          <Text size="sm" role="status">
            {t`The connection was lost. Reconnecting; the work goes on meanwhile.`}
          </Text>
        </>
      ) : (
        <>
          <Loader size={14} aria-hidden />
          <Text size="sm" c="dimmed">
            {words} · <Elapsed start={turn.created_at} end={null} />
          </Text>
          {following?.text.trying !== undefined && (
            <Text size="sm" role="status">
              {following.text.trying.text}
            </Text>
          )}
        </>
      )}
    </div>
  );
}

/** Null where nothing goes on: it is over, or it waits for somebody. */
function wordsOf({ status, plans, steps, query_type }: Turn, isAnswering: boolean): string | null {
  if (status === 'queued') return t`Waiting for a worker`;
  if (status !== 'running') return null;
  if (isAnswering) return t`Answering`;
  if (query_type !== null) return t`Running the query`;
  const plan = plans.at(-1);
  if (!plan) return t`Planning`;
  const running = steps.findLast(
    (step) => step.branch === plan.branch && step.status === 'running',
  );
  return running ? running.title : t`Working`;
}
