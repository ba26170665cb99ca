/** What came of a query: its rows, charts and files, how it was run, and what can be made of it. */
import { t } from '@lingui/core/macro';
import { Alert, Anchor, Button, Group, Stack, Tabs, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import type { ChatAnswer, Message } from '@/api/chat';
import { artifactAddress } from '@/api/runs';
import { projectPath } from '@/app/project';
import { CellText } from '@/components/CellText';
import { CodeBlock } from '@/components/CodeBlock';
import { isNumeric } from '@/components/column-types';
import { JsonTree } from '@/components/JsonTree';
import { showToast } from '@/components/toasts';
import { useCopy } from '@/components/use-copy';
import { tableOf } from '@/components/value-table';
import type { Work } from '@/flows/guide';
import { RepeatButton } from '@/pages/flows/RepeatButton';
import { ChartArtifact } from './ChartArtifact';
import classes from './console.module.css';
import type { Parameters } from './parameters';
import { stepYaml } from './step';

interface Props {
  projectId: string;
  answer: ChatAnswer;
  /** What the query was given. */
  parameters: Parameters;
  onSave: (() => void) | undefined;
  /** Runs it again for as many rows as the console can show; left out where it did. */
  onShowAll: (() => void) | undefined;
}

type ActionsProps = Omit<Props, 'answer' | 'onShowAll'> & { message: Message };

export function ResultView({ projectId, answer, parameters, onSave, onShowAll }: Props) {
  const { message } = answer;
  if (message === null) return <Alert color="gray">{answer.answer}</Alert>;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" role="status">
          {message.error === null ? answer.answer : t`It did not work.`}
          {message.seconds !== null && ` · ${message.seconds.toFixed(2)} s`}
        </Text>
        <Actions projectId={projectId} message={message} parameters={parameters} onSave={onSave} />
      </Group>
      {message.error !== null && (
        <Alert
          role="alert"
          color="red"
          variant="light"
          icon={<TriangleAlert size={16} aria-hidden />}
        >
          <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
            {message.error.message}
          </Text>
        </Alert>
      )}
      <ResultTabs {...{ projectId, message, parameters, onShowAll }} />
    </Stack>
  );
}

function Actions({ projectId, message, parameters, onSave }: ActionsProps) {
  const { copied, copy } = useCopy();
  const kind = message.query_type;
  const work = repeatedWork(message, parameters);
  const makeStep = async () => {
    if (kind === null) return;
    const done = await copy(stepYaml(kind, message.query, parameters));
    showToast({
      tone: done ? 'success' : 'failure',
      message: done
        ? t`The step is copied; paste it under the nodes of a flow.`
        : t`Copying failed.`,
      shownFor: 5_000,
    });
  };
  return (
    <Group gap="xs">
      {onSave && message.error === null && (
        <Button size="xs" variant="default" onClick={onSave}>
          {t`Save as dataset`}
        </Button>
      )}
      {kind !== null && (
        <Button size="xs" variant="default" onClick={() => void makeStep()}>
          {copied ? t`Copied` : t`Make it a step`}
        </Button>
      )}
      {work && message.error === null && (
        <RepeatButton
          work={work}
          name={t`Query`}
          columns={(message.result as Outcome).columns ?? []}
        />
      )}
      <Anchor component={Link} to={projectPath(projectId, 'runs', message.run_id)} size="sm">
        {t`Run`}
      </Anchor>
    </Group>
  );
}

/** The query with its values; a plan as the SQL that it was compiled to. */
function repeatedWork(
  { query_type: kind, query, sql }: Message,
  parameters: Parameters,
): Work | null {
  if (kind === 'sql' || kind === 'python') {
    return { query: { language: kind, code: query, parameters } };
  }
  return sql === null ? null : { query: { language: 'sql', code: sql, parameters: {} } };
}

type TabsProps = Omit<ActionsProps, 'onSave'> & Pick<Props, 'onShowAll'>;

