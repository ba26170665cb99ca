/** One call of a tool: what it is and came to in a line, everything else when it is open, and its approval in place. */
import { t } from '@lingui/core/macro';
import { Alert, Text, UnstyledButton } from '@mantine/core';
import { ChevronRight } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Turn, TurnCall } from '@/api/chat-types';
import type { Waiting } from '@/api/run-types';
import { CallPreviewView, RuleList } from '@/components/CallFacts';
import { StateChip } from '@/components/Chip';
import { JsonTree } from '@/components/JsonTree';
import { codeText } from '@/components/operation-name';
import { RiskChip } from '@/components/RiskChip';
import { ValueView } from '@/components/ValueView';
import { Fact } from '@/components/waiting/Facts';
import { callKeyOf } from '@/components/waiting/send-window';
import { Artifacts } from '@/pages/run/Artifacts';
import classes from './call.module.css';
import { chartIn } from './results';
import { WaitingHere } from './Waits';

interface Props {
  call: TurnCall;
  turn: Turn;
  waiting: Waiting[];
  hasKeys: boolean;
  /** Somebody asked to see it. */
  isShown?: boolean;
}

export function CallCard({ call, turn, waiting, hasKeys, isShown = false }: Props) {
  const [wanted, setWanted] = useState<boolean | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const mine = waiting.filter(({ key }) => callKeyOf(key) === call.key);
  const isOpen = wanted ?? (isShown || call.error !== null);
  const details = `call-${turn.run_id}-${call.key}`;
  useEffect(() => {
    if (isShown) place.current?.scrollIntoView({ block: 'center' });
  }, [isShown]);
  return (
    <div ref={place} className={classes.card} data-shown={isShown}>
      <UnstyledButton
        className={classes.line}
        aria-expanded={isOpen}
        aria-controls={isOpen ? details : undefined}
        onClick={() => setWanted(!isOpen)}
      >
        <ChevronRight size={13} aria-hidden className={classes.chevron} />
        <span className={classes.what}>
          <Text span size="xs" fw={600}>
            {call.title || call.tool}
          </Text>
          <Text span size="xs" c="dimmed">
            {call.error?.message ?? call.summary}
          </Text>
        </span>
        <span className={classes.chips}>
          {call.risk !== '' && <RiskChip risk={call.risk} />}
          <StateChip state={call.undone ? 'undone' : call.state} />
        </span>
      </UnstyledButton>
      {isOpen && (
        <div id={details} className={classes.details}>
          <Details call={call} runId={turn.run_id} />
        </div>
      )}
      {mine.length > 0 && (
        <div className={classes.waiting}>
          <WaitingHere waiting={mine} hasKeys={hasKeys} />
        </div>
      )}
    </div>
  );
}

function Details({ call, runId }: { call: TurnCall; runId: string }) {
  const { error, value, preview, decision, artifacts } = call;
  return (
    <>
      {error && (
        <Alert color="red" variant="light" title={codeText(error.code)}>
          {error.message}
        </Alert>
      )}
      {value !== null && value !== undefined && chartIn(value) === null && (
        <Fact title={t`Result`}>
          <ValueView label={t`Result`} value={value} />
        </Fact>
      )}
      {artifacts.length > 0 && (
        <Fact title={t`Files it made`}>
          <Artifacts runId={runId} artifacts={artifacts} />
        </Fact>
      )}
      {preview && (
        <Fact title={t`What it changes`}>
          <CallPreviewView preview={preview} />
        </Fact>
      )}
      {call.arguments !== null && call.arguments !== undefined && (
        <Fact title={t`Arguments`}>
          <JsonTree label={t`Arguments`} value={call.arguments} />
        </Fact>
      )}
      {decision && (
        <Fact title={t`Why it was allowed or not`}>
          <RuleList rules={decision.rules} />
        </Fact>
      )}
    </>
  );
}
