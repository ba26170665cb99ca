/** The library: what people can run here, in folders, with a search. */
import { t } from '@lingui/core/macro';
import { Button, Group, Skeleton, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  BookOpenCheck,
  Download,
  FileDown,
  LayoutTemplate,
  ListChecks,
  PencilLine,
  SearchX,
  Trash2,
} from 'lucide-react';
import { itemsOf } from '@/api/lists';
import { type LibraryFilter, type Playbook, playbooksQuery, type Shelf } from '@/api/playbooks';
import { projectPath, useMay, useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { Filters } from './Filters';
import { Importing } from './Importing';
import { PlaybookCard } from './PlaybookCard';
import { PlaybookDrawer } from './PlaybookDrawer';
import classes from './playbooks.module.css';
import { useOpened } from './use-opened';
import { WriteDialog } from './WriteDialog';

export default function PlaybooksPage() {
  const project = useProject();
  const mayWrite = useMay('editor');
  const { opened, close } = useOpened(project.id);
  const dialog = useDialog('write');
  const [text, setText] = useSearchParam('q');
  const [folder, setFolder] = useSearchParam('folder');
  const [shelf, setShelf] = useShelf();
  const filter = { text: text ?? '', folder, shelf };
  const actions = mayWrite && <Beginnings projectId={project.id} onWrite={dialog.open} />;
  return (
    <>
      <Page
        title={t`Playbooks`}
        description={t`Work that you write down once and share. Each run keeps to its budget and policy, and records every step.`}
        width="full"
        actions={actions}
      >
        <Stack>
          <Filters
            filter={filter}
            onText={(value) => setText(value === '' ? null : value)}
            onFolder={setFolder}
            onShelf={setShelf}
          />
          <Cards filter={filter} mayWrite={mayWrite} />
        </Stack>
        {mayWrite && <WriteDialog opened={dialog.opened} onClose={dialog.close} />}
        {mayWrite && <Importing isEnabled={opened === undefined} />}
      </Page>
      <PlaybookDrawer playbookId={opened} onClose={close} />
    </>
  );
}

/** Earlier addresses said `archived=yes`. */
function useShelf(): [Shelf, (shelf: Shelf) => void] {
  const [show, setShow] = useSearchParam('show');
  const [archived, setArchived] = useSearchParam('archived');
  const mayEdit = useMay('editor');
  const mayLook = useMay('viewer');
  const isArchived = show === 'archived' || (show === null && archived !== null);
  const shelf = isArchived && mayLook ? 'archived' : show === 'deleted' && mayEdit ? show : 'used';
  return [
    shelf,
    (next) => {
      if (archived !== null) setArchived(null);
      setShow(next === 'used' ? null : next);
    },
  ];
}

function Beginnings({ projectId, onWrite }: { projectId: string; onWrite: () => void }) {
  const importing = useDialog('import');
  return (
    <Group gap="xs">
      <Button
        component={Link}
        to={projectPath(projectId, 'flows', 'guide')}
        variant="default"
        leftSection={<ListChecks size={14} aria-hidden />}
      >
        {t`Step by step`}
      </Button>
      <Button
        component={Link}
        to={projectPath(projectId, 'blueprints')}
        variant="default"
        leftSection={<LayoutTemplate size={14} aria-hidden />}
      >
        {t`Start from a blueprint`}
      </Button>
      <Button
        variant="default"
        leftSection={<FileDown size={14} aria-hidden />}
        onClick={importing.open}
      >
        {t`Import`}
      </Button>
      <Button
        component="a"
        href={`/api/v1/projects/${projectId}/playbooks/export`}
        download
        variant="default"
        leftSection={<Download size={14} aria-hidden />}
      >
        {t`Export all`}
      </Button>
      <Button leftSection={<PencilLine size={14} aria-hidden />} onClick={onWrite}>
        {t`Write a playbook`}
      </Button>
    </Group>
  );
}

function Cards({ filter, mayWrite }: { filter: LibraryFilter; mayWrite: boolean }) {
  const project = useProject();
  const query = useInfiniteQuery(playbooksQuery(project.id, filter));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (query.isPending) return <Skeleton height={120} aria-busy />;
  const found = itemsOf(query.data);
  if (found.length === 0) return <Nothing filter={filter} mayWrite={mayWrite} />;
  return (
    <>
      {byFolder(found).map(([folder, playbooks]) => (
        <section key={folder} aria-label={folder === '' ? t`No folder` : folder}>
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
          {t`Show more`}
        </Button>
      )}
    </>
  );
}

function byFolder(playbooks: Playbook[]): [string, Playbook[]][] {
  const groups = Map.groupBy(playbooks, ({ folder }) => folder);
  return [...groups].toSorted(([a], [b]) => a.localeCompare(b));
}

function Nothing({ filter, mayWrite }: { filter: LibraryFilter; mayWrite: boolean }) {
  if (filter.text !== '' || filter.folder !== null) {
    return (
      <EmptyState icon={SearchX} title={t`No playbook fits`}>
        {t`Try another word or folder.`}
      </EmptyState>
    );
  }
  if (filter.shelf === 'deleted') {
    return (
      <EmptyState icon={Trash2} title={t`Nothing was deleted`}>
        {t`A deleted playbook can be restored from here for thirty days.`}
      </EmptyState>
    );
  }
  if (filter.shelf === 'archived') {
    return (
      <EmptyState icon={BookOpenCheck} title={t`Nothing is archived`}>
        {t`An archived playbook does not run. You can restore or delete it.`}
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={BookOpenCheck} picture="cards" title={t`No playbooks yet`}>
      {mayWrite
        ? t`Start from a blueprint that fits your problem, or write your own steps. Use the buttons above.`
        : t`No playbooks are shared with you yet. Ask a project editor to share one.`}
    </EmptyState>
  );
}
