/** What a turn cost, when what happened, and what can be done with it. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Anchor, Text, Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Check, Clock, Copy, GitBranch, Redo2, RotateCw, Undo2 } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import type { Turn } from '@/api/chat-types';
import { projectPath, useMay, useProject } from '@/app/project';
import { StatusChip } from '@/components/Chip';
import { useCopy } from '@/components/use-copy';
import { RepeatButton } from '@/pages/flows/RepeatButton';
import classes from './chat.module.css';
import { costText } from './cost';
import { repeatedWork } from './repeated';
import { Timeline } from './Timeline';
import type { TurnActions } from './TurnView';
import { useRollback } from './use-rollback';

const every = () => true;

interface Props {
  turn: Turn;
  /** Nothing follows it, so going on from here is what happens anyway. */
  isLast: boolean;
  actions: TurnActions;
}

export function TurnFooter({ turn, isLast, actions }: Props) {
  const project = useProject();
  const mayAsk = useMay('operator');
  const { copied, copy } = useCopy();
  const [isTimed, setTimed] = useState(false);
  const { answer } = turn;
  const repeated = useMemo(() => (turn.status === 'done' ? repeatedWork(turn) : null), [turn]);
  return (
    <>
      <div className={classes.footer}>
        {turn.status !== 'done' && <StatusChip status={turn.status} />}
        <Text span size="xs" c="dimmed" className="tabular">
          {costText(turn.cost)}
        </Text>
        {answer !== null && (
          <Act label={copied ? t`Copied` : t`Copy the answer`} onClick={() => void copy(answer)}>
            {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
          </Act>
        )}
        {mayAsk && (
          <Act label={t`Answer again`} onClick={() => actions.onAgain(turn)}>
            <RotateCw size={14} aria-hidden />
          </Act>
        )}
        {mayAsk && !isLast && (
          <Act label={t`Go on from here`} onClick={() => actions.onBranch(turn)}>
            <GitBranch size={14} aria-hidden />
          </Act>
        )}
        {repeated && (
          <RepeatButton
            work={repeated}
            name={turn.message}
            rhythm={turn.rhythm}
            size="compact-xs"
            variant="subtle"
          />
        )}
        <UndoTurn turn={turn} />
        <Act
          label={isTimed ? t`Hide the timeline` : t`Timeline`}
          isExpanded={isTimed}
          onClick={() => setTimed(!isTimed)}
        >
          <Clock size={14} aria-hidden />
        </Act>
        <Anchor component={Link} to={projectPath(project.id, 'runs', turn.run_id)} size="xs">
          {t`Run`}
        </Anchor>
      </div>
      {isTimed && <Timeline turn={turn} />}
    </>
  );
}

interface ActProps {
  label: string;
  isExpanded?: boolean;
  loading?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Act({ label, isExpanded, loading = false, onClick, children }: ActProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={label}
        aria-expanded={isExpanded}
        loading={loading}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** Takes back everything the turn changed, or does it again. */
function UndoTurn({ turn }: { turn: Turn }) {
  const rollback = useRollback(turn, every);
  const changed = turn.steps
    .flatMap(({ calls }) => calls)
    .filter(({ commits }) => commits.length > 0);
  const isUndone = changed.length > 0 && changed.every(({ undone }) => undone);
  if ((!turn.undoable && !isUndone) || !rollback.mayTurn) return null;
  return (
    <>
      {isUndone ? (
        <Act
          label={t`Redo what was changed`}
          loading={rollback.isPending}
          onClick={() => void rollback.redo(turn.message)}
        >
          <Redo2 size={14} aria-hidden />
        </Act>
      ) : (
        <Act
          label={t`Undo what was changed`}
          loading={rollback.isPending}
          onClick={() => void rollback.undo(turn.message)}
        >
          <Undo2 size={14} aria-hidden />
        </Act>
      )}
      {rollback.dialog}
    </>
  );
}
