/** Read-only code or data, monospaced, with a copy button. */
import { t } from '@lingui/core/macro';
import { ActionIcon } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { useCopy } from './use-copy';
import classes from './CodeBlock.module.css';

interface Props {
  /** Says what the code is, for screen readers. */
  label: string;
  code: string;
  maxHeight?: string;
}

export function CodeBlock({ label, code, maxHeight = '24rem' }: Props) {
  const { copied, copy } = useCopy();
  return (
    <div className={classes.root}>
      <pre
        className={classes.code}
        style={{ maxHeight }}
        aria-label={label}
        role="group"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
      >
        <code>{code}</code>
      </pre>
      <ActionIcon
        className={classes.copy}
        variant="default"
        size="sm"
        aria-label={copied ? t`Copied` : t`Copy ${label}`}
        onClick={() => void copy(code)}
      >
        {copied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
      </ActionIcon>
    </div>
  );
}
