/** Status, text and whose runs are shown. */
import { Group, Select, Switch, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '@/app/project';
import { type FilterState, STATUS_CHOICES } from './run-filter';

const PAUSE = 250;

export function RunFilters({ filter }: { filter: FilterState }) {
  const [text, setText] = useState(filter.text);
  const seesOthers = useMay('viewer');
  const search = useDebouncedCallback((q: string) => filter.set({ q }), PAUSE);
  return (
    <Group gap="sm" align="center">
      <TextInput
        aria-label="Search runs"
        placeholder="Search titles"
        leftSection={<Search size={14} aria-hidden />}
        w="16rem"
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          search(currentTarget.value.trim());
        }}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        data={STATUS_CHOICES}
        value={filter.choice}
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
        w="13rem"
        onChange={(status) => filter.set({ status })}
      />
      {seesOthers && (
        <Switch
          label="Only mine"
          checked={filter.mine}
          onChange={({ currentTarget }) => filter.set({ mine: currentTarget.checked })}
        />
      )}
    </Group>
  );
}
