/** Status, text and whose runs are shown. */
import { t } from '@lingui/core/macro';
import { Group, Select, Switch } from '@mantine/core';
import { useMay } from '@/app/project';
import { SearchField } from '@/components/SearchField';
import { type FilterState, STATUS_CHOICES } from './run-filter';

export function RunFilters({ filter }: { filter: FilterState }) {
  const seesOthers = useMay('viewer');
  return (
    <Group gap="sm" align="center">
      <SearchField
        label={t`Search runs`}
        placeholder={t`Search titles`}
        text={filter.text}
        onSearch={(q) => filter.set({ q })}
      />
      <Select
        aria-label={t`Status`}
        placeholder={t`Any status`}
        data={STATUS_CHOICES}
        value={filter.choice}
        clearable
        clearButtonProps={{ 'aria-label': t`Any status` }}
        w="13rem"
        onChange={(status) => filter.set({ status })}
      />
      {seesOthers && (
        <Switch
          label={t`Only mine`}
          checked={filter.mine}
          onChange={({ currentTarget }) => filter.set({ mine: currentTarget.checked })}
        />
      )}
      {Object.keys(filter.counted).length === 0 && (
        <Switch
          label={t`Show changes made by hand`}
          checked={filter.byHand}
          onChange={({ currentTarget }) => filter.set({ byHand: currentTarget.checked })}
        />
      )}
    </Group>
  );
}
