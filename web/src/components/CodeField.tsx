/** A text with a fixed pitch that says, while one writes, what is wrong where. */
import { t } from '@lingui/core/macro';
import { Anchor, Loader, Text, Textarea } from '@mantine/core';
import { useRef } from 'react';
import classes from './CodeField.module.css';

export interface CodeProblem {
  /** Where it is, in words. */
  place: string;
  message: string;
  /** From 1; leads there when known. */
  line?: number;
}

interface Props {
  label: string;
  description?: string;
  value: string;
  onChange: (value: string) => void;
  problems: CodeProblem[];
  /** What is said when nothing is wrong. */
  fine: string;
  isChecking?: boolean;
  readOnly?: boolean;
  minRows?: number;
}

export function CodeField(props: Props) {
  const { label, description, value, onChange, problems, fine, isChecking = false } = props;
  const input = useRef<HTMLTextAreaElement>(null);
  const goTo = (line: number) => {
    const lines = value.split('\n');
    const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    input.current?.focus();
    input.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  };
  return (
    <div>
      <Textarea
        ref={input}
        label={label}
        description={description}
        value={value}
        readOnly={props.readOnly ?? false}
        autosize
        minRows={props.minRows ?? 10}
        maxRows={28}
        spellCheck={false}
        aria-invalid={problems.length > 0}
        classNames={{ input: classes.code ?? '' }}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <div role="status" className={classes.problems}>
        {isChecking && <Loader size={12} role="img" aria-label={t`Checking`} />}
        {problems.length === 0 && value.trim() !== '' && (
          <Text size="xs" c="dimmed">
            {fine}
          </Text>
        )}
        {problems.length > 0 && (
          <ul>
            {problems.map(({ place, message, line }, index) => (
              <li key={index}>
                {line === undefined ? (
                  <code>{place}</code>
                ) : (
                  <Anchor component="button" type="button" size="xs" onClick={() => goTo(line)}>
                    {place}
                  </Anchor>
                )}{' '}
                {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
