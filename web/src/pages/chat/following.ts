/** Turns that are under way, followed outside of any page: leaving one and coming back loses nothing. */
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import type { TurnEvent } from '@/api/chat';
import type { Turn } from '@/api/chat-types';
import { reportSignedOut } from '@/api/client';
import { projectKey } from '@/api/keys';
import { EventStream } from '@/api/stream';
import { fetchTurn, threadsKey, type Turns, turnsKey, turnStreamAddress } from '@/api/threads';
import { type LiveText, withoutPart, withToken } from './live-text';
import { type Data, withEvent } from './turn-events';

export interface Following {
  text: LiveText;
  /** `lost` while a connection is looked for again. */
  connection: 'open' | 'lost' | 'ended';
}

/** Events come in bursts; what the server says about the turn is asked for once after each. */
const PAUSE = 250;
/** Words are drawn at most so often. */
const FRAME = 40;
/** Events after which the turn's document says more than the event did. */
const TELLING = new Set([
  'plan',
  'step',
  'tool_call',
  'tool_result',
  'wait',
  'status',
  'deviation',
]);

const followed = new Map<string, Follower>();
let shown: ReadonlyMap<string, Following> = new Map();
const listeners = new Set<() => void>();

function publish(runId: string, state: Following): void {
  shown = new Map(shown).set(runId, state);
  listeners.forEach((listener) => listener());
}

export function useFollowing(runId: string): Following | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown.get(runId),
  );
}

export interface Place {
  client: QueryClient;
  projectId: string;
  threadId: string;
  runId: string;
}

/** Hears the events of one turn, from the request that started it or from a stream of its own. */
export class Follower {
  private state: Following = { text: {}, connection: 'open' };
  private lastEventId: string | null = null;
  private stream: EventStream | null = null;
  private drawing: ReturnType<typeof setTimeout> | undefined;
  private asking: ReturnType<typeof setTimeout> | undefined;
  private readonly place: Place;

  constructor(place: Place) {
    this.place = place;
    followed.set(place.runId, this);
    publish(place.runId, this.state);
  }

  hear({ id, kind, data }: TurnEvent): void {
    if (id !== null && id !== '') this.lastEventId = id;
    if (kind === 'token') {
      const { part, offset, text } = data as { part: string; offset: number; text: string };
      this.write(withToken(this.state.text, part, offset, text));
    } else if (kind === 'restart') {
      this.write(withoutPart(this.state.text, String(data.part)));
    } else {
      this.apply(kind, data);
      if (TELLING.has(kind)) this.refresh();
      if (kind === 'done') this.end();
    }
  }

  /** Looks for the turn again where its connection broke. */
  reconnect(): void {
    if (this.stream !== null || this.state.connection === 'ended') return;
    const { projectId, threadId, runId } = this.place;
    this.stream = new EventStream({
      url: turnStreamAddress(projectId, threadId, runId),
      ...(this.lastEventId === null ? {} : { lastEventId: this.lastEventId }),
      onEvent: ({ id, type, data }) =>
        this.hear({ id: id || null, kind: type, data: JSON.parse(data) as Data }),
      onState: (state) => {
        if (state === 'open') this.show({ connection: 'open' });
        if (state === 'waiting') this.show({ connection: 'lost' });
      },
      onRefused: (status) => {
        if (status === 401) reportSignedOut();
        this.end();
      },
    });
  }

  leave(): void {
    if (this.stream === null) return;
    this.stream.close();
    followed.delete(this.place.runId);
  }

  lose(): void {
    if (this.state.connection === 'ended') return;
    this.show({ connection: 'lost' });
    this.reconnect();
  }

  end(): void {
    clearTimeout(this.drawing);
    clearTimeout(this.asking);
    this.stream?.close();
    followed.delete(this.place.runId);
    this.show({ connection: 'ended' });
    const { client, projectId, threadId } = this.place;
    // Asks for the turn once more; an answer from before its end, still on its way, no longer counts.
    for (const stale of [
      turnsKey(projectId, threadId),
      threadsKey(projectId),
      projectKey(projectId, 'inbox'),
      projectKey(projectId, 'data'),
    ]) {
      void client.invalidateQueries({ queryKey: stale });
    }
  }

  private show(change: Partial<Following>): void {
    this.state = { ...this.state, ...change };
    publish(this.place.runId, this.state);
  }

  private write(text: LiveText): void {
    this.state = { ...this.state, text };
    this.drawing ??= setTimeout(() => {
      this.drawing = undefined;
      publish(this.place.runId, this.state);
    }, FRAME);
  }

  private apply(kind: string, data: Data): void {
    changeTurn(this.place, (turn) => withEvent(turn, kind, data));
  }

  private refresh(): void {
    this.asking ??= setTimeout(() => {
      this.asking = undefined;
      void this.ask();
    }, PAUSE);
  }

  private async ask(): Promise<void> {
    const { client, projectId, threadId, runId } = this.place;
    void client.invalidateQueries({ queryKey: projectKey(projectId, 'inbox') });
    try {
      const told = await fetchTurn(projectId, threadId, runId);
      if (followed.get(runId) === this) changeTurn(this.place, () => told);
    } catch {
      // A server that is away is asked again once its stream is back.
    }
  }
}

/** Changes what is known about a turn, wherever it is shown. */
function changeTurn({ client, projectId, threadId, runId }: Place, change: (turn: Turn) => Turn) {
  client.setQueriesData<Turns>({ queryKey: turnsKey(projectId, threadId) }, (turns) => {
    const isKnown = turns?.pages.some(({ items }) => items.some(({ run_id }) => run_id === runId));
    if (!turns || !isKnown) return turns;
    const pages = turns.pages.map((page) => ({
      ...page,
      items: page.items.map((turn) => (turn.run_id === runId ? change(turn) : turn)),
    }));
    return { ...turns, pages };
  });
}

/** Follows a turn that was found under way; one that is followed already stays so. */
export function follow(place: Place): void {
  if (followed.has(place.runId)) return;
  new Follower(place).reconnect();
}

/** Gives a stream of its own back; a request that started a turn stays, as hanging up may end it. */
export function leave(runId: string): void {
  followed.get(runId)?.leave();
}
