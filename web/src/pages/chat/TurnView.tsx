/** One message and everything that came of it. */
import { t } from '@lingui/core/macro';
import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { memo, type ReactNode, useState } from 'react';
import type { Turn } from '@/api/chat-types';
import { inboxQuery } from '@/api/inbox';
import type { Waiting } from '@/api/run-types';
import { isFinal } from '@/api/runs';
import { useProject } from '@/app/project';
import { callKeyOf } from '@/components/waiting/send-window';
import { Answer } from './Answer';
import type { OnStarted } from './ApplyStep';
import { CallCard } from './CallCard';
import classes from './chat.module.css';
import { Deviations } from './Deviations';
import { useFollowing } from './following';
import { OfferedMeanings } from './OfferedMeanings';
import { PersonMessage } from './PersonMessage';
import { PlanCard } from './PlanCard';
import { Progress } from './Progress';
import { NearestReadings, type OnReading, ReadingChips } from './ReadingChips';
import readingClasses from './reading.module.css';
import { Results } from './Results';
import { SuggestionChips } from './SuggestionChips';
import { TurnFooter } from './TurnFooter';
import { OtherWaits, WaitingHere } from './Waits';

export interface TurnActions {
  /** Another turn was begun. */
  onStarted: OnStarted;
  onSay: (message: string) => void;
  onEdit: (turn: Turn) => void;
  /** Sends the same message again. */
  onAgain: (turn: Turn) => void;
  /** The next message follows this turn. */
  onBranch: (turn: Turn) => void;
  /** Answers another reading in the place of this turn. */
  onReading: (turn: Turn, ...changed: Parameters<OnReading>) => void;
  /** Shows the conversation that leads to this turn. */
  onLeaf: (runId: string) => void;
}

interface Props {
  turn: Turn;
  isLast: boolean;
  actions: TurnActions;
  /** A call of it that is to be seen, asked for from elsewhere. */
  shownKey: string | null;
}

export const TurnView = memo(function TurnView({ turn, isLast, actions, shownKey }: Props) {
  const following = useFollowing(turn.run_id);
  const waiting = useWaiting(turn);
  const [source, setSource] = useState<string | null>(null);
  const shownCall = shownKey ?? source;
  const calls = turn.steps.flatMap((step) => step.calls);
  const inPlace = new Set(calls.map(({ key }) => key));
  const elsewhere = waiting.filter(({ key }) => !inPlace.has(callKeyOf(key)));
  const isOver = isFinal(turn.status);
  const work =
    turn.plans.length > 0 ? (
      <PlanCard
        turn={turn}
        waiting={waiting}
        following={following}
        isLast={isLast}
        shownCall={shownCall}
        onStarted={actions.onStarted}
      />
    ) : (
      calls.map((call) => (
        <CallCard
          key={call.key}
          call={call}
          turn={turn}
          waiting={waiting}
          hasKeys={isLast}
          isShown={call.key === shownCall}
        />
      ))
    );
  // Once a question is answered, the answer comes first; work that changed something shows its plan.
  const isAnswered = isOver && turn.reading !== null && turn.status === 'done';
  // Words that were not read mean what the person chooses now; a question that was read is another one afterwards.
  const isRead = turn.reading?.status === 'fact';
  const onReading: OnReading = (line, reading) =>
    actions.onReading(turn, isRead ? line : turn.message, reading);
  return (
    <article className={classes.turn} id={`turn-${turn.run_id}`} aria-label={turn.message}>
      <PersonMessage turn={turn} actions={actions} />
      <div className={classes.reply}>
        <ReadingChips turn={turn} onReading={onReading} />
        {!isAnswered && work}
        <WaitingHere waiting={elsewhere} hasKeys={isLast} />
        <OtherWaits turn={turn} waiting={waiting} />
        <Progress turn={turn} following={following} />
        <Answer
          turn={turn}
          live={isOver ? undefined : following?.text.answer?.text}
          onSource={setSource}
        />
        {isOver && <OfferedMeanings turn={turn} onAgain={actions.onAgain} />}
        {isOver && <NearestReadings turn={turn} onReading={onReading} />}
        <Results turn={turn} />
        {turn.error && <Failed error={turn.error} />}
        <Deviations deviations={turn.deviations} />
        {isAnswered && <HowDone isOpen={shownCall !== null}>{work}</HowDone>}
        {isOver && <TurnFooter turn={turn} isLast={isLast} actions={actions} />}
        {isOver && isLast && (
          <SuggestionChips suggestions={turn.suggestions} onSay={actions.onSay} />
        )}
      </div>
    </article>
  );
});

/** Plan, steps and calls of an answer, folded away. */
function HowDone({ isOpen, children }: { isOpen: boolean; children: ReactNode }) {
  const [wanted, setWanted] = useState(false);
  return (
    <details
      className={readingClasses.how}
      open={wanted || isOpen}
      onToggle={({ currentTarget }) => setWanted(currentTarget.open)}
    >
      <summary>{t`How this was done`}</summary>
      {(wanted || isOpen) && children}
    </details>
  );
}

/** What of the turn waits for the reader; a plan is reviewed on its own card. */
function useWaiting({ run_id, status }: Turn): Waiting[] {
  const project = useProject();
  const { data = [] } = useQuery({ ...inboxQuery(project.id), enabled: !isFinal(status) });
  return isFinal(status)
    ? []
    : data.filter(({ run_id: of, kind }) => of === run_id && kind !== 'plan');
}

function Failed({ error }: { error: { code: string; message: string } }) {
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      title={t`It did not work`}
      icon={<TriangleAlert size={16} aria-hidden />}
    >
      <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
        {error.message}
      </Text>
    </Alert>
  );
}
