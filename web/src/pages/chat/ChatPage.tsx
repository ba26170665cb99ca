/** A conversation about the data: its turns, where the next message is written, and the other conversations. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Drawer, Title, Tooltip } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Images, PanelLeft, SquarePen } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Asked, Exhibit, ThreadSettings, Turn } from '@/api/chat-types';
import { createThread, pathOf, threadQuery, turnsQuery, useChangeThread } from '@/api/threads';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { PAGE_TITLE_ID } from '@/components/Page';
import { showFailure } from '@/components/undo';
import { usePathParam } from '@/components/use-path-param';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { SendBanner } from '@/components/waiting/SendBanner';
import classes from './chat.module.css';
import { Composer, type Written } from './Composer';
import { COMPOSER_ID } from './composer-id';
import { Conversation, type ShownCall } from './Conversation';
import { keepDraft, takeQuestion } from './drafts';
import { Gallery } from './Gallery';
import { type Origin, parentOf } from './origin';
import { ThreadList } from './ThreadList';
import { ThreadMenu } from './ThreadMenu';
import { useSend } from './use-send';

const DEFAULTS: ThreadSettings = { rows: 'all', review: 'changes' };
const NEW = t`New conversation`;

export default function ChatPage() {
  const threadId = usePathParam('threadId') ?? null;
  // Another conversation starts with a page of its own.
  return <OneThread key={threadId} threadId={threadId} />;
}

function OneThread({ threadId }: { threadId: string | null }) {
  const project = useProject();
  const navigate = useNavigate();
  const [drawer, { open, close }] = useDisclosure(false);
  const [leaf, setLeaf] = useSearchParam('leaf');
  const [origin, setOrigin] = useState<Origin | null>(null);
  const [shown, setShown] = useState<ShownCall | null>(null);
  const results = useDialog('results');
  const thread = useThread(project.id, threadId);
  const turns = useInfiniteQuery({
    ...turnsQuery(project.id, threadId ?? '', leaf),
    enabled: threadId !== null,
    placeholderData: (previous) => previous,
  });
  const path = pathOf(turns.data);
  const sending = useSend(project.id, turns.data);
  const title = thread.data?.title ?? NEW;
  useDocumentTitle(title, project.name);
  const startNew = () => {
    void (async () => {
      await navigate({ to: projectPath(project.id, 'chat'), search: {} });
      requestAnimationFrame(() => document.getElementById(COMPOSER_ID)?.focus());
    })();
  };
  useHotkeys([['mod+shift+O', startNew]], []);

  const send = async (written: Written & Pick<Asked, 'reading'>): Promise<boolean> => {
    const wanted = threadId ?? (await thread.begin());
    if (wanted === undefined) return false;
    const parent = origin ? parentOf(origin) : path.at(-1)?.run_id;
    const isTaken = await sending.send({
      ...written,
      thread_id: wanted,
      ...(parent === undefined ? {} : { parent }),
    });
    if (isTaken) setOrigin(null);
    return isTaken;
  };
  useQuestion(project.id, threadId, send);
  /** The same message once more, beside the first answer; or another one from the same place. */
  const sayAgain = ({ message, mentions, attachments, parent, thread_id }: Turn) => {
    const files = attachments.map(({ upload }) => upload);
    void sending.send({ message, mentions, attachments: files, parent, thread_id });
  };

  const showStarted = (message: string, thread: string, run: string) =>
    sending.show({ message, thread_id: thread }, thread, run);
  const showStep = ({ run_id: runId, key }: Exhibit) => {
    setShown(null);
    void (async () => {
      // Another version of the conversation may be shown.
      const isHere = path.some((turn) => turn.run_id === runId);
      await navigate({
        to: '.',
        search: (previous: Record<string, unknown>) => ({
          ...previous,
          dialog: undefined,
          ...(isHere ? {} : { leaf: runId }),
        }),
      });
      requestAnimationFrame(() => setShown({ runId, key }));
    })();
  };

  return (
    <div className={classes.page}>
      <SendBanner />
      <aside aria-label={t`Conversations`} className={classes.side}>
        <ThreadList projectId={project.id} current={threadId} onNew={startNew} />
      </aside>
      <Drawer opened={drawer} onClose={close} title={t`Conversations`} size="20rem">
        <ThreadList projectId={project.id} current={threadId} onNew={startNew} onPick={close} />
      </Drawer>
      {threadId !== null && (
        <Gallery
          threadId={threadId}
          opened={results.opened}
          onClose={results.close}
          onShow={showStep}
        />
      )}
      <div className={classes.talk}>
        <header className={classes.header}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t`Conversations`}
            className={classes.opener}
            onClick={open}
          >
            <PanelLeft size={18} aria-hidden />
          </ActionIcon>
          <Title order={1} id={PAGE_TITLE_ID} tabIndex={-1} className={classes.title}>
            {title}
          </Title>
          <Button
            variant="default"
            leftSection={<SquarePen size={14} aria-hidden />}
            className={classes.opener}
            onClick={startNew}
          >
            {t`New`}
          </Button>
          {threadId !== null && (
            <Tooltip label={t`Results of this conversation`}>
              <ActionIcon
                variant="default"
                size="lg"
                aria-label={t`Results of this conversation`}
                onClick={results.open}
              >
                <Images size={16} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          <ThreadMenu settings={thread.settings} onChange={thread.change} />
        </header>
        {turns.isError && !turns.data ? (
          <ErrorState error={turns.error} retry={() => void turns.refetch()} />
        ) : (
          <Conversation
            path={path}
            earlier={turns.hasNextPage ? () => void turns.fetchNextPage() : undefined}
            shown={shown}
            isLoading={threadId !== null && turns.isPending}
            onSay={(message) => void send({ message, mentions: [], attachments: [] })}
            actions={{
              onEdit: (turn) => setOrigin({ kind: 'edit', turn }),
              onBranch: (turn) => setOrigin({ kind: 'branch', turn }),
              onAgain: sayAgain,
              onLeaf: setLeaf,
              onStarted: showStarted,
              onReading: (turn, message, reading) =>
                void sending.send({
                  ...{ message, reading },
                  ...{ thread_id: turn.thread_id, parent: turn.parent },
                }),
            }}
          />
        )}
        <Composer
          // A message that is edited has a text of its own.
          key={origin?.kind === 'edit' ? origin.turn.run_id : ''}
          threadId={threadId}
          last={path.at(-1)}
          origin={origin}
          sending={sending}
          onOrigin={setOrigin}
          onSend={send}
          onReading={(message, reading) =>
            void send({ message, reading, mentions: [], attachments: [] })
          }
          onStarted={showStarted}
        />
      </div>
    </div>
  );
}

