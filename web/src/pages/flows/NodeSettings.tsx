/** The settings of the chosen node: its name, what it comes after, its fields, and what is wrong with it. */
import { t } from '@lingui/core/macro';
import { Button, Group, MultiSelect, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { Copy, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import type { NodeType } from '@/api/flows';
import type { Tool } from '@/api/run-types';
import type { NodePrice } from '@/api/playbook-tests';
import type { NodeStanding } from '@/api/runs';
import {
  connect,
  disconnect,
  freeId,
  moveNode,
  removeNodes,
  renameNode,
  setField,
} from '@/flows/edits';
import { renameKeys } from '@/flows/layout-edits';
import { type FlowNode, graphsWithin, jumpOf, nodesWithin, nodeTitle } from '@/flows/graph';
import { type ExpressionCheck, expressionCheck } from './expression-scope';
import { functionNames, knownValues } from './known-values';
import { LastRun } from './LastRun';
import { expectedText } from './standing';
import { ValueList } from './ValueList';
import { ValueTarget } from './value-target';
import { type Schema, SettingField } from './SettingField';
import type { Studio } from './use-studio';
import classes from './flows.module.css';

interface Props {
  node: FlowNode;
  type: NodeType | undefined;
  tools: readonly Tool[];
  studio: Studio;
  problems: readonly NodeProblem[];
  standings: ReadonlyMap<string, NodeStanding>;
  /** How it stood in the run that is compared with. */
  other: NodeStanding | undefined;
  /** What it will cost, before a run is shown. */
  price: NodePrice | undefined;
  /** The run whose outcome is shown; null before the first one. */
  runId: string | null;
  /** The branch of that run, or main. */
  runBranch: string;
  readOnly: boolean;
  onSelect: (keys: string[]) => void;
  onCopy: () => void;
}

/** What the step will cost, and how that is known. */
export function ExpectedPrice(price: NodePrice) {
  return (
    <section aria-label={t`Expected price`}>
      <Text size="sm">
        {t`Price of a run: ${expectedText({ ...price, seconds: 0 }) || t`nothing so far`}`}
      </Text>
      <Text size="xs" c="dimmed">
        {price.rests_on}
      </Text>
    </section>
  );
}

/** Fields about errors and order, below those that make a node what it is. */
const COMMON = ['accept_failure', 'start', 'retries'];
const DRAWN = ['title', 'on_error', ...COMMON];

export function NodeSettings(props: Props) {
  const { node, type, tools, studio, problems, readOnly } = props;
  const { text, language, document, graph } = studio;
  const sources = knownValues(document, graph, node, props.standings);
  const values = [
    ...sources.flatMap((source) => source.values),
    ...functionNames(language.expressions),
  ];
  const check = expressionCheck(document, graph, node, props.standings, language);
  const target = useRef<((name: string) => void) | null>(null);
  const within = `/${node.path.join('/')}`;
  const problemAt = (pointer: string) =>
    problems.find((problem) => isAt(problem.pointer.slice(within.length), pointer))?.message;
  /** Arguments have the types of the tool; other settings take what their texts give. */
  const checkAny: ExpressionCheck = (written, isBare) => check(written, isBare, true);
  // Code, for one, is passed on as it is written.
  const isRead = (pointer: string) =>
    [...(type?.expressions ?? []), ...(type?.templates ?? [])].some(
      (each) => isAt(pointer, each) || isAt(each, pointer),
    );
  const set = (field: string[], value: unknown) =>
    studio.change(
      { text: setField(text, language, node.key, field, value) },
      `${node.key}/${field.join('/')}`,
    );
  const settings = (type?.settings ?? {}) as Schema;
  const tool = tools.find(({ name }) => name === node.fields.tool);
  const shown = Object.entries(settings.properties ?? {}).filter(([name]) => !DRAWN.includes(name));
  const common = Object.entries(settings.properties ?? {}).filter(([name]) =>
    COMMON.includes(name),
  );
  const given = (node.fields.arguments ?? {}) as Record<string, unknown>;
  const fieldFor = (schema: Schema, at: string[], whole: Schema, value: unknown) => (
    <SettingField
      key={`${node.key}/${at.join('/')}`}
      name={at.at(-1) ?? ''}
      schema={schema}
      definitions={whole.$defs ?? {}}
      required={whole.required?.includes(at.at(-1) ?? '') ?? false}
      value={value}
      values={values}
      {...(isRead(`/${at.join('/')}`) ? { check: at.length > 1 ? check : checkAny } : {})}
      around={at.length > 1 ? given : node.fields}
      runBranch={props.runBranch}
      problemAt={problemAt}
      bare={new Set(type?.expressions ?? [])}
      pointer={`/${at.join('/')}`}
      readOnly={readOnly}
      onChange={(next) => set(at, next)}
    />
  );
  return (
    <ValueTarget value={target}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {nodeTitle(node)}
        </Title>
        <Text size="xs" c="dimmed">
          {tool?.description ?? type?.description}
        </Text>
        {problems.length > 0 && (
          <ul className={classes.problems} aria-label={t`Problems`}>
            {problems.map(({ pointer, message }) => (
              <li key={`${pointer} ${message}`}>{message}</li>
            ))}
          </ul>
        )}
        {props.price && <ExpectedPrice {...props.price} />}
        <LastRun
          runId={props.runId}
          node={node}
          standing={props.standings.get(node.key)}
          other={props.other}
        />
        {!node.isImplied && (
          <>
            <TextInput
              label={t`Title`}
              value={node.title}
              readOnly={readOnly}
              onChange={({ currentTarget }) => set(['title'], currentTarget.value || undefined)}
            />
            <IdField key={node.id} {...props} />
          </>
        )}
        <ComesAfter {...props} />
        {shown.map(([name, schema]) => {
          if (name === 'arguments' && tool) {
            const whole = tool.arguments as Schema;
            return Object.entries(whole.properties ?? {}).map(([argument, inner]) =>
              fieldFor(inner, ['arguments', argument], whole, given[argument]),
            );
          }
          if (name === 'tool') return <ToolSelect key={name} {...{ tools, node, readOnly, set }} />;
          return fieldFor(schema, [name], settings, node.fields[name]);
        })}
        {!readOnly && <ValueList sources={sources} />}
        {!node.isImplied && (
          <details className={classes.more}>
            <summary>{t`Errors and order`}</summary>
            <Stack gap="sm" mt="xs">
              <AfterError {...props} />
              {common.map(([name, schema]) =>
                fieldFor(schema, [name], settings, node.fields[name]),
              )}
              <MoveInto {...props} />
            </Stack>
          </details>
        )}
        {!readOnly && !node.isImplied && (
          <Group gap="xs">
            <Button
              variant="default"
              leftSection={<Copy size={14} aria-hidden />}
              onClick={props.onCopy}
            >
              {t`Duplicate`}
            </Button>
            <Button
              variant="default"
              leftSection={<Trash2 size={14} aria-hidden />}
              onClick={() => {
                studio.change({ text: removeNodes(text, language, [node.key]) });
                props.onSelect([]);
              }}
            >
              {t`Delete`}
            </Button>
          </Group>
        )}
      </Stack>
    </ValueTarget>
  );
}

export interface NodeProblem {
  pointer: string;
  message: string;
}

/** A problem is shown at the field that it is about, or in which it is. */
const isAt = (problem: string, field: string) =>
  problem === field || problem.startsWith(`${field}/`);

interface ToolProps {
  tools: readonly Tool[];
  node: FlowNode;
  readOnly: boolean;
  set: (field: string[], value: unknown) => void;
}

function ToolSelect({ tools, node, readOnly, set }: ToolProps) {
  return (
    <Select
      label={t`Tool`}
      data={tools.map(({ name, title }) => ({ value: name, label: title }))}
      value={typeof node.fields.tool === 'string' ? node.fields.tool : null}
      searchable
      allowDeselect={false}
      readOnly={readOnly}
      onChange={(next) => set(['tool'], next ?? '')}
    />
  );
}

/** Taken over when it is left, so that half an id renames nothing. */
function IdField({ node, studio, readOnly, onSelect }: Props) {
  const [id, setId] = useState(node.id);
  const isRight = /^[a-z][a-z0-9_]{0,39}$/.test(id);
  const isTaken = id !== node.id && nodesWithin(studio.graph).some((other) => other.id === id);
  const take = () => {
    if (!isRight || isTaken || id === node.id) return;
    const key = `${node.key.slice(0, node.key.length - node.id.length)}${id}`;
    studio.change({
      text: renameNode(studio.text, studio.language, node.key, id),
      layout: renameKeys(studio.layout, node.key, key),
    });
    onSelect([key]);
  };
  return (
    <TextInput
      label={t`Id`}
      description={t`Other steps read its output by this name.`}
      value={id}
      readOnly={readOnly}
      error={
        !isRight
          ? t`Use small letters, digits and _, and start with a letter.`
          : isTaken &&
            t`Another step has this id. ${freeId(studio.text, studio.language, id)} is free.`
      }
      onChange={({ currentTarget }) => setId(currentTarget.value)}
      onBlur={take}
      onKeyDown={({ key }) => key === 'Enter' && take()}
    />
  );
}

/** The field that the key C leads to. */
export const COMES_AFTER = 'comes-after';

/** Edges by keyboard: the steps that come before this one, each by one of its ways out. */
function ComesAfter({ node, studio, readOnly }: Props) {
  const { text, language, graph } = studio;
  const around = graphsWithin(graph).find(({ nodes }) => nodes.some(({ key }) => key === node.key));
  const others = (around?.nodes ?? []).filter(
    ({ key, isImplied }) => key !== node.key && !isImplied,
  );
  const choices = others.flatMap((other) => [
    { value: other.id, label: nodeTitle(other) },
    ...other.ports.map((port) => ({
      value: `${other.id}.${port}`,
      label: `${nodeTitle(other)}: ${port}`,
    })),
  ]);
  const change = (next: string[]) => {
    const keyOf = (need: string) => others.find(({ id }) => id === need.split('.')[0])?.key ?? '';
    const edge = (need: string) => ({
      before: keyOf(need),
      after: node.key,
      port: need.split('.')[1] ?? '',
    });
    let made = text;
    for (const need of node.needs)
      if (!next.includes(need)) made = disconnect(made, language, edge(need));
    for (const need of next)
      if (!node.needs.includes(need)) made = connect(made, language, edge(need));
    studio.change({ text: made });
  };
  return (
    <MultiSelect
      id={COMES_AFTER}
      label={t`Comes after`}
      data={choices}
      value={[...node.needs]}
      searchable
      readOnly={readOnly}
      placeholder={node.needs.length === 0 ? t`Nothing: it starts the flow` : ''}
      onChange={change}
    />
  );
}

function AfterError({ node, studio, readOnly }: Props) {
  const { text, language, graph } = studio;
  const around = graphsWithin(graph).find(({ nodes }) => nodes.some(({ key }) => key === node.key));
  const jump = jumpOf(node);
  const choices = [
    { value: 'fail', label: t`Stop the flow` },
    { value: 'continue', label: t`Go on, with the error as output` },
    ...(around?.nodes ?? [])
      .filter(({ key, isImplied }) => key !== node.key && !isImplied)
      .map((other) => ({ value: `>${other.id}`, label: t`Go to ${nodeTitle(other)}` })),
  ];
  const now = jump !== '' ? `>${jump}` : node.fields.on_error === 'continue' ? 'continue' : 'fail';
  return (
    <Select
      label={t`After an error`}
      data={choices}
      value={now}
      allowDeselect={false}
      readOnly={readOnly}
      onChange={(next) => {
        const value = next?.startsWith('>') ? { goto: next.slice(1) } : next;
        const given = value === 'fail' || value === null ? undefined : value;
        studio.change({ text: setField(text, language, node.key, ['on_error'], given) });
      }}
    />
  );
}

function MoveInto({ node, studio, readOnly, onSelect }: Props) {
  const { text, language, graph } = studio;
  const holders = nodesWithin(graph).filter(
    ({ key }) => key !== node.key && !key.startsWith(`${node.key}/`),
  );
  const choices = [
    { value: JSON.stringify(graph.path), label: t`The flow itself` },
    ...holders.flatMap((holder) =>
      holder.graphs.map(({ path, name }) => ({
        value: JSON.stringify(path),
        label: [nodeTitle(holder), name].filter(Boolean).join(': '),
      })),
    ),
  ];
  const around = graphsWithin(graph).find(({ nodes }) => nodes.some(({ key }) => key === node.key));
  if (choices.length === 1) return null;
  return (
    <Select
      label={t`Belongs to`}
      data={choices}
      value={JSON.stringify(around?.path ?? [])}
      allowDeselect={false}
      readOnly={readOnly}
      onChange={(next) => {
        if (next === null) return;
        studio.change({ text: moveNode(text, language, node.key, JSON.parse(next) as string[]) });
        onSelect([]);
      }}
    />
  );
}
