/** Keeps a draft as it is changed: the newest wish alone, one request at a time, a moment after the last change. */
export type Keeping =
  | { state: 'none' }
  | { state: 'pending' }
  | { state: 'kept' }
  /** Another window of the same person keeps one that is newer; this one is not kept. */
  | { state: 'elsewhere' }
  | { state: 'failed'; error: unknown };

export interface Shelf<Draft> {
  /** Answers with the new version; `seen` is the one it replaces, 0 if none. */
  keep: (draft: Draft, seen: number) => Promise<number>;
  discard: (seen: number) => Promise<void>;
  /** The version that is there, 0 if none. */
  look: () => Promise<number>;
  /** Whether an error says that another window was faster. */
  isElsewhere: (error: unknown) => boolean;
}

const PAUSE = 600;

export class DraftKeeper<Draft> {
  private readonly shelf: Shelf<Draft>;
  private readonly show: (keeping: Keeping) => void;
  private version: number;
  /** Undefined: nothing to do. Null: no draft any more. */
  private wish: Draft | null | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isSending = false;
  private isElsewhere = false;

  constructor(shelf: Shelf<Draft>, version: number, show: (keeping: Keeping) => void) {
    this.shelf = shelf;
    this.version = version;
    this.show = show;
  }

  /** What is to be kept from now on; null when nothing differs from what is saved. */
  want(draft: Draft | null) {
    if (draft === null && this.version === 0 && !this.isSending && !this.isElsewhere) {
      this.wish = undefined;
      clearTimeout(this.timer);
      this.show({ state: 'none' });
      return;
    }
    if (this.isElsewhere && draft !== null) return;
    this.wish = draft;
    this.show({ state: 'pending' });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), draft === null ? 0 : PAUSE);
  }

  /** Sends what waits, now: before the page is left. */
  async flush() {
    clearTimeout(this.timer);
    if (this.isSending || this.wish === undefined) return;
    const wish = this.wish;
    this.wish = undefined;
    this.isSending = true;
    let told: Keeping;
    try {
      told = await this.send(wish);
    } catch (error) {
      this.isElsewhere = this.shelf.isElsewhere(error);
      told = this.isElsewhere ? { state: 'elsewhere' } : { state: 'failed', error };
    }
    this.isSending = false;
    if (this.isWaiting()) await this.flush();
    else this.show(told);
  }

  private isWaiting() {
    return this.wish !== undefined;
  }

  private async send(wish: Draft | null): Promise<Keeping> {
    if (wish !== null) {
      this.version = await this.shelf.keep(wish, this.version);
      return { state: 'kept' };
    }
    if (this.isElsewhere) {
      // What this window had is saved: it may keep drafts again, unless the other one still has one.
      this.version = 0;
      this.isElsewhere = (await this.shelf.look()) > 0;
      return { state: this.isElsewhere ? 'elsewhere' : 'none' };
    }
    if (this.version > 0) await this.shelf.discard(this.version);
    this.version = 0;
    return { state: 'none' };
  }
}
