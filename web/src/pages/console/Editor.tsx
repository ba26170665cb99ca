/** Where a query is written: names complete themselves, Ctrl+Enter runs it. */
import { t } from '@lingui/core/macro';
import { Textarea } from '@mantine/core';
import {
  type KeyboardEvent,
  type Ref,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { QueryType } from '@/api/chat';
import type { Dataset } from '@/api/data-types';
import { complete, type Completion } from './completion';
import classes from './console.module.css';

export interface EditorHandle {
  /** Writes a name at the cursor. */
  insert: (text: string) => void;
}

interface Props {
  ref: Ref<EditorHandle>;
  kind: QueryType;
  value: string;
  onChange: (value: string) => void;
  onRun: () => void;
  datasets: Dataset[];
}

const LABELS: Record<QueryType, string> = {
  sql: t`SQL: one SELECT over the datasets`,
  plan: t`Query plan, as YAML or JSON`,
  python: t`Python: leave result, result_df, result_rows or chart`,
};

export function Editor({ ref, kind, value, onChange, onRun, datasets }: Props) {
  const input = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const [open, setOpen] = useState<Completion | null>(null);
  const [chosen, setChosen] = useState(0);
  /** Where the cursor goes once the new text is there. */
  const cursor = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (cursor.current === null) return;
    input.current?.setSelectionRange(cursor.current, cursor.current);
    cursor.current = null;
  }, [value]);

  useImperativeHandle(ref, () => ({
    insert: (text) => {
      const field = input.current;
      if (!field) return;
      const start = value.slice(0, field.selectionStart);
      const before = `${start}${start === '' || /[\s(,.]$/.test(start) ? '' : ' '}${text}`;
      cursor.current = before.length;
      onChange(before + value.slice(field.selectionEnd));
      field.focus();
    },
  }));

  const suggest = (text: string, at: number) => {
    setOpen(complete(text, at, kind, datasets));
    setChosen(0);
  };
  const accept = (index: number) => {
    const suggestion = open?.suggestions[index];
    const field = input.current;
    if (!open || !suggestion || !field) return;
    const before = value.slice(0, open.from) + suggestion.text;
    cursor.current = before.length;
    onChange(before + value.slice(field.selectionStart));
    setOpen(null);
    field.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      setOpen(null);
      onRun();
      return;
    }
    if (!open) return;
    const last = open.suggestions.length - 1;
    const acts: Record<string, () => void> = {
      ArrowDown: () => setChosen(Math.min(chosen + 1, last)),
      ArrowUp: () => setChosen(Math.max(chosen - 1, 0)),
      Tab: () => accept(chosen),
      Escape: () => setOpen(null),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div className={classes.editor}>
      <Textarea
        ref={input}
        label={LABELS[kind]}
        value={value}
        rows={10}
        resize="vertical"
        spellCheck={false}
        autoComplete="off"
        aria-autocomplete="list"
        aria-controls={open ? listId : undefined}
        aria-activedescendant={open ? `${listId}-${chosen}` : undefined}
        classNames={{ input: classes.code ?? '' }}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.value);
          suggest(currentTarget.value, currentTarget.selectionStart);
        }}
        onBlur={() => setOpen(null)}
        onKeyDown={onKeyDown}
      />
      {open && (
        <div id={listId} role="listbox" aria-label={t`Suggestions`} className={classes.suggestions}>
          {open.suggestions.map(({ label, text, detail }, index) => (
            <div
              key={text}
              id={`${listId}-${index}`}
              role="option"
              aria-selected={index === chosen}
              // The field keeps the focus: a click must not close the list before it counts.
              onPointerDown={(event) => {
                event.preventDefault();
                accept(index);
              }}
            >
              {label} <span>{detail}</span>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
