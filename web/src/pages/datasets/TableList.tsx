/** The tables of a server, one of which is looked at; many can be narrowed down. */
import { plural, t } from '@lingui/core/macro';
import { Radio, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Inspection } from '@/api/uploads';
import { useFormats } from '@/components/format';
import classes from './datasets.module.css';

const WORTH_SEARCHING = 8;

interface Props {
  tables: Inspection['tables'];
  chosen: string;
  disabled: boolean;
  onChoose: (table: string) => void;
}

export function TableList({ tables, chosen, disabled, onChoose }: Props) {
  const formats = useFormats();
  const [wanted, setWanted] = useState('');
  const shown = tables.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <div>
      {tables.length > WORTH_SEARCHING && (
        <TextInput
          aria-label={t`Find a table`}
          placeholder={t`Find a table`}
          mb="xs"
          value={wanted}
          onChange={({ currentTarget: { value } }) => setWanted(value)}
        />
      )}
      <Radio.Group
        label={plural(tables.length, {
          one: `${formats.number(tables.length)} table`,
          other: `${formats.number(tables.length)} tables`,
        })}
        value={chosen}
        onChange={onChoose}
      >
        <div className={classes.tables}>
          {shown.map(({ name, rows, note }) => (
            <Radio
              key={name}
              value={name}
              label={name}
              disabled={disabled}
              description={
                [rows === null ? null : t`${formats.number(rows)} rows`, note]
                  .filter(Boolean)
                  .join(' · ') || undefined
              }
            />
          ))}
          {shown.length === 0 && (
            <Text size="sm" c="dimmed" role="status">
              {t`No table is called so.`}
            </Text>
          )}
        </div>
      </Radio.Group>
    </div>
  );
}
