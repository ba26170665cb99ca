/** A titled part of a card. */
import { Text } from '@mantine/core';
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
