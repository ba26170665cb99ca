/** Keeps the queries of a project fresh from its event stream. */
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { reportSignedOut } from './client';
import { projectKey, sessionKey } from './keys';
import { EventStream, type StreamEvent } from './stream';

/** A hidden tab gives its connection back: a browser allows only six per server over HTTP/1.1. */
const HIDDEN_GRACE = 5_000;
/** The session answer names projects and roles, so these nouns change it. */
const SESSION_NOUNS = new Set(['project', 'member']);

/** The inbox is made of approvals and of what runs wait for; a decision moves its run. */
const ALSO_STALE: Record<string, string[]> = {
  run: ['inbox', 'trigger'],
  approval: ['inbox', 'run'],
};

/** `org.steward.member.changed` speaks of a member. */
export function nounOf(eventType: string): string | null {
  return /^org\.steward\.([a-z_]+)\./.exec(eventType)?.[1] ?? null;
}

/** Marks every query stale that the event speaks of. */
export function applyEvent(client: QueryClient, projectId: string, event: StreamEvent): void {
  const noun = nounOf(event.type);
  if (noun === null) return;
  for (const stale of [noun, 'event', ...(ALSO_STALE[noun] ?? [])]) {
    refresh(client, projectKey(projectId, stale));
  }
  if (SESSION_NOUNS.has(noun)) void client.invalidateQueries({ queryKey: sessionKey });
}

function refresh(client: QueryClient, queryKey: QueryKey): void {
  // A first fetch under way is not started again by invalidating it, and its answer may be older than the event.
  const first = client
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching' })
    .filter((query) => query.state.data === undefined);
  void client.invalidateQueries({ queryKey });
  for (const query of first) {
    const again = () => client.invalidateQueries({ queryKey: query.queryKey, exact: true });
    void query.promise?.then(again, again);
  }
}

function streamAddress(projectId: string): string {
  return `/api/v1/projects/${encodeURIComponent(projectId)}/events/stream`;
}

/** Subscribes to a project while its pages are shown. `onEvent` hears of every event. */
export function useLiveProject(projectId: string, onEvent?: (event: StreamEvent) => void): void {
  const client = useQueryClient();
  useEffect(() => {
    let opened = false;
    const stream = new EventStream({
      url: streamAddress(projectId),
      onEvent: (event) => {
        applyEvent(client, projectId, event);
        onEvent?.(event);
      },
      onOpen: (resumed) => {
        // Unresumed means that events went unseen: few before the first opening, any number later.
        const missed = opened ? ['project', projectId] : projectKey(projectId, 'notification');
        if (!resumed) void client.invalidateQueries({ queryKey: missed });
        opened = true;
      },
      onRefused: (status) => {
        if (status === 401) reportSignedOut();
      },
    });
    const stopWatching = pauseWhileHidden(stream);
    return () => {
      stopWatching();
      stream.close();
    };
  }, [client, projectId, onEvent]);
}

function pauseWhileHidden(stream: EventStream): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => stream.pause(), HIDDEN_GRACE);
    else stream.resume();
  };
  const onOnline = () => {
    if (!document.hidden) stream.resume();
  };
  document.addEventListener('visibilitychange', onVisibility);
  window.addEventListener('online', onOnline);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisibility);
    window.removeEventListener('online', onOnline);
  };
}
