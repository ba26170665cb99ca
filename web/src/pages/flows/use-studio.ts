/** A flow being edited: its text and layout with undo, and the graph of the last text that could be read. */
import { useEffect, useMemo, useReducer, useRef } from 'react';
import { readYaml } from '@/flows/document';
import { type FlowGraph, type Language, readGraph } from '@/flows/graph';
import { type History, moveOnto, record, redo, startHistory, undo } from '@/flows/history';
import { type Drawing, mergeDrawings } from '@/flows/merge';

interface State {
  history: History<Drawing>;
  /** The newest text that is YAML: what is drawn while somebody types. */
  readable: string;
  saved: Drawing;
}

type Action =
  | { type: 'change'; drawing: Partial<Drawing>; about: string | null }
  | { type: 'merged'; drawing: Drawing; theirs: Drawing; language: Language }
  | { type: 'undo' }
  | { type: 'redo' }
  | { type: 'saved'; drawing: Drawing };

function moved(
  history: History<Drawing>,
  action: Exclude<Action, { type: 'saved' | 'merged' }>,
): History<Drawing> {
  if (action.type === 'undo') return undo(history);
  if (action.type === 'redo') return redo(history);
  return record(history, { ...history.now, ...action.drawing }, action.about);
}

function reduce(state: State, action: Action): State {
  if (action.type === 'saved') return { ...state, saved: action.drawing };
  const next =
    action.type === 'merged'
      ? moveOnto(
          state.history,
          action.drawing,
          (before) => mergeDrawings(state.saved, before, action.theirs, action.language).drawing,
        )
      : moved(state.history, action);
  const { text } = next.now;
  const readable = readYaml(text).problem === null ? text : state.readable;
  const saved = action.type === 'merged' ? action.theirs : state.saved;
  return { history: next, readable, saved };
}

export interface Studio extends Drawing {
  document: unknown;
  graph: FlowGraph;
  language: Language;
  /** As it was read or saved last: what changes are counted from. */
  saved: Drawing;
  isChanged: boolean;
  /** As it is drawn when this is called: an answer of the server may come after more changes. */
  current: () => Drawing;
  canUndo: boolean;
  canRedo: boolean;
  /** Changes with the same `about` in a row are undone together. */
  change: (drawing: Partial<Drawing>, about?: string) => void;
  /** The drawing with what somebody else saved; changes are counted from theirs, and Undo keeps theirs. */
  takeIn: (drawing: Drawing, theirs: Drawing) => void;
  undo: () => void;
  redo: () => void;
  markSaved: (drawing: Drawing) => void;
}

/** `draft` is what the reader changed before and did not save: one Undo takes it back. */
export function useStudio(start: Drawing, language: Language, draft: Drawing | null): Studio {
  const [{ history, readable, saved }, dispatch] = useReducer(reduce, start, (drawing) => {
    const state = { history: startHistory(drawing), readable: drawing.text, saved: drawing };
    return draft === null ? state : reduce(state, { type: 'change', drawing: draft, about: null });
  });
  const latest = useRef(history.now);
  useEffect(() => {
    latest.current = history.now;
  }, [history.now]);
  const document = useMemo(() => readYaml(readable).value, [readable]);
  const graph = useMemo(() => readGraph(document, language), [document, language]);
  return {
    ...history.now,
    document,
    graph,
    language,
    saved,
    isChanged: history.now.text !== saved.text || history.now.layout !== saved.layout,
    current: () => latest.current,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    change: (drawing, about) => dispatch({ type: 'change', drawing, about: about ?? null }),
    takeIn: (drawing, theirs) => dispatch({ type: 'merged', drawing, theirs, language }),
    undo: () => dispatch({ type: 'undo' }),
    redo: () => dispatch({ type: 'redo' }),
    markSaved: (drawing) => dispatch({ type: 'saved', drawing }),
  };
}
