/** A hash: short to the eye, whole on hover and when copied. */
import { t } from '@lingui/core/macro';
import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import classes from './Hash.module.css';
import { useCopy } from './use-copy';

const SHOWN = 12;

export function Hash({ label, value }: { label: string; value: string }) {
  const { copied, copy } = useCopy();
  return (
    <UnstyledButton
      className={classes.hash}
      title={value}
      aria-label={t`${label} ${value.slice(0, SHOWN)}: copy the whole hash`}
      onClick={() => void copy(value)}
    >
      <code>{value.slice(0, SHOWN)}</code>
      {copied ? <Check size={12} aria-hidden /> : <Copy size={12} aria-hidden />}
      <VisuallyHidden role="status">{copied ? t`Copied` : ''}</VisuallyHidden>
    </UnstyledButton>
  );
}
