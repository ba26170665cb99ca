/** The tables of a server, one of which is looked at; many can be narrowed down. */
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
          aria-label="Find a table"
          placeholder="Find a table"
          mb="xs"
          value={wanted}
          onChange={({ currentTarget: { value } }) => setWanted(value)}
        />
      )}
      <Radio.Group
        label={`${formats.number(tables.length)} ${tables.length === 1 ? 'table' : 'tables'}`}
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
                [rows === null ? null : `${formats.number(rows)} rows`, note]
                  .filter(Boolean)
                  .join(' · ') || undefined
              }
            />
          ))}
          {shown.length === 0 && (
            <Text size="sm" c="dimmed" role="status">
              No table is called so.
            </Text>
          )}
        </div>
      </Radio.Group>
    </div>
  );
}
