/** Where a value goes that somebody picks from the list: the text that had the focus last. */
import { createContext } from 'react';

export const DRAGGED_VALUE = 'application/x-steward-value';

export interface Target {
  current: ((name: string) => void) | null;
}

export const ValueTarget = createContext<Target>({ current: null });
