/** The overview of a project as it changes: numbered patches over a web socket, or asked for where there is none. */
import { useEffect, useState } from 'react';
import { api, bodyOf } from './client';
import type { components } from './schema';

type Patch = components['schemas']['PatchOut'];
type Operation = components['schemas']['PatchOperationOut'];

interface Sums {
  runs: number;
  failed: number;
  cancelled: number;
  nano_usd: number;
  tokens: number;
  calls: number;
  milliseconds: number;
}

/** The document that patches change; amounts of money are billionths of a dollar. */
export interface MetricsDocument {
  first_hour: number;
  hours: number;
  live: Record<string, number>;
  now: Sums;
  before: Sums;
  live_nano_usd: number;
  today_nano_usd: number;
  approvals: { waiting: number; oldest_at: string | null };
  queue: { oldest_at: string | null; workers: number };
  titles: Record<string, string | null>;
  heat: Record<string, Record<string, { tokens: number; runs: number; errors: number }>>;
  ranked: Record<
    string,
    Record<
      string,
      { count: number; errors: number; nano_usd: number; tokens: number; milliseconds: number }
    >
  >;
  failing: Record<string, { failed: number; runs: number; last_run_id: string }>;
  triggers: Record<string, { name: string; playbook: string; since: string; why: string } | null>;
  is_complete: boolean;
}

/** `pushed` while a socket is open, `polled` while there is none. */
export type MetricsState = 'connecting' | 'pushed' | 'polled';

export interface Metrics {
  document: MetricsDocument | null;
  state: MetricsState;
  error: unknown;
}

const POLLED_EVERY = 5_000;
const FIRST_DELAY = 5_000;
const LONGEST_DELAY = 60_000;

type Json = Record<string, unknown>;

/** A document with operations of RFC 6902 applied; what did not change is the same object as before. */
export function patched(document: unknown, operations: Operation[]): unknown {
  let found = document;
  for (const { path, value } of operations) {
    found = path === '' ? value : withMember(found as Json, names(path), value);
  }
  return found;
}

function names(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function withMember(inside: Json, [name = '', ...below]: string[], value: unknown): Json {
  const next = below.length === 0 ? value : withMember((inside[name] ?? {}) as Json, below, value);
  return { ...inside, [name]: next };
}

/** Follows the figures of one project until it is closed. */
export class MetricsFeed {
  private document: unknown = null;
  private number: number | null = null;
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private attempt = 0;
  private ended = false;
  private readonly projectId: string;
  private readonly hours: number;
  private readonly onChange: (metrics: Metrics) => void;

  constructor(projectId: string, hours: number, onChange: (metrics: Metrics) => void) {
    this.projectId = projectId;
    this.hours = hours;
    this.onChange = onChange;
    this.open();
  }

  close(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }

  private open(): void {
    const socket = new WebSocket(this.address());
    this.socket = socket;
    socket.onmessage = ({ data }: MessageEvent<string>) => {
      if (this.socket !== socket || this.ended) return;
      this.attempt = 0;
      this.take(JSON.parse(data) as Patch, 'pushed');
    };
    // A socket that is refused, or was too slow, closes: figures are asked for until the next one opens.
    socket.onclose = () => {
      if (this.socket !== socket || this.ended) return;
      this.socket = null;
      const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.attempt);
      this.attempt += 1;
      void this.poll(Date.now() + delay * (0.5 + Math.random() / 2));
    };
  }

  private address(): string {
    const { protocol, host } = globalThis.location;
    const query = new URLSearchParams({ hours: String(this.hours) });
    if (this.number !== null) query.set('since', String(this.number));
    const scheme = protocol === 'https:' ? 'wss:' : 'ws:';
    return `${scheme}//${host}/api/v1/projects/${encodeURIComponent(this.projectId)}/metrics/stream?${query}`;
  }

  private async poll(until: number): Promise<void> {
    try {
      const patch = await bodyOf(
        api.GET('/api/v1/projects/{project_id}/metrics', {
          params: {
            path: { project_id: this.projectId },
            query: { hours: this.hours, ...(this.number === null ? {} : { since: this.number }) },
          },
        }),
      );
      if (!this.isEnded()) this.take(patch, 'polled');
    } catch (error) {
      if (!this.isEnded()) this.tell('polled', error);
    }
    if (this.isEnded()) return;
    this.timer = setTimeout(() => {
      if (Date.now() >= until) this.open();
      else void this.poll(until);
    }, POLLED_EVERY);
  }

  private isEnded(): boolean {
    return this.ended;
  }

  private take({ number, patch }: Patch, state: MetricsState): void {
    this.document = patched(this.document, patch);
    this.number = number;
    this.tell(state, null);
  }

  private tell(state: MetricsState, error: unknown): void {
    this.onChange({ document: this.document as MetricsDocument | null, state, error });
  }
}

/** The figures of a project while a page shows them; those of another period stay until the new ones are there. */
export function useMetrics(projectId: string, hours: number): Metrics {
  const [metrics, setMetrics] = useState<Metrics>({
    document: null,
    state: 'connecting',
    error: null,
  });
  useEffect(() => {
    let feed: MetricsFeed | null = null;
    const follow = () => {
      feed?.close();
      feed = document.hidden ? null : new MetricsFeed(projectId, hours, setMetrics);
    };
    // A hidden tab gives its place back.
    document.addEventListener('visibilitychange', follow);
    follow();
    return () => {
      document.removeEventListener('visibilitychange', follow);
      feed?.close();
    };
  }, [projectId, hours]);
  return metrics;
}
