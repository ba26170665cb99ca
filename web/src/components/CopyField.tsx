/** A value to take along, such as a link or a token: shown whole, copied with one press. */
import { t } from '@lingui/core/macro';
import { Button, Group, TextInput, VisuallyHidden } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useRef } from 'react';
import { useCopy } from './use-copy';
import classes from './CopyField.module.css';

export function CopyField({ label, value }: { label: string; value: string }) {
  const input = useRef<HTMLInputElement>(null);
  const { copied, copy } = useCopy();
  const onCopy = async () => {
    // Where copying is not allowed, the selected text can be copied by hand.
    if (!(await copy(value))) input.current?.select();
  };
  return (
    <Group align="flex-end" gap="xs" wrap="nowrap">
      <TextInput
        ref={input}
        label={label}
        value={value}
        readOnly
        className={classes.input}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button
        variant="default"
        h="2.125rem"
        leftSection={copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        onClick={() => void onCopy()}
      >
        {copied ? t`Copied` : t`Copy`}
      </Button>
      <VisuallyHidden role="status">{copied ? t`${label} copied` : ''}</VisuallyHidden>
    </Group>
  );
}
