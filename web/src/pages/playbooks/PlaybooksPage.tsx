/** The library: what people can run here, in folders, with a search. */
import { Button, Group, Select, Skeleton, Stack, Switch, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BookOpenCheck, LayoutTemplate, PencilLine, Search, SearchX } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { itemsOf } from '@/api/lists';
import { type LibraryFilter, type Playbook, playbooksQuery } from '@/api/playbooks';
import { projectPath, useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { PlaybookCard } from './PlaybookCard';
import classes from './playbooks.module.css';
import { foldersOf } from './states';
import { WriteDialog } from './WriteDialog';

const PAUSE = 250;
const EVERYTHING: LibraryFilter = { text: '', folder: null, archived: false };

export default function PlaybooksPage() {
  const project = useProject();
  const mayWrite = useMay('editor');
  const dialog = useDialog('write');
  const [text, setText] = useSearchParam('q');
  const [folder, setFolder] = useSearchParam('folder');
  const [archived, setArchived] = useSearchParam('archived');
  const filter = { text: text ?? '', folder, archived: archived !== null };
  const actions = mayWrite && <Beginnings projectId={project.id} onWrite={dialog.open} />;
  return (
    <Page
      title="Playbooks"
      description="Work that is written down once and run by whoever it is shared with: within a budget, under a policy, step by step on record."
      width="full"
      actions={actions}
    >
      <Stack>
        <Filters
          filter={filter}
          onText={(value) => setText(value === '' ? null : value)}
          onFolder={setFolder}
          onArchived={(value) => setArchived(value ? 'yes' : null)}
        />
        <Cards filter={filter} actions={actions} />
      </Stack>
      {mayWrite && <WriteDialog opened={dialog.opened} onClose={dialog.close} />}
    </Page>
  );
}

function Beginnings({ projectId, onWrite }: { projectId: string; onWrite: () => void }) {
  return (
    <Group gap="xs" justify="center">
      <Button
        component={Link}
        to={projectPath(projectId, 'blueprints')}
        variant="default"
        leftSection={<LayoutTemplate size={14} aria-hidden />}
      >
        Start from a blueprint
      </Button>
      <Button leftSection={<PencilLine size={14} aria-hidden />} onClick={onWrite}>
        Write a playbook
      </Button>
    </Group>
  );
}

interface FilterProps {
  filter: LibraryFilter;
  onText: (text: string) => void;
  onFolder: (folder: string | null) => void;
  onArchived: (archived: boolean) => void;
}

function Filters({ filter, onText, onFolder, onArchived }: FilterProps) {
  const project = useProject();
  const [text, setText] = useState(filter.text);
  const search = useDebouncedCallback(onText, PAUSE);
  const all = useInfiniteQuery(
    playbooksQuery(project.id, { ...EVERYTHING, archived: filter.archived }),
  );
  const folders = foldersOf(itemsOf(all.data));
  return (
    <Group gap="sm" align="center">
      <TextInput
        aria-label="Search playbooks"
        placeholder="Search names and goals"
        leftSection={<Search size={14} aria-hidden />}
        w="16rem"
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          search(currentTarget.value.trim());
        }}
      />
      <Select
        aria-label="Folder"
        placeholder="All folders"
        data={filter.folder === null ? folders : [...new Set([...folders, filter.folder])]}
        value={filter.folder}
        clearable
        clearButtonProps={{ 'aria-label': 'All folders' }}
        w="14rem"
        onChange={onFolder}
      />
      {project.role !== 'runner' && (
        <Switch
          label="Archived"
          checked={filter.archived}
          onChange={({ currentTarget }) => onArchived(currentTarget.checked)}
        />
      )}
    </Group>
  );
}

function Cards({ filter, actions }: { filter: LibraryFilter; actions: ReactNode }) {
  const project = useProject();
  const query = useInfiniteQuery(playbooksQuery(project.id, filter));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  const found = itemsOf(query.data);
  if (found.length === 0) return <Nothing filter={filter} actions={actions} />;
  return (
    <>
      {byFolder(found).map(([folder, playbooks]) => (
        <section key={folder} aria-label={folder === '' ? 'No folder' : folder}>
          {folder !== '' && <h2 className={classes.folder}>{folder}</h2>}
          <ul className={classes.cards}>
            {playbooks.map((playbook) => (
              <PlaybookCard key={playbook.id} playbook={playbook} projectId={project.id} />
            ))}
          </ul>
        </section>
      ))}
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  );
}

function byFolder(playbooks: Playbook[]): [string, Playbook[]][] {
  const groups = Map.groupBy(playbooks, ({ folder }) => folder);
  return [...groups].toSorted(([a], [b]) => a.localeCompare(b));
}

function Nothing({ filter, actions }: { filter: LibraryFilter; actions: ReactNode }) {
  if (filter.text !== '' || filter.folder !== null) {
    return (
      <EmptyState icon={SearchX} title="No playbook fits">
        Try another word or folder.
      </EmptyState>
    );
  }
  if (filter.archived) {
    return (
      <EmptyState icon={BookOpenCheck} title="Nothing is archived">
        A playbook that is archived runs no more; it can be brought back or deleted.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={BookOpenCheck} title="No playbooks yet" action={actions}>
      {actions
        ? 'Start from a blueprint that fits your problem, or write your own steps.'
        : 'Nobody has shared a playbook with you yet. Ask whoever writes them.'}
    </EmptyState>
  );
}
