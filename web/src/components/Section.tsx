/** A titled part of a page. */
import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import classes from './Section.module.css';

interface Props {
  title: string;
  description?: ReactNode;
  actions?: ReactNode;
  /** Puts the content on a bordered surface; tables bring their own. */
  framed?: boolean;
  children: ReactNode;
}

export function Section({ title, description, actions, framed = false, children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={classes.section}>
      <Group
        className={classes.head}
        justify="space-between"
        gap="xs"
        wrap="nowrap"
        align="flex-end"
      >
        <div>
          <Title order={2} id={id}>
            {title}
          </Title>
          {description !== undefined && (
            <Text c="dimmed" size="sm" maw="44rem">
              {description}
            </Text>
          )}
        </div>
        {actions}
      </Group>
      {framed ? <div className={classes.frame}>{children}</div> : children}
    </section>
  );
}
