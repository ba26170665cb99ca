/** Server-sent events over fetch: reconnects by itself and resumes after the last event it saw. */
import { createParser } from 'eventsource-parser';

export interface StreamEvent {
  id: string;
  type: string;
  data: string;
}

export type StreamState = 'connecting' | 'open' | 'waiting' | 'closed';

export interface StreamOptions {
  url: string;
  onEvent: (event: StreamEvent) => void;
  /** `resumed` is false when events may have been missed: nothing to resume from was known. */
  onOpen?: (resumed: boolean) => void;
  onState?: (state: StreamState) => void;
  /** The server refused for good: nothing more to tell (204), signed out (401), not allowed (403), gone (404). */
  onRefused?: (status: number) => void;
  lastEventId?: string;
}

const FIRST_DELAY = 500;
const LONGEST_DELAY = 30_000;
/** The server sends a heartbeat every 15 s; three missed ones mean a dead connection. */
const SILENCE_LIMIT = 45_000;

/** Keeps a stream open until `close` is called or the server refuses it. */
export class EventStream {
  private readonly options: StreamOptions;
  private lastEventId: string | null;
  private attempt = 0;
  private connection: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ended = false;

  constructor(options: StreamOptions) {
    this.options = options;
    this.lastEventId = options.lastEventId ?? null;
    void this.connect();
  }

  /** Lets go of the connection; `resume` picks up where it stopped. */
  pause(): void {
    clearTimeout(this.timer);
    this.connection?.abort();
    this.connection = null;
  }

  resume(): void {
    if (this.ended || this.connection) return;
    this.attempt = 0;
    clearTimeout(this.timer);
    void this.connect();
  }

  close(): void {
    this.ended = true;
    this.pause();
    this.options.onState?.('closed');
  }

  private async connect(): Promise<void> {
    const connection = new AbortController();
    this.connection = connection;
    this.options.onState?.('connecting');
    try {
      const response = await fetch(this.options.url, {
        headers: this.headers(),
        signal: connection.signal,
        cache: 'no-store',
      });
      if (this.refused(response.status)) return;
      if (response.ok && response.body) await this.read(response.body, connection);
    } catch {
      // A lost connection and an aborted one end alike: below.
    }
    // A later connection has taken over, or this one was let go on purpose.
    if (this.connection !== connection) return;
    clearTimeout(this.timer);
    this.connection = null;
    this.scheduleReconnect();
  }

  private headers(): Record<string, string> {
    const accept = { Accept: 'text/event-stream' };
    return this.lastEventId === null ? accept : { ...accept, 'Last-Event-ID': this.lastEventId };
  }

  private refused(status: number): boolean {
    if (![204, 401, 403, 404].includes(status)) return false;
    this.close();
    this.options.onRefused?.(status);
    return true;
  }

  private async read(body: ReadableStream<Uint8Array>, connection: AbortController): Promise<void> {
    this.options.onState?.('open');
    this.options.onOpen?.(this.lastEventId !== null);
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (id !== undefined) this.lastEventId = id;
        this.options.onEvent({ id: id ?? '', type: event ?? 'message', data });
      },
    });
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (;;) {
      this.watchForSilence(connection);
      const { done, value } = await reader.read();
      if (done) return;
      this.attempt = 0;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  private watchForSilence(connection: AbortController): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => connection.abort(), SILENCE_LIMIT);
  }

  private scheduleReconnect(): void {
    if (this.ended) return;
    this.options.onState?.('waiting');
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.attempt);
    this.attempt += 1;
    // Spread out, so that a restarted server is not met by all pages in the same moment.
    this.timer = setTimeout(() => void this.connect(), delay * (0.5 + Math.random() / 2));
  }
}
