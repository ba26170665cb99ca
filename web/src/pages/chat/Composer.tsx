/** Where the next message is written. Enter sends it; `@` names a dataset, `/` a recipe. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Loader, Text, Textarea } from '@mantine/core';
import { ArrowUp, Square } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { Turn } from '@/api/chat-types';
import type { Recipe } from '@/api/recipes';
import { controlRun } from '@/api/runs';
import { useMay, useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showFailure } from '@/components/undo';
import { useFileDrop } from '@/pages/datasets/use-file-drop';
import { AttachedFiles } from './AttachedFiles';
import { mentionsIn, queryKind } from './completing';
import classes from './composer.module.css';
import { COMPOSER_ID } from './composer-id';
import { AttachButton, BuildButton, Hints, Options, OriginNote } from './ComposerParts';
import { draftOf, keepDraft } from './drafts';
import type { Origin } from './origin';
import type { OnReading } from './ReadingChips';
import { RecipeDialog } from './RecipeDialog';
import { useAttachments } from './use-attachments';
import { useCompleting } from './use-completing';
import type { Sending } from './use-send';

export interface Written {
  message: string;
  mentions: string[];
  /** Finished uploads. */
  attachments: string[];
}

interface Props {
  threadId: string | null;
  /** The last turn of what is shown. */
  last: Turn | undefined;
  /** What the message changes or follows, if it is not the last turn. */
  origin: Origin | null;
  sending: Sending;
  onOrigin: (origin: Origin | null) => void;
  onSend: (written: Written) => Promise<boolean>;
  /** Answers a question that was clicked together. */
  onReading: OnReading;
  /** A recipe was started. */
  onStarted: (message: string, threadId: string, runId: string) => void;
}

export function Composer(props: Props) {
  const { threadId, last, origin, sending, onOrigin, onSend, onReading, onStarted } = props;
  const project = useProject();
  const mayAttach = useMay('editor');
  const input = useRef<HTMLTextAreaElement>(null);
  const edited = origin?.kind === 'edit' ? origin.turn : null;
  const [text, setText] = useState(() => edited?.message ?? draftOf(project.id, threadId));
  const [recipe, setRecipe] = useState<Recipe | null>(null);
  const attachments = useAttachments(project.id);
  const completing = useCompleting(project.id, text, input);
  const isOver = useFileDrop(attachments.add, mayAttach);
  const isRunning = last?.status === 'running' || last?.status === 'queued';
  const isUploading = attachments.files.some(({ upload }) => upload === null);
  const mayWrite = useMay('operator');
  useEffect(() => {
    if (origin) input.current?.focus();
  }, [origin]);
  if (!mayWrite) return null;

  const write = (next: string) => {
    setText(next);
    if (!edited) keepDraft(project.id, threadId, next);
  };
  const canSend = text.trim() !== '' && !sending.isSending && !isUploading && !isRunning;
  const send = async () => {
    if (!canSend) return;
    const message = text.trim();
    write('');
    const isTaken = await onSend({
      message,
      mentions: mentionsIn(message, completing.names),
      attachments: attachments.files.flatMap(({ upload }) => upload ?? []),
    });
    if (isTaken) attachments.clear();
    else write(message);
  };
  const stop = () => {
    if (last) controlRun(project.id, last.run_id, 'cancel').catch(showFailure);
  };
  const accept = (index: number) => {
    const recipeId = completing.open?.options[index]?.recipe;
    completing.close();
    if (recipeId === undefined) return write(completing.completed(index));
    setRecipe(completing.recipes.find(({ id }) => id === recipeId) ?? null);
    write('');
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    const acts = completing.open
      ? completing.keys(accept)
      : {
          Enter: () => void send(),
          ...(text === '' && last && !isRunning
            ? { ArrowUp: () => onOrigin({ kind: 'edit', turn: last }) }
            : {}),
          ...(origin ? { Escape: () => onOrigin(null) } : {}),
          ...(isRunning && !origin ? { Escape: stop } : {}),
        };
    const act = (acts as Record<string, (() => void) | undefined>)[event.key];
    if (!act || (event.key === 'Enter' && event.shiftKey)) return;
    event.preventDefault();
    act();
  };
  const kind = queryKind(text);
  return (
    <div className={classes.dock}>
      <div className={classes.box} data-over={isOver}>
        <FormError error={sending.error} />
        {sending.unanswered !== null && (
          <Text size="sm" role="alert">
            {sending.unanswered}
          </Text>
        )}
        {origin && <OriginNote origin={origin} onCancel={() => onOrigin(null)} />}
        <AttachedFiles files={attachments.files} onRemove={attachments.remove} />
        <div className={classes.field}>
          <Textarea
            ref={input}
            id={COMPOSER_ID}
            aria-label={t`Message`}
            placeholder={isOver ? t`Drop the files here` : t`Ask about your data`}
            value={text}
            autosize
            minRows={1}
            maxRows={10}
            variant="unstyled"
            spellCheck={kind === null}
            aria-autocomplete="list"
            aria-controls={completing.open ? completing.listId : undefined}
            aria-activedescendant={
              completing.open ? `${completing.listId}-${completing.chosen}` : undefined
            }
            aria-describedby={`${COMPOSER_ID}-hints`}
            classNames={{ root: classes.grow ?? '', input: (kind && classes.code) ?? '' }}
            onChange={({ currentTarget }) => {
              write(currentTarget.value);
              completing.suggest(currentTarget.value, currentTarget.selectionStart);
            }}
            onBlur={completing.close}
            onKeyDown={onKeyDown}
          />
          {completing.open && (
            <Options
              id={completing.listId}
              completion={completing.open}
              chosen={completing.chosen}
              onAccept={accept}
            />
          )}
        </div>
        <div className={classes.bar}>
          {mayAttach && <AttachButton onFiles={attachments.add} />}
          <BuildButton onReading={onReading} />
          <Hints kind={kind} isRunning={isRunning} />
          {isRunning ? (
            <Button
              size="xs"
              color="red"
              variant="light"
              leftSection={<Square size={12} aria-hidden />}
              onClick={stop}
            >
              {t`Stop`}
            </Button>
          ) : (
            <ActionIcon
              size="lg"
              radius="xl"
              aria-label={t`Send`}
              disabled={!canSend}
              onClick={() => void send()}
            >
              {sending.isSending ? (
                <Loader size={14} color="gray" />
              ) : (
                <ArrowUp size={18} aria-hidden />
              )}
            </ActionIcon>
          )}
        </div>
      </div>
      {recipe && (
        <RecipeDialog
          recipe={recipe}
          threadId={threadId}
          onClose={() => setRecipe(null)}
          onStarted={onStarted}
        />
      )}
    </div>
  );
}
