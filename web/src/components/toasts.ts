/** Short messages in the corner: shown for a while, kept while pointed at or focused. */
import { useSyncExternalStore } from 'react';

export interface Toast {
  id: string;
  message: string;
  tone: 'neutral' | 'success' | 'failure';
  title?: string;
  action?: { label: string; run: () => void };
  /** A run to open from it. */
  runId?: string;
  /** Milliseconds until it leaves by itself. */
  shownFor: number;
  /** Called when it leaves, for whatever reason. */
  onGone?: () => void;
}

const MOST_SHOWN = 4;

let toasts: readonly Toast[] = [];
let counter = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  listeners.forEach((listener) => listener());
}

/** Shows a toast and returns its id. The oldest makes room when there are too many. */
export function showToast(toast: Omit<Toast, 'id'>): string {
  counter += 1;
  const id = `toast-${counter}`;
  const surplus = toasts.slice(0, Math.max(0, toasts.length + 1 - MOST_SHOWN));
  surplus.forEach((old) => hideToast(old.id));
  set([...toasts, { ...toast, id }]);
  return id;
}

export function hideToast(id: string): void {
  const gone = toasts.find((toast) => toast.id === id);
  if (!gone) return;
  set(toasts.filter((toast) => toast !== gone));
  gone.onGone?.();
}

export function clearToasts(): void {
  toasts.forEach(({ id }) => hideToast(id));
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
}
