/** The conversations of the project: searched, opened, renamed, deleted. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Menu, Skeleton, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Ellipsis, Search, SquarePen } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import type { Thread } from '@/api/chat-types';
import { itemsOf } from '@/api/lists';
import {
  deleteThread,
  restoreThread,
  threadsKey,
  threadsQuery,
  useChangeThread,
} from '@/api/threads';
import { projectPath, useMay } from '@/app/project';
import { MoreButton } from '@/components/DataTable';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { offerUndo, showFailure } from '@/components/undo';
import classes from './threads.module.css';

const TYPING = 250;

interface Props {
  projectId: string;
  current: string | null;
  onNew: () => void;
  /** Called when one was chosen, as to close what the list stands in. */
  onPick?: () => void;
}

export function ThreadList({ projectId, current, onNew, onPick }: Props) {
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), TYPING);
  const query = useInfiniteQuery(threadsQuery(projectId, search));
  const mayAsk = useMay('operator');
  const threads = itemsOf(query.data);
  return (
    <div className={classes.root}>
      {mayAsk && (
        <Button
          variant="default"
          fullWidth
          leftSection={<SquarePen size={14} aria-hidden />}
          title={t`Ctrl+Shift+O`}
          onClick={() => {
            onNew();
            onPick?.();
          }}
        >
          {t`New conversation`}
        </Button>
      )}
      <TextInput
        aria-label={t`Search conversations`}
        placeholder={t`Search`}
        leftSection={<Search size={14} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      {query.isError && !query.data && (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      )}
      {query.isPending && <Skeleton height={16} aria-busy />}
      {query.data && threads.length === 0 && (
        <Text size="sm" c="dimmed" px="xs">
          {search === '' ? t`No conversation yet.` : t`No conversation has these words.`}
        </Text>
      )}
      <ul className={classes.list} aria-label={t`Conversations`}>
        {threads.map((thread) => (
          <ThreadItem
            key={thread.id}
            projectId={projectId}
            thread={thread}
            isCurrent={thread.id === current}
            onPick={onPick}
          />
        ))}
      </ul>
      <MoreButton query={query} />
    </div>
  );
}

interface ItemProps {
  projectId: string;
  thread: Thread;
  isCurrent: boolean;
  onPick: (() => void) | undefined;
}

function ThreadItem({ projectId, thread, isCurrent, onPick }: ItemProps) {
  const [isRenaming, setRenaming] = useState(false);
  const mayChange = useMay('operator');
  const drop = useDelete(projectId, thread, isCurrent);
  const title = thread.title || t`Without a title`;
  if (isRenaming) {
    return (
      <li className={classes.item}>
        <RenameForm projectId={projectId} thread={thread} onDone={() => setRenaming(false)} />
      </li>
    );
  }
  return (
    <li className={classes.item}>
      <Link
        to={projectPath(projectId, 'chat', thread.id)}
        className={classes.link}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={onPick}
      >
        <span className={classes.title}>{title}</span>
        <Text span size="xs" c="dimmed">
          <RelativeTime value={thread.updated_at} />
        </Text>
      </Link>
      {mayChange && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon
              variant="subtle"
              color="gray"
              className={classes.more}
              aria-label={t`More about ${title}`}
            >
              <Ellipsis size={15} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setRenaming(true)}>{t`Rename`}</Menu.Item>
            <Menu.Item onClick={() => void drop()}>{t`Delete`}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </li>
  );
}

/** Deleted at once; the toast brings it back. */
function useDelete(projectId: string, { id, title }: Thread, isCurrent: boolean) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const refresh = () => client.invalidateQueries({ queryKey: threadsKey(projectId) });
  const bringBack = async () => {
    await restoreThread(projectId, id);
    await refresh();
    if (isCurrent) await navigate({ to: projectPath(projectId, 'chat', id) });
  };
  return async () => {
    try {
      await deleteThread(projectId, id);
      if (isCurrent) await navigate({ to: projectPath(projectId, 'chat') });
      await refresh();
      offerUndo({ message: t`“${title}” deleted`, undo: bringBack, undone: t`It is back` });
    } catch (error) {
      showFailure(error);
    }
  };
}

interface RenameProps {
  projectId: string;
  thread: Thread;
  onDone: () => void;
}

function RenameForm({ projectId, thread, onDone }: RenameProps) {
  const change = useChangeThread(projectId);
  const [title, setTitle] = useState(thread.title);
  const submit = (event?: SubmitEvent) => {
    event?.preventDefault();
    const wanted = title.trim();
    if (wanted !== '' && wanted !== thread.title) {
      change.mutate({ threadId: thread.id, title: wanted }, { onError: showFailure });
    }
    onDone();
  };
  return (
    <form onSubmit={submit} className={classes.rename}>
      <TextInput
        aria-label={t`Title of the conversation`}
        value={title}
        maxLength={200}
        data-autofocus
        ref={(input) => input?.focus()}
        onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        onBlur={() => submit()}
        onKeyDown={({ key }) => {
          if (key === 'Escape') onDone();
        }}
      />
    </form>
  );
}
