/** Messages that were approved and go out in a moment: until then they can be taken back. */
import { useSyncExternalStore } from 'react';

export interface SendWindow {
  projectId: string;
  runId: string;
  /** The key of the call. */
  key: string;
  title: string;
  /** When it goes out, in milliseconds. */
  until: number;
}

/** As long as the server waits before it sends. */
const LENGTH = 5_000;

let windows: readonly SendWindow[] = [];
const listeners = new Set<() => void>();

function set(next: readonly SendWindow[]): void {
  windows = next;
  listeners.forEach((listener) => listener());
}

export function openSendWindow(sent: Omit<SendWindow, 'until'>): void {
  const opened = { ...sent, until: Date.now() + LENGTH };
  set([...windows, opened]);
  setTimeout(() => closeSendWindow(opened), LENGTH);
}

export function closeSendWindow(closed: SendWindow): void {
  set(windows.filter((window) => window !== closed));
}

export function useSendWindows(): readonly SendWindow[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => windows,
  );
}

/** The call that a request for approval belongs to. */
export function callKeyOf(waitKey: string): string {
  return waitKey.replace(/\/approval\/\d+$/, '');
}
