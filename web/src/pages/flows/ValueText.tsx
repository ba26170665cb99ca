/** A text in which `${` offers the values of earlier steps. */
import { Combobox, Textarea, useCombobox } from '@mantine/core';
import { useState } from 'react';
import { offeredAt } from './offered';
import classes from './flows.module.css';

interface Props {
  label: string;
  description?: string;
  value: string;
  required?: boolean;
  /** Names of values, such as `nodes.load.output`. */
  names: readonly string[];
  /** The whole text is an expression, without `${`. */
  isBare?: boolean;
  isCode?: boolean;
  readOnly: boolean;
  onChange: (value: string) => void;
}

export function ValueText(props: Props) {
  const { label, description, value, required = false, names, isBare = false, readOnly } = props;
  const combobox = useCombobox();
  const [cursor, setCursor] = useState(value.length);
  const offered = offeredAt(value, cursor, names, isBare);
  const follow = (input: HTMLTextAreaElement) => {
    setCursor(input.selectionStart);
    combobox.openDropdown();
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
          label={label}
          description={description}
          withAsterisk={required}
          readOnly={readOnly}
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
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={offered.names.length === 0 || readOnly}>
        <Combobox.Options aria-label={`Values for ${label}`}>
          {offered.names.map((name) => (
            <Combobox.Option key={name} value={name}>
              {name}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
