/** Small parts of cards. */
import { t } from '@lingui/core/macro';
import { Kbd, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './waiting.module.css';

export function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={classes.fact}>
      <Text size="xs" c="dimmed" fw={500}>
        {title}
      </Text>
      {children}
    </div>
  );
}

/** What few people need in order to decide: one click away. */
export function Details({ children }: { children: ReactNode }) {
  return (
    <details className={classes.details}>
      <summary>{t`All details`}</summary>
      <div className={classes.card}>{children}</div>
    </details>
  );
}

/** The key that does what a button does; small screens have no keys. */
export function KeyHint({ letter }: { letter: string }) {
  return (
    <Kbd size="xs" visibleFrom="sm" aria-hidden>
      {letter}
    </Kbd>
  );
}
