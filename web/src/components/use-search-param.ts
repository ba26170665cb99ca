/** State that lives in the address, so that a dialog or filter can be linked to and survives a reload. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Reads and sets one search parameter; null removes it. Opening is a step back can undo, closing is not. */
export function useSearchParam(name: string): [string | null, (value: string | null) => void] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const raw = search[name];
  const value = typeof raw === 'string' || typeof raw === 'number' ? String(raw) : null;
  const set = useCallback(
    (next: string | null) => {
      void navigate({
        to: '.',
        search: (previous: Record<string, unknown>) => {
          // The router drops what is undefined.
          return { ...previous, [name]: next ?? undefined };
        },
        replace: next === null,
      });
    },
    [name, navigate],
  );
  return [value, set];
}

/** A dialog that is open while the address says `?dialog=<name>`. */
export function useDialog(name: string): { opened: boolean; open: () => void; close: () => void } {
  const [dialog, setDialog] = useSearchParam('dialog');
  const open = useCallback(() => setDialog(name), [name, setDialog]);
  const close = useCallback(() => setDialog(null), [setDialog]);
  return { opened: dialog === name, open, close };
}
