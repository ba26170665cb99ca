/** Sends messages: the turn is shown at once and followed to its end, whatever happens to the connection. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { tell } from '@/api/chat';
import type { Asked } from '@/api/chat-types';
import { useSession } from '@/api/session';
import { pathOf, threadsKey, type Turns, turnsKey, turnsQuery } from '@/api/threads';
import { projectPath } from '@/app/project';
import { COMPOSER_ID } from './composer-id';
import { Follower } from './following';
import { withNewTurn } from './new-turn';

export interface Sending {
  /** Between sending and the first word of the server. */
  isSending: boolean;
  error: unknown;
  /** What the server said where nothing was run. */
  unanswered: string | null;
}

const IDLE: Sending = { isSending: false, error: null, unanswered: null };

export function useSend(projectId: string, turns: Turns | undefined) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { user } = useSession();
  const [state, setState] = useState(IDLE);

  /** Shows a turn that has begun, and the thread that it began. */
  const show = (asked: Asked, threadId: string, runId: string) => {
    const at = new Date().toISOString();
    const items = withNewTurn(pathOf(turns), { asked, runId, threadId, by: user.id, at });
    client.setQueryData<Turns>(turnsQuery(projectId, threadId, null).queryKey, {
      pages: [{ items, next_cursor: turns?.pages.at(-1)?.next_cursor ?? null }],
      pageParams: [null],
    });
    void client.invalidateQueries({ queryKey: turnsKey(projectId, threadId) });
    void client.invalidateQueries({ queryKey: threadsKey(projectId) });
    void (async () => {
      const to = projectPath(projectId, 'chat', threadId);
      await navigate({ to, search: {}, resetScroll: false });
      // Navigation moves the focus to the title; whoever writes goes on writing.
      requestAnimationFrame(() => document.getElementById(COMPOSER_ID)?.focus());
    })();
  };

  /** True once the server has taken the message. */
  const send = (asked: Asked): Promise<boolean> =>
    new Promise((resolve) => {
      setState({ ...IDLE, isSending: true });
      let follower: Follower | null = null;
      const begin = (threadId: string, runId: string) => {
        follower = new Follower({ client, projectId, threadId, runId });
        setState(IDLE);
        show(asked, threadId, runId);
        resolve(true);
      };
      const told = tell(projectId, asked, new AbortController().signal, (event) => {
        const { thread_id: thread, run_id: run, answer } = event.data;
        if (!follower && typeof thread === 'string' && typeof run === 'string') begin(thread, run);
        if (!follower && event.kind === 'result') {
          setState({ ...IDLE, unanswered: String(answer) });
          resolve(false);
        }
        follower?.hear(event);
      });
      told.then(
        // A follower that has heard the end takes no notice.
        () => follower?.lose(),
        (error: unknown) => {
          if (follower) return follower.lose();
          setState({ ...IDLE, error });
          resolve(false);
        },
      );
    });
  return { ...state, send, show };
}
