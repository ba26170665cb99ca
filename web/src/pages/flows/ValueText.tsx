/** A text in which `${` offers the values of earlier steps; values can be dropped into it, and mistakes show while typing. */
import { t } from '@lingui/core/macro';
import { Combobox, Textarea, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type DragEvent, use, useRef, useState } from 'react';
import { characters } from '@/flows/expressions/texts';
import type { Checked } from './expression-scope';
import type { KnownValue } from './known-values';
import { offeredAt, withValue } from './offered';
import { DRAGGED_VALUE, ValueTarget } from './value-target';
import classes from './flows.module.css';

/** Long enough for the next key, short enough to be seen while typing. */
const PAUSE = 250;

/** Something to say about a place in the text. */
export interface TextMark {
  message: string;
  /** The line and column, in words. */
  place: string;
  at: number | null;
  isWarning: boolean;
}

interface Props {
  label: string;
  description?: string;
  value: string;
  required?: boolean;
  values: readonly KnownValue[];
  /** The whole text is an expression, without `${`. */
  isBare?: boolean;
  isCode?: boolean;
  /** What is wrong with the text, or what it gives. */
  check?: ((text: string, isBare: boolean) => Checked) | undefined;
  error: string | undefined;
  /** What is wrong with the text as code, or may be. */
  marks?: readonly TextMark[];
  readOnly: boolean;
  onChange: (value: string) => void;
}

const NO_MARKS: readonly TextMark[] = [];

export function ValueText(props: Props) {
  const { label, description, value, required = false, values, isBare = false, readOnly } = props;
  const marks = props.marks ?? NO_MARKS;
  const wrong = marks.filter(({ isWarning }) => !isWarning);
  const doubtful = marks.filter(({ isWarning }) => isWarning);
  const combobox = useCombobox();
  const targetRef = use(ValueTarget);
  const input = useRef<HTMLTextAreaElement>(null);
  const [cursor, setCursor] = useState(value.length);
  const offered = offeredAt(value, cursor, values, isBare);
  const [settled] = useDebouncedValue(value, PAUSE);
  const hasExpression = (isBare && value !== '') || value.includes('${');
  const checked = hasExpression && settled === value ? props.check?.(value, isBare) : null;
  const goTo = (at: number) => {
    input.current?.focus();
    input.current?.setSelectionRange(at, at + 1);
  };
  const follow = (field: HTMLTextAreaElement) => {
    setCursor(field.selectionStart);
    combobox.openDropdown();
  };
  const insert = (name: string) => {
    const field = input.current;
    if (!field || readOnly) return;
    props.onChange(withValue(field.value, field.selectionStart, name, isBare));
    field.focus();
  };
  const drop = (event: DragEvent) => {
    const name = event.dataTransfer.getData(DRAGGED_VALUE);
    if (name === '') return;
    event.preventDefault();
    insert(name);
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(name) => {
        props.onChange(offered.insert(name));
        combobox.closeDropdown();
      }}
    >
      <Combobox.Target>
        <Textarea
          ref={input}
          label={label}
          description={description}
          withAsterisk={required}
          readOnly={readOnly}
          error={
            checked?.reason && !checked.isWarning ? (
              <FoundProblem text={value} found={checked} onGoTo={goTo} />
            ) : wrong.length > 0 ? (
              <MarkList marks={wrong} text={value} onGoTo={goTo} />
            ) : (
              props.error
            )
          }
          autosize
          minRows={1}
          maxRows={16}
          spellCheck={false}
          classNames={props.isCode === true || isBare ? { input: classes.code ?? '' } : {}}
          value={value}
          inputContainer={(children) => (
            <>
              {children}
              {props.marks && (
                <div className={classes.expressionNote} role="status">
                  {doubtful.length > 0 && <MarkList marks={doubtful} text={value} onGoTo={goTo} />}
                </div>
              )}
              {hasExpression && (
                <p className={classes.expressionNote} role="status">
                  {checked?.reason && checked.isWarning ? (
                    <FoundProblem text={value} found={checked} onGoTo={goTo} />
                  ) : (
                    checked?.type && checked.type !== 'any value' && t`Gives ${checked.type}.`
                  )}
                </p>
              )}
            </>
          )}
          onChange={({ currentTarget }) => {
            props.onChange(currentTarget.value);
            follow(currentTarget);
          }}
          onFocus={() => {
            targetRef.current = insert;
          }}
          onBlur={() => combobox.closeDropdown()}
          onDrop={drop}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={offered.values.length === 0 || readOnly}>
        <Combobox.Options aria-label={t`Values for ${label}`}>
          {offered.values.map(({ name, type, sample }) => (
            <Combobox.Option key={name} value={name}>
              {name}
              {type !== '' && (
                <span className={classes.valueType}>
                  {' '}
                  {type}
                  {sample !== '' && ` · ${sample}`}
                </span>
              )}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

interface ProblemProps {
  text: string;
  found: Checked;
  onGoTo: (at: number) => void;
}

/** What is wrong, with the place in the text: marked in an excerpt, and reached by a click. */
function FoundProblem({ text, found: { reason, at, isWarning }, onGoTo }: ProblemProps) {
  const said = isWarning
    ? t`With the values of the last run: ${reason ?? ''}.`
    : `${sentence(reason)}.`;
  if (at === null) return said;
  const character = characters(text.slice(0, at)).length + 1;
  return (
    <>
      {said} <PlaceButton name={t`Character ${character}`} text={text} at={at} onGoTo={onGoTo} />
    </>
  );
}

interface MarkProps {
  marks: readonly TextMark[];
  text: string;
  onGoTo: (at: number) => void;
}

/** Spans: it can be the error of a field, which is a paragraph. */
function MarkList({ marks, text, onGoTo }: MarkProps) {
  return marks.map(({ message, place, at }) => (
    <span key={`${place} ${message}`} className={classes.finding}>
      {message} {at !== null && <PlaceButton name={place} text={text} at={at} onGoTo={onGoTo} />}
    </span>
  ));
}

interface PlaceProps {
  name: string;
  text: string;
  at: number;
  onGoTo: (at: number) => void;
}

function PlaceButton({ name, text, at, onGoTo }: PlaceProps) {
  // The excerpt stays within its line.
  const before =
    text
      .slice(Math.max(0, at - EXCERPT), at)
      .split('\n')
      .at(-1) ?? '';
  const [after = ''] = text.slice(at, at + EXCERPT).split('\n');
  const [first = '', ...rest] = characters(after);
  return (
    <button type="button" className={classes.place} onClick={() => onGoTo(at)}>
      {name}:{' '}
      <code>
        {before.length === EXCERPT && '…'}
        {before}
        <mark className={classes.mark}>{first.trim() === '' ? '␣' : first}</mark>
        {rest.join('')}
      </code>
    </button>
  );
}

const EXCERPT = 16;
const sentence = (text: string | null) =>
  `${(text ?? '').charAt(0).toUpperCase()}${(text ?? '').slice(1)}`;
