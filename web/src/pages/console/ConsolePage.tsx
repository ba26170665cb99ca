/** SQL, plans and Python over the datasets, one query at a time, without a model. */
import { t } from '@lingui/core/macro';
import { Button, Group, NumberInput, SegmentedControl, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Play, Square } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Message, QueryType } from '@/api/chat';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { Page } from '@/components/Page';
import { BuildButton } from '@/pages/chat/ComposerParts';
import { useSend } from '@/pages/chat/use-send';
import classes from './console.module.css';
import { Editor, type EditorHandle } from './Editor';
import { History } from './History';
import { ParameterRows } from './ParameterRows';
import { given, nameProblem, type Row, rowsFor, rowsOf } from './parameters';
import { ResultView } from './ResultView';
import { SaveDialog } from './SaveDialog';
import { SavedQueries } from './SavedQueries';
import { transformOf } from './step';
import { Tables } from './Tables';
import { useConsole } from './use-console';

const KINDS = [
  { value: 'sql', label: t`SQL` },
  { value: 'plan', label: t`Plan` },
  { value: 'python', label: t`Python` },
] satisfies { value: QueryType; label: string }[];
const EMPTY: Record<QueryType, string> = { sql: '', plan: '', python: '' };
const MOST_ROWS = 10_000;

export default function ConsolePage() {
  const project = useProject();
  const datasets = itemsOf(useInfiniteQuery(datasetsQuery(project.id)).data);
  const { state, threadId, run, cancel, show, startThread } = useConsole(project.id);
  const [kind, setKind] = useState<QueryType>('sql');
  const [drafts, setDrafts] = useState(EMPTY);
  const [written, setWritten] = useState<Row[]>([]);
  const [limit, setLimit] = useState(200);
  const editor = useRef<EditorHandle>(null);
  const [saving, setSaving] = useState(false);
  // What is clicked together is answered in chat, where its reading can be changed.
  const sending = useSend(project.id, undefined);
  const query = drafts[kind];
  const message = state.answer?.message ?? null;
  const write = (text: string, of: QueryType = kind) => setDrafts({ ...drafts, [of]: text });
  // A plan has its values in itself.
  const rows = kind === 'plan' ? [] : rowsFor(kind, query, written);
  const start = (most: number) => {
    const isFit = rows.every(({ name }) => nameProblem(name, rows) === null);
    if (query.trim() !== '' && isFit) void run(kind, query, given(rows), most);
  };
  const pick = async (found: Message) => {
    if (found.query_type !== null) {
      setKind(found.query_type);
      write(found.query, found.query_type);
    }
    const parameters = await show(found);
    if (parameters !== null) setWritten(rowsOf(parameters));
  };
  const maySave = message !== null && transformOf(message, 'x', {}) !== null;
  return (
    <Page
      title={t`Console`}
      description={t`One query at a time over the datasets, run in the sandbox. Every query is a run.`}
      width="full"
    >
      <div className={classes.layout}>
        <Stack gap="md">
          <Group gap="xs">
            <SegmentedControl
              aria-label={t`Kind of query`}
              data={KINDS}
              value={kind}
              onChange={(value) => setKind(value)}
              w="fit-content"
            />
            <BuildButton
              onReading={(message, reading) =>
                void sending.send({ message, reading, thread_id: null })
              }
            />
          </Group>
          <FormError error={sending.error} />
          <Editor
            ref={editor}
            kind={kind}
            value={query}
            onChange={write}
            onRun={() => start(limit)}
            datasets={datasets}
          />
          {kind !== 'plan' && <ParameterRows rows={rows} onChange={setWritten} />}
          <Toolbar
            isRunning={state.isRunning}
            progress={state.progress}
            limit={limit}
            onLimit={setLimit}
            onRun={() => start(limit)}
            onCancel={cancel}
          />
          <FormError error={state.error} />
          {state.answer && (
            <ResultView
              projectId={project.id}
              answer={state.answer}
              parameters={state.parameters}
              onSave={maySave ? () => setSaving(true) : undefined}
              onShowAll={
                limit < MOST_ROWS
                  ? () => {
                      setLimit(MOST_ROWS);
                      start(MOST_ROWS);
                    }
                  : undefined
              }
            />
          )}
        </Stack>
        <Stack gap="lg">
          <Tables kind={kind} datasets={datasets} onPick={(text) => editor.current?.insert(text)} />
          <SavedQueries
            projectId={project.id}
            kind={kind}
            query={query}
            onPick={(saved) => {
              setKind(saved.kind);
              write(saved.query, saved.kind);
            }}
          />
          <History
            projectId={project.id}
            threadId={threadId}
            onPick={(found) => void pick(found)}
            onNew={startThread}
          />
        </Stack>
      </div>
      {message && (
        <SaveDialog
          projectId={project.id}
          message={message}
          parameters={state.parameters}
          opened={saving}
          onClose={() => setSaving(false)}
        />
      )}
    </Page>
  );
}

interface ToolbarProps {
  isRunning: boolean;
  progress: string;
  limit: number;
  onLimit: (limit: number) => void;
  onRun: () => void;
  onCancel: () => void;
}

function Toolbar({ isRunning, progress, limit, onLimit, onRun, onCancel }: ToolbarProps) {
  return (
    <Group gap="sm">
      {isRunning ? (
        <Button color="red" variant="light" leftSection={<Square size={14} />} onClick={onCancel}>
          {t`Cancel`}
        </Button>
      ) : (
        <Button leftSection={<Play size={14} />} onClick={onRun}>
          {t`Run`}
        </Button>
      )}
      <NumberInput
        aria-label={t`Rows at most`}
        value={limit}
        min={1}
        max={MOST_ROWS}
        w="7rem"
        suffix={t` rows`}
        onChange={(value) => onLimit(Math.min(Math.max(Number(value) || 1, 1), MOST_ROWS))}
      />
      <Text size="sm" c="dimmed" role="status">
        {progress || (isRunning ? '' : t`Ctrl+Enter runs it`)}
      </Text>
    </Group>
  );
}
