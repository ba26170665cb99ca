/** A text in which `${` offers the values of earlier steps; values can be dropped into it, and mistakes show while typing. */
import { Combobox, Textarea, useCombobox } from '@mantine/core';
import { type DragEvent, use, useRef, useState } from 'react';
import type { KnownValue } from './known-values';
import { offeredAt, withValue } from './offered';
import { DRAGGED_VALUE, ValueTarget } from './value-target';
import classes from './flows.module.css';

interface Props {
  label: string;
  description?: string;
  value: string;
  required?: boolean;
  values: readonly KnownValue[];
  /** The whole text is an expression, without `${`. */
  isBare?: boolean;
  isCode?: boolean;
  error: string | undefined;
  readOnly: boolean;
  onChange: (value: string) => void;
}

export function ValueText(props: Props) {
  const { label, description, value, required = false, values, isBare = false, readOnly } = props;
  const combobox = useCombobox();
  const targetRef = use(ValueTarget);
  const input = useRef<HTMLTextAreaElement>(null);
  const [cursor, setCursor] = useState(value.length);
  const offered = offeredAt(value, cursor, values, isBare);
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
          error={props.error}
          autosize
          minRows={1}
          maxRows={16}
          spellCheck={false}
          classNames={props.isCode === true || isBare ? { input: classes.code ?? '' } : {}}
          value={value}
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
        <Combobox.Options aria-label={`Values for ${label}`}>
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
