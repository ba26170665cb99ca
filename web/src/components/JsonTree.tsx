/** JSON as a tree that opens part by part. */
import { plural, t } from '@lingui/core/macro';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import classes from './JsonTree.module.css';

interface Props {
  /** Says what it is, for screen readers. */
  label: string;
  value: unknown;
  /** Levels that are open from the start. */
  openTo?: number;
}

export function JsonTree({ label, value, openTo = 2 }: Props) {
  return (
    <div className={classes.tree} role="group" aria-label={label}>
      <Value value={value} depth={0} openTo={openTo} />
    </div>
  );
}

const MOST_SHOWN = 200;
/** Longer parts are closed at first. */
const MOST_OPEN = 12;

interface ValueProps {
  name?: string;
  value: unknown;
  depth: number;
  openTo: number;
}

function Value({ name, value, depth, openTo }: ValueProps) {
  const [most, setMost] = useState(MOST_SHOWN);
  if (typeof value !== 'object' || value === null) {
    return (
      <div className={classes.line}>
        {name !== undefined && <span className={classes.name}>{name}: </span>}
        <Plain value={value} />
      </div>
    );
  }
  const isList = Array.isArray(value);
  const entries = Object.entries(value as Record<string, unknown>);
  if (entries.length === 0) {
    return (
      <div className={classes.line}>
        {name !== undefined && <span className={classes.name}>{name}: </span>}
        <span className={classes.size}>{isList ? t`empty list` : t`empty`}</span>
      </div>
    );
  }
  const count = entries.length;
  const size = isList
    ? plural(count, { one: `${count} item`, other: `${count} items` })
    : plural(count, { one: `${count} field`, other: `${count} fields` });
  const parts = entries
    .slice(0, most)
    .map(([key, item]) => (
      <Value key={key} name={key} value={item} depth={depth + 1} openTo={openTo} />
    ));
  const more = entries.length - parts.length;
  const inside = (
    <div className={classes.inside}>
      {parts}
      {more > 0 && (
        <div className={classes.size}>
          {isList
            ? t`${parts.length} of ${entries.length} items`
            : t`${parts.length} of ${entries.length} fields`}{' '}
          <button type="button" onClick={() => setMost(entries.length)}>
            {t`Show all`}
          </button>
        </div>
      )}
    </div>
  );
  if (depth === 0) return <div data-top>{inside}</div>;
  return (
    <details open={depth < openTo && entries.length <= MOST_OPEN}>
      <summary className={classes.summary}>
        <ChevronRight size={12} aria-hidden />
        <span className={classes.name}>{name}</span> <span className={classes.size}>{size}</span>
      </summary>
      {inside}
    </details>
  );
}

function Plain({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className={classes.none}>{t`null`}</span>;
  if (typeof value === 'string') {
    return value === '' ? (
      <span className={classes.none}>{t`empty text`}</span>
    ) : (
      <span className={classes.text}>{value}</span>
    );
  }
  return <span className={classes.number}>{JSON.stringify(value)}</span>;
}
