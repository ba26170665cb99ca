/** The frame of a page for visitors: one card in the middle of the screen. */
import { Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import classes from './VisitorPage.module.css';

export function VisitorPage({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = title.includes('Steward') ? title : `${title} · Steward`;
  }, [title]);
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <img src="/icon.svg" alt="" width={36} height={36} />
        <Title order={1} mt="md" mb="lg">
          {title}
        </Title>
        {children}
      </div>
    </main>
  );
}
