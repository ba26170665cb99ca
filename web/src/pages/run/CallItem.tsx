/** One call in the timeline; everything about it when it is open. */
import { t } from '@lingui/core/macro';
import { Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Action, Call } from '@/api/run-types';
import { runQuery } from '@/api/runs';
import { useProject } from '@/app/project';
import { StateChip } from '@/components/Chip';
import { Elapsed } from '@/components/Elapsed';
import { useFormats } from '@/components/format';
import { useSearchParam } from '@/components/use-search-param';
import { CallDetails } from './CallDetails';
import { CanvasLink } from './CanvasLink';
import classes from './run.module.css';
import { UndoAction } from './UndoAction';

/** How it is taken back, for those who look closer. */
const WAYS: Record<string, string> = {
  none: t`This cannot be undone.`,
  version: t`Undoing it puts the data back to how it was before.`,
  inverse: t`To undo it, the tool does the opposite.`,
  compensation: t`Undo sends a correction. The original message cannot be recalled.`,
};

interface Props {
  call: Call;
  runId: string;
  title: string;
  action: Action | undefined;
  /** The only call is open from the start. */
  isOnly: boolean;
}

export function CallItem({ call, runId, title, action, isOnly }: Props) {
  const [wanted] = useSearchParam('call');
  const isWanted = wanted === call.key;
  const [opened, setOpened] = useState(isWanted || (isOnly && call.state !== 'waiting'));
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isWanted) line.current?.scrollIntoView({ block: 'center' });
  }, [isWanted]);
  const formats = useFormats();
  const run = useQuery({ ...runQuery(useProject().id, runId), enabled: false }).data;
  const details = `call-${call.key}`;
  const said = call.error?.message ?? (call.summary || waitedFor(call));
  return (
    <li className={classes.call} ref={line}>
      <div className={classes.row}>
        <UnstyledButton
          className={classes.line}
          aria-expanded={opened}
          aria-controls={opened ? details : undefined}
          onClick={() => setOpened(!opened)}
        >
          <ChevronRight size={14} aria-hidden className={classes.chevron} />
          <StateChip state={call.undone ? 'undone' : call.state} />
          <span className={classes.what}>
            <Text span size="sm" fw={600}>
              {title}{' '}
              {title !== call.key && (
                <Text span size="xs" c="dimmed" fw={400}>
                  {call.key}
                </Text>
              )}
            </Text>
            {said !== '' && (
              <Text span size="xs" c="dimmed">
                {said}
              </Text>
            )}
          </span>
          <Text span size="xs" c="dimmed" className="tabular">
            <time dateTime={call.began_at}>{formats.time(call.began_at)}</time>
          </Text>
          <Text span size="xs" c="dimmed">
            <Elapsed start={call.began_at} end={call.ended_at} />
          </Text>
        </UnstyledButton>
        {action && <UndoAction runId={runId} action={action} title={title} />}
      </div>
      {opened && (
        <div id={details} className={classes.details}>
          <CallDetails call={call} runId={runId} />
          {run && (
            <Text size="sm">
              <CanvasLink run={run} call={call.key} />
            </Text>
          )}
          {action && (
            <Text size="sm" c="dimmed">
              {WAYS[action.way]}
            </Text>
          )}
        </div>
      )}
    </li>
  );
}

/** What a call that is no tool's asked a person. */
function waitedFor({ waits }: Call): string {
  const request = waits.at(-1)?.request;
  return request?.question ?? request?.message ?? '';
}
