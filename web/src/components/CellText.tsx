/** A value of a table as text; that none is there looks different from an empty text. */
import { t } from '@lingui/core/macro';
import { VisuallyHidden } from '@mantine/core';
import { Lock } from 'lucide-react';
import classes from './CellText.module.css';

/** How an encrypted value begins, whatever its key. */
const TOKEN = /^enc1\.[dr]\./;

export function isEncrypted(value: string): boolean {
  return TOKEN.test(value);
}

export function CellText({ value }: { value: string | null }) {
  if (value === null) {
    return (
      <span className={classes.missing} title={t`no value`}>
        {t`null`}
      </span>
    );
  }
  if (value === '') {
    return (
      <span className={classes.missing} title={t`empty text`}>
        <span aria-hidden>“”</span>
        <VisuallyHidden>{t`empty text`}</VisuallyHidden>
      </span>
    );
  }
  if (isEncrypted(value)) {
    return (
      <span
        className={classes.missing}
        title={t`Encrypted: only people who may decrypt see the value`}
      >
        <Lock size={12} aria-hidden /> {t`Encrypted`}
      </span>
    );
  }
  return (
    <span className={classes.text} title={value}>
      {value}
    </span>
  );
}
