/** Where the work left its plan, or was kept from doing so. */
import { t } from '@lingui/core/macro';
import { Text } from '@mantine/core';
import { Split } from 'lucide-react';
import type { Deviation } from '@/api/chat-types';
import classes from './chat.module.css';

const KINDS: Record<string, string> = {
  fallback: t`Another tool was used`,
  'outside-plan': t`Kept from leaving the plan`,
  limit: t`A limit of the step was reached`,
  guardrail: t`Stopped by a guardrail`,
  violation: t`No planned tool worked`,
};

export function Deviations({ deviations }: { deviations: Deviation[] }) {
  if (deviations.length === 0) return null;
  return (
    <section className={classes.deviations} aria-label={t`Deviations from the plan`}>
      <Text size="xs" fw={600}>
        <Split size={13} aria-hidden /> {t`Deviations from the plan`}
      </Text>
      <ul>
        {counted(deviations).map(({ kind, tool, why, times }) => (
          <li key={`${kind} ${tool} ${why}`}>
            <b>{KINDS[kind] ?? kind.replaceAll('-', ' ')}</b>
            {tool ? (
              <>
                {' '}
                (<code>{tool}</code>)
              </>
            ) : null}
            : {why}
            {times > 1 && t` (${times} times)`}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A model that tries the same again and again is told of once. */
export function counted(deviations: Deviation[]): (Deviation & { times: number })[] {
  const found = new Map<string, Deviation & { times: number }>();
  for (const each of deviations) {
    const key = JSON.stringify([each.kind, each.tool, each.why]);
    found.set(key, { ...each, times: (found.get(key)?.times ?? 0) + 1 });
  }
  return [...found.values()];
}
