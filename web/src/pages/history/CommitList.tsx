/** What was done to the data, newest first, each with what can be done about it. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Button, Group, Menu, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ellipsis, History } from 'lucide-react';
import { useState } from 'react';
import type { Commit } from '@/api/data-types';
import { commitsQuery } from '@/api/history';
import { itemsOf } from '@/api/lists';
import { usePersonName } from '@/api/members';
import { useMay, useProject } from '@/app/project';
import { MoreButton } from '@/components/DataTable';
import { undoData } from '@/components/data-undo';
import { datasetPath } from '@/components/dataset-path';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { operationName } from '@/components/operation-name';
import { datasetChanges, diffAddress, undoneIn, versionAddress } from './commits';
import classes from './history.module.css';
import { UndoDialog } from './UndoDialog';
import { useRestoreAction } from './use-restore-action';

/** `dataset` narrows it to the commits of one. */
export function CommitList({ dataset }: { dataset?: string }) {
  const project = useProject();
  const mayChange = useMay('editor');
  const query = useInfiniteQuery(commitsQuery(project.id, dataset));
  const [undoing, setUndoing] = useState<Commit | null>(null);
  const restore = useRestoreAction(project.id, dataset);
  const nameOf = usePersonName(project.id);
  const commits = itemsOf(query.data);
  if (query.isPending) return <Loading />;
  if (query.isError && commits.length === 0) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  if (commits.length === 0) {
    return (
      <EmptyState icon={History} picture="list" title={t`Nothing has been done yet`}>
        {t`Loading a file and every change after it will be listed here, and can be undone.`}
      </EmptyState>
    );
  }
  const undone = undoneIn(commits);
  const actionsOf = (commit: Commit, index: number): Actions => {
    const undoing = undone.get(commit.id);
    const isStep = commit.undoes !== null || commit.redoes !== null || commit.parent === null;
    return {
      ...(undoing !== undefined ? { redo: () => void undoData(project.id, undoing) } : {}),
      ...(undoing === undefined && !isStep ? { undo: () => setUndoing(commit) } : {}),
      ...(index === 0 ? {} : { restore: () => restore(commit) }),
    };
  };
  return (
    <>
      <ol className={classes.list} aria-label={t`Commits`}>
        {commits.map((commit, index) => (
          <CommitItem
            key={commit.id}
            commit={commit}
            person={nameOf(commit.author)}
            isUndone={undone.has(commit.id)}
            dataset={dataset}
            actions={mayChange && !commit.expired ? actionsOf(commit, index) : {}}
          />
        ))}
      </ol>
      <MoreButton query={query} />
      <UndoDialog projectId={project.id} commit={undoing} onClose={() => setUndoing(null)} />
    </>
  );
}

interface Actions {
  undo?: () => void;
  /** For what was taken back. */
  redo?: () => void;
  restore?: () => void;
}

interface ItemProps {
  commit: Commit;
  person: string | null;
  isUndone: boolean;
  dataset: string | undefined;
  actions: Actions;
}

function CommitItem({ commit, person, isUndone, dataset, actions }: ItemProps) {
  const project = useProject();
  const changes = datasetChanges(commit, dataset);
  return (
    <li className={classes.item} data-faded={isUndone}>
      <div className={classes.what}>
        <Group gap={8}>
          <Text size="sm" fw={500} className={classes.message}>
            {commit.message}
          </Text>
          <Badge size="xs" variant="default">
            {operationName(commit.operation)}
          </Badge>
          {isUndone && (
            <Badge size="xs" variant="default">
              {t`taken back`}
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {person !== null && `${person} · `}
          <RelativeTime value={commit.created_at} />
          {dataset === undefined &&
            changes.map(({ name }) => (
              <span key={name}>
                {' · '}
                <Link to={datasetPath(project.id, name)} className={classes.dataset}>
                  {name}
                </Link>
              </span>
            ))}
        </Text>
      </div>
      <Group gap={4} wrap="nowrap">
        {actions.undo && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-label={t`Undo: ${commit.message}`}
            onClick={actions.undo}
          >
            {t`Undo`}
          </Button>
        )}
        {actions.redo && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-label={t`Redo: ${commit.message}`}
            onClick={actions.redo}
          >
            {t`Redo`}
          </Button>
        )}
        <Menu position="bottom-end">
          <Menu.Target>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              aria-label={t`More about: ${commit.message}`}
            >
              <Ellipsis size={15} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {changes.flatMap((change) => [
              change.before !== null && change.after !== null && (
                <Menu.Item
                  key={`diff ${change.name}`}
                  component={Link}
                  to={diffAddress(project.id, change.name, change.before, change.after)}
                >
                  <Trans>What changed{dataset === undefined && t` in ${change.name}`}</Trans>
                </Menu.Item>
              ),
              change.after !== null && (
                <Menu.Item
                  key={`look ${change.name}`}
                  component={Link}
                  to={versionAddress(project.id, change.name, change.after)}
                >
                  {dataset === undefined ? t`Look at ${change.name} then` : t`Look at this version`}
                </Menu.Item>
              ),
            ])}
            {actions.restore && (
              <Menu.Item onClick={actions.restore}>
                {dataset === undefined ? t`Restore everything to here` : t`Restore this version`}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Group>
    </li>
  );
}

function Loading() {
  return (
    <Stack gap="md" aria-busy>
      {Array.from({ length: 5 }, (_, row) => (
        <Skeleton key={row} height={28} />
      ))}
    </Stack>
  );
}
