/** What was asked before in this thread; a click brings question and result back. */
import { t } from '@lingui/core/macro';
import { Button, Group, Text, Title, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type Message, messagesQuery } from '@/api/chat';
import { itemsOf } from '@/api/lists';
import { MoreButton } from '@/components/DataTable';
import { ErrorState } from '@/components/ErrorState';
import { RelativeTime } from '@/components/Moment';
import { stateLook } from '@/components/run-status';
import classes from './console.module.css';

interface Props {
  projectId: string;
  threadId: string | null;
  onPick: (message: Message) => void;
  onNew: () => void;
}

export function History({ projectId, threadId, onPick, onNew }: Props) {
  return (
    <section aria-label={t`History`}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {t`History`}
        </Title>
        {threadId !== null && (
          <Button size="compact-xs" variant="subtle" onClick={onNew}>
            {t`New thread`}
          </Button>
        )}
      </Group>
      {threadId === null ? (
        <Text size="sm" c="dimmed">
          {t`Nothing was asked yet.`}
        </Text>
      ) : (
        <Messages projectId={projectId} threadId={threadId} onPick={onPick} />
      )}
    </section>
  );
}

interface MessagesProps {
  projectId: string;
  threadId: string;
  onPick: (message: Message) => void;
}

function Messages({ projectId, threadId, onPick }: MessagesProps) {
  const query = useInfiniteQuery(messagesQuery(projectId, threadId));
  if (query.isError && !query.data) {
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  }
  return (
    <>
      <ul className={classes.history}>
        {itemsOf(query.data).map((message) => (
          <li key={message.run_id}>
            <UnstyledButton onClick={() => onPick(message)}>
              <code>{message.question}</code>
              <Text size="xs" c="dimmed" span>
                {stateLook(message.status).word} · <RelativeTime value={message.created_at} />
              </Text>
            </UnstyledButton>
          </li>
        ))}
      </ul>
      <MoreButton query={query} />
    </>
  );
}
