/** What boxes can do, apart from their data: stable, so that a change of one box draws no other again. */
import { createContext } from 'react';

export interface Actions {
  toggle: (key: string) => void;
  /** The next node that is added goes into this graph; null where nothing may be changed. */
  addInto: ((path: string) => void) | null;
  /** What a node is, in words: "SQL", "Send to Slack". */
  nameOf: (node: { type: string; fields?: Readonly<Record<string, unknown>> }) => string;
}

export const CanvasActions = createContext<Actions>({
  toggle: () => undefined,
  addInto: null,
  nameOf: ({ type }) => type,
});
