/** Status, text and whose runs are shown. */
import { Group, Select, Switch } from '@mantine/core';
import { useMay } from '@/app/project';
import { SearchField } from '@/components/SearchField';
import { type FilterState, STATUS_CHOICES } from './run-filter';

export function RunFilters({ filter }: { filter: FilterState }) {
  const seesOthers = useMay('viewer');
  return (
    <Group gap="sm" align="center">
      <SearchField
        label="Search runs"
        placeholder="Search titles"
        text={filter.text}
        onSearch={(q) => filter.set({ q })}
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
      {Object.keys(filter.counted).length === 0 && (
        <Switch
          label="Show changes made by hand"
          checked={filter.byHand}
          onChange={({ currentTarget }) => filter.set({ byHand: currentTarget.checked })}
        />
      )}
    </Group>
  );
}