function ResultTabs({ projectId, message, parameters, onShowAll }: TabsProps) {
  const charts = message.artifacts.filter(({ media_type: type }) => type.includes('vegalite'));
  const files = message.artifacts.filter((artifact) => !charts.includes(artifact));
  const first = message.error === null ? 'result' : 'details';
  return (
    <Tabs defaultValue={first} key={message.run_id} keepMounted={false}>
      <Tabs.List>
        <Tabs.Tab value="result">{t`Result`}</Tabs.Tab>
        {charts.length > 0 && <Tabs.Tab value="chart">{t`Chart`}</Tabs.Tab>}
        {message.plan !== null && <Tabs.Tab value="plan">{t`Plan`}</Tabs.Tab>}
        {message.sql !== null && <Tabs.Tab value="sql">{t`SQL`}</Tabs.Tab>}
        <Tabs.Tab value="details">{t`Details`}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="result" pt="sm">
        <Result value={message.result} onShowAll={onShowAll} />
        {files.map(({ name, digest }) => (
          <Anchor key={digest} size="sm" href={artifactAddress(projectId, message.run_id, digest)}>
            {name}
          </Anchor>
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="chart" pt="sm">
        {charts.map(({ name, digest }) => (
          <ChartArtifact
            key={digest}
            name={name}
            address={artifactAddress(projectId, message.run_id, digest)}
          />
        ))}
      </Tabs.Panel>
      <Tabs.Panel value="plan" pt="sm">
        <CodeBlock label={t`plan`} code={message.plan ?? ''} />
      </Tabs.Panel>
      <Tabs.Panel value="sql" pt="sm">
        <CodeBlock label={t`SQL as it was run`} code={message.sql ?? ''} />
      </Tabs.Panel>
      <Tabs.Panel value="details" pt="sm">
        <JsonTree label={t`Details`} value={{ ...detailsOf(message), parameters }} />
      </Tabs.Panel>
    </Tabs>
  );
}

function detailsOf({ result, ...message }: Message): Record<string, unknown> {
  const { run_id, status, created_at, started_at, ended_at, seconds, error } = message;
  const facts = { run_id, status, created_at, started_at, ended_at, seconds, error };
  return { ...facts, ...withoutTable(result) };
}

function withoutTable(result: unknown): Record<string, unknown> {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return {};
  const shown = new Set(['columns', 'rows', 'result', 'stdout', 'sql', 'compiled_sql', 'plan']);
  return Object.fromEntries(Object.entries(result).filter(([name]) => !shown.has(name)));
}

interface Outcome {
  columns?: { name: string; type: string }[];
  rows?: unknown[];
  truncated?: string | null;
  result?: unknown;
  stdout?: string;
}

function Result({ value, onShowAll }: { value: unknown } & Pick<Props, 'onShowAll'>) {
  if (typeof value !== 'object' || value === null) {
    return (
      <Text size="sm" c="dimmed">
        {t`Nothing`}
      </Text>
    );
  }
  const { columns = [], truncated, result, stdout } = value as Outcome;
  return (
    <Stack gap="sm">
      {truncated && (
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            {truncated}
          </Text>
          {onShowAll && (
            <Button size="compact-xs" variant="subtle" onClick={onShowAll}>
              {t`Show all`}
            </Button>
          )}
        </Group>
      )}
      {columns.length > 0 && <ResultTable columns={columns} value={value} />}
      {result !== undefined && result !== null && <JsonTree label={t`Result`} value={result} />}
      {stdout && <CodeBlock label={t`what it printed`} code={stdout} maxHeight="16rem" />}
    </Stack>
  );
}

/** Numbers stand below each other by their ends. */
const alignmentOf = (type = '') => (isNumeric(type) ? classes.number : undefined);

function ResultTable({
  columns,
  value,
}: {
  columns: { name: string; type: string }[];
  value: object;
}) {
  const rows = tableOf(value)?.rows ?? [];
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={classes.result} role="group" aria-label={t`Rows of the result`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, type }, index) => (
              <th key={index} scope="col" className={alignmentOf(type)}>
                {name} <span>{type}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>
              {row.map((cell, index) => (
                <td key={index} className={alignmentOf(columns[index]?.type)}>
                  <CellText value={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
