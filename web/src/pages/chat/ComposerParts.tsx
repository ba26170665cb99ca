/** Parts of the place where messages are written: what is offered, attached, and said about keys. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ActionIcon, Kbd, Text, Tooltip } from '@mantine/core';
import { Blocks, Paperclip, X } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import type { Completion } from './completing';
import classes from './composer.module.css';
import { COMPOSER_ID } from './composer-id';
import type { Origin } from './origin';
import type { OnReading } from './ReadingChips';

const QueryBuilder = lazy(() => import('./QueryBuilder'));

interface OptionsProps {
  id: string;
  completion: Completion;
  chosen: number;
  onAccept: (index: number) => void;
}

export function Options({ id, completion, chosen, onAccept }: OptionsProps) {
  const label = completion.kind === 'recipe' ? t`Recipes` : t`Datasets`;
  return (
    <div id={id} role="listbox" aria-label={label} className={classes.options}>
      {completion.options.map((option, index) => (
        <div
          key={option.label}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === chosen}
          // The field keeps the focus: a click must not close the list before it counts.
          onPointerDown={(event) => {
            event.preventDefault();
            onAccept(index);
          }}
        >
          {option.label} <span>{option.detail}</span>
        </div>
      ))}
    </div>
  );
}

/** Opens the query builder. */
export function BuildButton({ onReading }: { onReading: OnReading }) {
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Tooltip label={t`Build a question by clicking`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t`Build a question`}
          onClick={() => setOpened(true)}
        >
          <Blocks size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      {opened && (
        <Suspense>
          <QueryBuilder
            onClose={() => setOpened(false)}
            onAnswer={(message, reading) => {
              setOpened(false);
              onReading(message, reading);
            }}
          />
        </Suspense>
      )}
    </>
  );
}

export function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Tooltip label={t`Attach files`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t`Attach files`}
          onClick={() => input.current?.click()}
        >
          <Paperclip size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t`Files to attach`}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

export function OriginNote({ origin, onCancel }: { origin: Origin; onCancel: () => void }) {
  const words =
    origin.kind === 'edit'
      ? t`Editing: the message before stays as another version`
      : t`Goes on from “${origin.turn.message}”`;
  return (
    <div className={classes.origin}>
      <Text size="xs" truncate>
        {words}
      </Text>
      <ActionIcon
        size="xs"
        variant="subtle"
        color="gray"
        aria-label={t`Never mind`}
        onClick={onCancel}
      >
        <X size={12} aria-hidden />
      </ActionIcon>
    </div>
  );
}

export function Hints({ kind, isRunning }: { kind: string | null; isRunning: boolean }) {
  return (
    <Text size="xs" c="dimmed" className={classes.hints} id={`${COMPOSER_ID}-hints`}>
      {kind === null ? (
        <>
          <span>
            <Trans>
              <Kbd size="xs">@</Kbd> dataset
            </Trans>
          </span>
          <span>
            <Trans>
              <Kbd size="xs">/</Kbd> recipe
            </Trans>
          </span>
          <span>
            <Trans>
              <Kbd size="xs">↑</Kbd> edit the last
            </Trans>
          </span>
          <span>
            <Trans>
              <Kbd size="xs">Shift Enter</Kbd> new line
            </Trans>
          </span>
          {isRunning && (
            <span>
              <Trans>
                <Kbd size="xs">Esc</Kbd> stop
              </Trans>
            </span>
          )}
        </>
      ) : (
        <span className={classes.always}>
          {t`${kind}: runs at once, in the sandbox, without a model`}
        </span>
      )}
    </Text>
  );
}
