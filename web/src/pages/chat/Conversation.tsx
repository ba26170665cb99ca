/** The turns of a conversation, newest at the bottom; of a long one only the end is drawn at first. */
import { t } from '@lingui/core/macro';
import { Button, Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { ArrowDown, Info } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Turn } from '@/api/chat-types';
import { isFinal } from '@/api/runs';
import { useProject } from '@/app/project';
import classes from './chat.module.css';
import { follow, leave } from './following';
import { Markdown } from './Markdown';
import { Opening } from './Opening';
import { spokenOf } from './spoken';
import { type TurnActions, TurnView } from './TurnView';
import { useBottom } from './use-bottom';
import { useHasNoModel } from './WithoutModel';

const SHOWN_AT_FIRST = 20;
const MORE = 20;

interface Props {
  path: Turn[];
  /** Fetches turns before the first one known, as long as there are some. */
  earlier: (() => void) | undefined;
  isLoading: boolean;
  /** Sends a message in the name of the reader. */
  onSay: (message: string) => void;
  actions: Omit<TurnActions, 'onSay'>;
  /** The call that is to be seen. */
  shown: ShownCall | null;
}

export interface ShownCall {
  runId: string;
  key: string;
}

export function Conversation({ path, earlier, isLoading, onSay, actions, shown }: Props) {
  const [wanted, setCount] = useState(SHOWN_AT_FIRST);
  const place = path.findIndex(({ run_id: runId }) => runId === shown?.runId);
  const count = place < 0 ? wanted : Math.max(wanted, path.length - place);
  const { content, isAway, toBottom } = useBottom(path.at(-1)?.run_id);
  const hidden = Math.max(0, path.length - count);
  useFollowed(path);
  const showMore = () => {
    setCount(count + MORE);
    if (hidden <= MORE) earlier?.();
  };
  if (isLoading) {
    return (
      <Stack className={classes.turns} aria-busy>
        <Skeleton height={40} width="40%" ml="auto" />
        <Skeleton height={90} />
      </Stack>
    );
  }
  if (path.length === 0) return <Opening onSay={onSay} />;
  return (
    <>
      <div ref={content} className={classes.turns}>
        {(hidden > 0 || earlier) && (
          <Button variant="subtle" color="gray" className={classes.earlier} onClick={showMore}>
            {t`Show earlier messages`}
          </Button>
        )}
        {path.slice(hidden).map((turn, index, drawn) => (
          <TurnView
            key={turn.run_id}
            turn={turn}
            isLast={index === drawn.length - 1}
            shownKey={turn.run_id === shown?.runId ? shown.key : null}
            actions={{ ...actions, onSay }}
          />
        ))}
      </div>
      <ByRules turn={path.at(-1)} />
      <Spoken turn={path.at(-1)} />
      {isAway && (
        <div className={classes.latest}>
          <Button
            size="compact-sm"
            variant="default"
            radius="xl"
            leftSection={<ArrowDown size={13} aria-hidden />}
            onClick={toBottom}
          >
            {t`Latest`}
          </Button>
        </div>
      )}
    </>
  );
}

const NO_MODEL = t`No language model is set up.`;
const BY_RULES: ReadonlySet<string> = new Set(['rules', 'fallback']);

/** What works by rules alone, how to add a model as long as there is none, and why rules planned in a model's place. */
function ByRules({ turn }: { turn: Turn | undefined }) {
  const isWithout = useHasNoModel();
  const plan = turn?.plans.at(-1);
  const said = plan && BY_RULES.has(plan.made_by) ? plan.said : '';
  // Once there is a model, only what was said about this message still holds.
  const text = isWithout ? said : (said.split(NO_MODEL)[0] ?? '');
  if (text.trim() === '') return null;
  return (
    <div
      className={classes.note}
      role="note"
      aria-label={plan?.made_by === 'fallback' ? t`The model did not plan` : t`Without a model`}
    >
      <Info size={14} aria-hidden />
      <Markdown text={text} />
    </div>
  );
}

/** Streams of what is under way, as long as it is looked at. */
function useFollowed(path: Turn[]): void {
  const client = useQueryClient();
  const project = useProject();
  const open = path.filter(({ status }) => !isFinal(status));
  const wanted = open.map(({ thread_id, run_id }) => `${thread_id}/${run_id}`).join(' ');
  useEffect(() => {
    const places = wanted.split(' ').filter(Boolean);
    for (const place of places) {
      const [threadId = '', runId = ''] = place.split('/');
      follow({ client, projectId: project.id, threadId, runId });
    }
    return () => {
      for (const place of places) leave(place.split('/')[1] ?? '');
    };
  }, [client, project.id, wanted]);
}

/** Says aloud how the newest turn stands, and its answer once it is whole: not word by word. */
function Spoken({ turn }: { turn: Turn | undefined }) {
  // What was there when the page opened is read, not announced.
  const [first] = useState(() => spokenOf(turn));
  const text = spokenOf(turn);
  return <VisuallyHidden role="status">{text === first ? '' : text}</VisuallyHidden>;
}