/** The conversation and its settings, also before it has begun. */
/** Sends what was asked on another page, such as Home. */
function useQuestion(
  projectId: string,
  threadId: string | null,
  send: (written: Written) => Promise<boolean>,
) {
  const sendLatest = useRef(send);
  useEffect(() => {
    sendLatest.current = send;
  });
  useEffect(() => {
    const question = threadId === null ? takeQuestion(projectId) : undefined;
    if (question === undefined) return;
    void (async () => {
      const isTaken = await sendLatest.current({
        message: question,
        mentions: [],
        attachments: [],
      });
      // What was not taken is not lost: it stands where the next message is written.
      if (!isTaken) keepDraft(projectId, null, question);
    })();
  }, [projectId, threadId]);
}

function useThread(projectId: string, threadId: string | null) {
  const { data } = useQuery({
    ...threadQuery(projectId, threadId ?? ''),
    enabled: threadId !== null,
  });
  const changeThread = useChangeThread(projectId);
  const [wanted, setWanted] = useState(DEFAULTS);
  const change = (settings: Partial<ThreadSettings>) => {
    if (threadId === null) setWanted({ ...wanted, ...settings });
    else changeThread.mutate({ threadId, settings }, { onError: showFailure });
  };
  /** Settings other than usual must be there before the first message; null leaves it to that. */
  const begin = async (): Promise<string | null | undefined> => {
    if (wanted === DEFAULTS) return null;
    try {
      return (await createThread(projectId, wanted)).id;
    } catch (error) {
      showFailure(error);
      return undefined;
    }
  };
  return { data: data, settings: data?.settings ?? wanted, change, begin };
}

function useDocumentTitle(title: string, projectName: string): void {
  useEffect(() => {
    document.title = `${title} · ${projectName} · Steward`;
  }, [title, projectName]);
}
