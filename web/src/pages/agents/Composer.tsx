/** Composes an agent: what is wrong is said while one writes, and saving makes a new version. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  agentCheckQuery,
  type AgentDetail,
  type AgentDocument,
  type AgentProblem,
  useRestoreAgent,
  useSaveAgent,
} from '@/api/agents';
import { useMay, useProject } from '@/app/project';
import { CodeBlock } from '@/components/CodeBlock';
import { FormError } from '@/components/FormError';
import { Section } from '@/components/Section';
import { offerUndo, whenDone } from '@/components/undo';
import { FIELDS } from './fields';
import { About, Bounds, HandingOver, Schemas } from './ComposerParts';
import { Guardrails } from './Guardrails';
import { Remembering } from './Remembering';
import { Tools } from './Tools';
import classes from './agents.module.css';

export interface PartProps {
  draft: AgentDocument;
  readOnly: boolean;
  /** Takes some fields over; undefined leaves one to its default. */
  set: (changes: Partial<AgentDocument>) => void;
  problemAt: (pointer: string) => string | undefined;
}

export function Composer({ agent }: { agent: AgentDetail }) {
  // Texts of schemas live in their fields: discarding changes starts all of them again.
  const [round, setRound] = useState(0);
  return <Draft key={round} agent={agent} onDiscard={() => setRound(round + 1)} />;
}

function Draft({ agent, onDiscard }: { agent: AgentDetail; onDiscard: () => void }) {
  const mayEdit = useMay('editor') && agent.origin === 'project' && !agent.archived;
  const saved = agent.document as unknown as AgentDocument;
  const [draft, setDraft] = useState(saved);
  // Text that is no JSON yet is nothing that could be saved.
  const [unreadable, setUnreadable] = useState<Record<string, string>>({});
  const isUnreadable = Object.keys(unreadable).length > 0;
  const isChanged = spelled(draft) !== spelled(saved);
  const { problems, yaml, isChecking } = useCheck(draft, mayEdit && isChanged);
  const problemAt = (pointer: string) =>
    unreadable[pointer] ??
    problems.find(({ pointer: at }) => at === pointer || at.startsWith(`${pointer}/`))?.message;
  const set = (changes: Partial<AgentDocument>) => setDraft(merged(draft, changes));
  const parts: PartProps = { draft, readOnly: !mayEdit, set, problemAt };
  return (
    <div className={classes.composer}>
      {agent.origin !== 'project' && (
        <Alert variant="light" color="gray">
          {agent.origin === 'plugin'
            ? t`This agent is code of a plug-in. To change it, install another version of the plug-in.`
            : t`This agent comes with Steward. To change it, start from it: that makes a copy of your own.`}
        </Alert>
      )}
      <About {...parts} />
      <Tools {...parts} />
      <Guardrails {...parts} />
      <Schemas
        {...parts}
        onUnreadable={(pointer, why) => setUnreadable(told(unreadable, pointer, why))}
      />
      <HandingOver {...parts} />
      <Bounds {...parts} />
      <Remembering {...parts} />
      <AsFile
        agent={agent}
        written={isUnreadable ? null : yaml}
        isChanged={isChanged || isUnreadable}
      />
      {mayEdit && (
        <Save
          agent={agent}
          draft={draft}
          problems={problems}
          isChecking={isChecking}
          isBlocked={!isChanged || isUnreadable}
          onDiscard={isChanged || isUnreadable ? onDiscard : null}
        />
      )}
    </div>
  );
}

interface FileProps {
  agent: AgentDetail;
  /** The text of the changed agent; null where it cannot be written yet. */
  written: string | null;
  isChanged: boolean;
}

/** The agent as YAML: with the changes that are not saved yet, as soon as they are valid. */
function AsFile({ agent, written, isChanged }: FileProps) {
  const shown = isChanged ? written : null;
  return (
    <Section
      title={t`As a file`}
      description={
        <>
          {t`YAML for Git. The command “steward agents apply” reads it. `}
          {shown !== null && <strong>{t`With your changes, which are not saved yet.`}</strong>}
          {isChanged && shown === null && (
            <strong>
              {t`This is the saved version. Your changes appear here once they are valid.`}
            </strong>
          )}
        </>
      }
    >
      <CodeBlock label={t`${agent.name}.yaml`} code={shown ?? agent.yaml} maxHeight="18rem" />
    </Section>
  );
}

interface SaveProps {
  agent: AgentDetail;
  draft: AgentDocument;
  problems: AgentProblem[];
  isChecking: boolean;
  isBlocked: boolean;
  onDiscard: (() => void) | null;
}

function Save({ agent, draft, problems, isChecking, isBlocked, onDiscard }: SaveProps) {
  const project = useProject();
  const save = useSaveAgent(project.id);
  const restore = useRestoreAgent(project.id);
  const [message, setMessage] = useState('');
  const { name, version } = agent;
  const store = () =>
    whenDone(save.mutateAsync({ document: draft, message, version }), ({ version: made }) =>
      offerUndo({
        message: t`Saved as version ${made}`,
        undo: () => restore.mutateAsync({ name, version: made, wanted: version }),
        undone: t`Version ${version} is current again`,
      }),
    );
  return (
    <div className={classes.save}>
      {problems.length > 0 && (
        <Alert variant="light" color="red" title={t`This cannot be saved yet`}>
          <ul className={classes.problems}>
            {problems.map(({ pointer, message: why }, index) => (
              <li key={index}>
                {FIELDS[pointer.split('/')[1] ?? ''] ?? t`Agent`}: {why}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      <FormError error={save.error} />
      <Group gap="xs" align="flex-end">
        <TextInput
          label={t`Why`}
          placeholder={t`Kept with the version`}
          value={message}
          maxLength={400}
          flex={1}
          miw="12rem"
          onChange={({ currentTarget }) => setMessage(currentTarget.value)}
        />
        {onDiscard && (
          <Button variant="subtle" color="gray" onClick={onDiscard}>
            {t`Discard changes`}
          </Button>
        )}
        <Button
          loading={save.isPending}
          disabled={isBlocked || isChecking || problems.length > 0}
          onClick={store}
        >
          {t`Save as a new version`}
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        {t`Runs under way keep their version. Deployed flows keep the version they were deployed with.`}
      </Text>
    </div>
  );
}

function useCheck(draft: AgentDocument, enabled: boolean) {
  const project = useProject();
  const [settled] = useDebouncedValue(draft, 350);
  const query = useQuery({ ...agentCheckQuery(project.id, settled), enabled });
  return {
    problems: enabled ? (query.data?.problems ?? []) : [],
    yaml: enabled ? (query.data?.yaml ?? null) : null,
    isChecking: enabled && (query.isFetching || settled !== draft),
  };
}

function merged(draft: AgentDocument, changes: Partial<AgentDocument>): AgentDocument {
  const all = Object.entries({ ...draft, ...changes });
  return Object.fromEntries(
    all.filter(([, value]) => value !== undefined),
  ) as unknown as AgentDocument;
}

/** The document as text that does not depend on the order in which fields were filled in. */
function spelled(document: unknown): string {
  return JSON.stringify(document, (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function told(before: Record<string, string>, pointer: string, why: string | null) {
  const { [pointer]: _gone, ...others } = before;
  return why === null ? others : { ...others, [pointer]: why };
}
