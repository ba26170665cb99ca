/** What is offered while a message is written, at the place of the cursor. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type RefObject, useId, useLayoutEffect, useRef, useState } from 'react';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { recipesQuery } from '@/api/recipes';
import { type Completion, completionAt } from './completing';

export function useCompleting(
  projectId: string,
  text: string,
  input: RefObject<HTMLTextAreaElement | null>,
) {
  const datasets = itemsOf(useInfiniteQuery(datasetsQuery(projectId)).data);
  const { data: recipes = [] } = useQuery(recipesQuery(projectId));
  const [open, setOpen] = useState<Completion | null>(null);
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  /** Where the cursor goes once the new text is there. */
  const cursor = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (cursor.current === null) return;
    input.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = null;
  }, [text, input]);
  const shown = text === '' ? null : open;
  const last = (shown?.options.length ?? 1) - 1;
  const close = () => setOpen(null);
  const suggest = (typed: string, at: number) => {
    setOpen(completionAt(typed, at, { datasets, recipes }));
    setChosen(0);
  };
  /** The text with an option in place of what was typed. */
  const completed = (index: number): string => {
    const option = shown?.options[index];
    if (!shown || !option) return text;
    const before = text.slice(0, shown.from) + option.text;
    cursor.current = before.length;
    return before + text.slice(input.current?.selectionStart ?? text.length);
  };
  const keys = (accept: (index: number) => void): Record<string, () => void> => ({
    ArrowDown: () => setChosen(Math.min(chosen + 1, last)),
    ArrowUp: () => setChosen(Math.max(chosen - 1, 0)),
    Tab: () => accept(chosen),
    Enter: () => accept(chosen),
    Escape: close,
  });
  const names = datasets.map(({ name }) => name);
  return { open: shown, chosen, listId, recipes, names, close, suggest, completed, keys };
}
