/** What a turn waits for, answered in place. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { Hand } from 'lucide-react';
import type { Turn } from '@/api/chat-types';
import type { Waiting } from '@/api/run-types';
import { Countdown } from '@/components/Elapsed';
import { RiskChip } from '@/components/RiskChip';
import { askedIn } from '@/components/waiting/asked';
import { WaitingCard } from '@/components/waiting/WaitingCard';
import classes from './chat.module.css';

interface Props {
  waiting: Waiting[];
  /** Keys act on the first one. */
  hasKeys: boolean;
}

export function WaitingHere({ waiting, hasKeys }: Props) {
  return waiting.map((item, index) => (
    <section key={item.key} className={classes.waiting} aria-label={askedIn(item)}>
      <div className={classes.asked}>
        <Hand size={16} aria-hidden />
        <Text size="sm" fw={600} flex={1}>
          {askedIn(item)}
        </Text>
        {item.approval && <RiskChip risk={item.approval.risk} />}
        {item.expires_at !== null && <Countdown until={item.expires_at} />}
      </div>
      <WaitingCard waiting={item} hasKeys={hasKeys && index === 0} />
    </section>
  ));
}

/** Waits that somebody else has to end. */
export function OtherWaits({ turn, waiting }: { turn: Turn; waiting: Waiting[] }) {
  const mine = new Set(waiting.map(({ key }) => key));
  const others = turn.waits.filter(({ key, kind }) => kind !== 'plan' && !mine.has(key));
  return others.map(({ key, reason }) => (
    <div key={key} className={classes.progress}>
      <Hand size={14} aria-hidden />
      <Text size="sm" c="dimmed">
        {t`Waiting: ${reason}`}
      </Text>
    </div>
  ));
}
