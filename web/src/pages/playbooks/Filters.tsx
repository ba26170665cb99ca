/** Narrows the library: words, a folder, and whether what is put away is shown instead. */
import { t } from '@lingui/core/macro';
import { Group, SegmentedControl, Select } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { itemsOf } from '@/api/lists';
import { type LibraryFilter, playbooksQuery, type Shelf } from '@/api/playbooks';
import { useMay, useProject } from '@/app/project';
import { SearchField } from '@/components/SearchField';
import { foldersOf } from './states';

const SHELVES: { value: Shelf; label: string }[] = [
  { value: 'used', label: t`In use` },
  { value: 'archived', label: t`Archived` },
  { value: 'deleted', label: t`Deleted` },
];

interface Props {
  filter: LibraryFilter;
  onText: (text: string) => void;
  onFolder: (folder: string | null) => void;
  onShelf: (shelf: Shelf) => void;
}

export function Filters({ filter, onText, onFolder, onShelf }: Props) {
  const project = useProject();
  const mayLook = useMay('viewer');
  const mayEdit = useMay('editor');
  const all = useInfiniteQuery(playbooksQuery(project.id, { ...filter, text: '', folder: null }));
  const folders = foldersOf(itemsOf(all.data));
  return (
    <Group gap="sm" align="center">
      <SearchField
        label={t`Search playbooks`}
        placeholder={t`Search names and goals`}
        text={filter.text}
        onSearch={onText}
      />
      <Select
        aria-label={t`Folder`}
        placeholder={t`All folders`}
        data={filter.folder === null ? folders : [...new Set([...folders, filter.folder])]}
        value={filter.folder}
        clearable
        clearButtonProps={{ 'aria-label': t`All folders` }}
        w="14rem"
        onChange={onFolder}
      />
      {mayLook && (
        <SegmentedControl
          aria-label={t`Which playbooks`}
          data={SHELVES.filter(({ value }) => value !== 'deleted' || mayEdit)}
          value={filter.shelf}
          onChange={onShelf}
        />
      )}
    </Group>
  );
}
