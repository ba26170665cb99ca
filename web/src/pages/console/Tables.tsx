/** The datasets and their columns beside the editor; a click writes the name. */
import { t } from '@lingui/core/macro';
import { Text, Title, UnstyledButton } from '@mantine/core';
import { ChevronRight } from 'lucide-react';
import type { QueryType } from '@/api/chat';
import type { Dataset } from '@/api/data-types';
import { quoted } from './completion';
import classes from './console.module.css';

interface Props {
  kind: QueryType;
  datasets: Dataset[];
  onPick: (text: string) => void;
}

export function Tables({ kind, datasets, onPick }: Props) {
  return (
    <section aria-label={t`Tables`}>
      <Title order={2} size="h5" mb="xs">
        {t`Tables`}
      </Title>
      {datasets.length === 0 && (
        <Text size="sm" c="dimmed">
          {t`There are no datasets yet.`}
        </Text>
      )}
      <div
        className={classes.tables}
        role="group"
        aria-label={t`Datasets and columns`}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
      >
        {datasets.map(({ name, columns }) => (
          <details key={name}>
            <summary>
              <ChevronRight size={12} aria-hidden />
              <span className={classes.tableName}>{name}</span>
              <span>{columns.length}</span>
            </summary>
            <UnstyledButton onClick={() => onPick(quoted(name, kind))}>
              <em>{t`Insert ${name}`}</em>
            </UnstyledButton>
            {columns.map((column) => (
              <UnstyledButton key={column.name} onClick={() => onPick(quoted(column.name, kind))}>
                {column.name} <span>{column.type}</span>
              </UnstyledButton>
            ))}
          </details>
        ))}
      </div>
    </section>
  );
}
