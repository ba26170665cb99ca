/** One entry in a list: its name, what it says, its state, and what one can do with it. */
import { t } from '@lingui/core/macro';
import { Button, Group, Text } from '@mantine/core';
import { Ban, CircleCheck, CircleDashed } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { DefinitionState } from '@/api/definitions';
import { Chip } from '@/components/Chip';
import type { Tone } from '@/components/run-status';
import { useSearchParam } from '@/components/use-search-param';
import classes from './definitions.module.css';
import type { ShownEntry } from './entries';

const LOOKS = {
  proposed: { word: t`To confirm`, icon: CircleDashed, tone: 'wait' },
  confirmed: { word: t`Confirmed`, icon: CircleCheck, tone: 'good' },
  rejected: { word: t`Rejected`, icon: Ban, tone: 'neutral' },
} as const satisfies Record<DefinitionState, { word: string; icon: unknown; tone: Tone }>;

export interface EntryActions {
  mayEdit: boolean;
  onConfirm: (entry: ShownEntry) => void;
  onReject: (entry: ShownEntry) => void;
  onEdit: (entry: ShownEntry) => void;
}

interface Props extends EntryActions {
  entry: ShownEntry;
  /** Whether the data no longer has what it names. */
  isMissing?: boolean;
  children?: ReactNode;
}

export function EntryLine(props: Props) {
  const { entry, isMissing = false, children, mayEdit, onConfirm, onReject, onEdit } = props;
  const { value, state } = entry;
  const [shown] = useSearchParam('entry');
  const isShown = shown === entry.pointer;
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!isShown) return undefined;
    // After the router has gone to the top of the page.
    const frame = requestAnimationFrame(() => line.current?.scrollIntoView({ block: 'center' }));
    return () => cancelAnimationFrame(frame);
  }, [isShown]);
  const why = typeof value.why === 'string' ? value.why : '';
  const by = typeof value.by === 'string' ? value.by : null;
  const button = { variant: 'subtle', color: 'gray', size: 'compact-sm' } as const;
  const title = [by === null ? '' : t`By ${by}.`, why].filter(Boolean).join(' ');
  return (
    <li
      ref={line}
      className={classes.entry}
      data-state={state}
      data-shown={isShown}
      data-testid={`definition ${entry.pointer}`}
    >
      <div className={classes.what}>
        <Text span size="sm" fw={500} className={classes.name}>
          {entry.name}
        </Text>
        {children}
        {(title || isMissing) && (
          <Text size="xs" c="dimmed">
            {isMissing && t`The data does not have this any more. `}
            {title}
          </Text>
        )}
      </div>
      <Chip {...LOOKS[state]} />
      {mayEdit && (
        <Group gap={2} wrap="nowrap" className={classes.actions}>
          {state !== 'confirmed' && (
            <Button
              {...button}
              aria-label={t`Confirm ${entry.name}`}
              onClick={() => onConfirm(entry)}
            >
              {t`Confirm`}
            </Button>
          )}
          {state !== 'rejected' && (
            <Button
              {...button}
              aria-label={t`Reject ${entry.name}`}
              onClick={() => onReject(entry)}
            >
              {t`Reject`}
            </Button>
          )}
          {entry.kind !== 'question' && (
            <Button {...button} aria-label={t`Edit ${entry.name}`} onClick={() => onEdit(entry)}>
              {t`Edit`}
            </Button>
          )}
        </Group>
      )}
    </li>
  );
}
