/** Two values as the parts that differ: what was there, crossed out, and what is there now. */
import { t } from '@lingui/core/macro';
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { differences } from './value-difference';
import classes from './ValueDifference.module.css';

const MOST = 30;

interface Props {
  /** Says what it is, for screen readers. */
  label: string;
  before: unknown;
  after: unknown;
}

export function ValueDifference({ label, before, after }: Props) {
  const [most, setMost] = useState(MOST);
  const found = differences(before, after, most === MOST ? MOST + 1 : most);
  return (
    <div role="group" aria-label={label}>
      <dl className={classes.parts}>
        {found.slice(0, most).map((part) => (
          <div key={part.path.join('/')}>
            {part.path.length > 0 && <dt>{part.path.map(shownName).join(' › ')}</dt>}
            <dd>
              {part.before !== undefined && <del>{shown(part.before)}</del>}{' '}
              {part.after !== undefined && <ins>{shown(part.after)}</ins>}
            </dd>
          </div>
        ))}
      </dl>
      {found.length > most && (
        <Group gap="xs" mt={4}>
          <Text size="xs" c="dimmed">
            {t`The first ${MOST} changes`}
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            onClick={() => setMost(Number.MAX_SAFE_INTEGER)}
          >
            {t`Show all`}
          </Button>
        </Group>
      )}
    </div>
  );
}

/** Items are counted from 1. */
const shownName = (name: string) => (/^\d+$/.test(name) ? String(Number(name) + 1) : name);

const LONGEST = 400;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
