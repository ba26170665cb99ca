/** A value of a table as text; that none is there looks different from an empty text. */
import { VisuallyHidden } from '@mantine/core';
import classes from './CellText.module.css';

export function CellText({ value }: { value: string | null }) {
  if (value === null) {
    return (
      <span className={classes.missing} title="no value">
        null
      </span>
    );
  }
  if (value === '') {
    return (
      <span className={classes.missing} title="empty text">
        <span aria-hidden>“”</span>
        <VisuallyHidden>empty text</VisuallyHidden>
      </span>
    );
  }
  return (
    <span className={classes.text} title={value}>
      {value}
    </span>
  );
}
