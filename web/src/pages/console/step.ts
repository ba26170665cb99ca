/** A query as a step of a flow, and as the call that keeps its result. */
import { stringify } from 'yaml';
import type { Message, QueryType } from '@/api/chat';
import type { Parameters, Scalar } from './parameters';

const TOOLS: Record<QueryType, { tool: string; argument: string }> = {
  sql: { tool: 'execute_sql', argument: 'sql' },
  plan: { tool: 'execute_query_plan', argument: 'plan' },
  python: { tool: 'execute_python', argument: 'code' },
};

/** Flows read `${…}` as an expression; in a query it means itself. */
const literally = (text: string) => text.replaceAll('${', () => '$${');
const meaningItself = (value: Scalar) => (typeof value === 'string' ? literally(value) : value);

/** The step as it is pasted under `nodes:` of a flow. */
export function stepYaml(kind: QueryType, query: string, parameters: Parameters): string {
  const { tool, argument } = TOOLS[kind];
  const values = Object.entries(parameters).map(([name, value]) => [name, meaningItself(value)]);
  const node = {
    id: 'query',
    type: 'tool',
    tool,
    arguments: {
      [argument]: literally(query),
      ...(values.length > 0 && { parameters: Object.fromEntries(values) as Parameters }),
    },
  };
  return stringify([node], { lineWidth: 0, blockQuote: 'literal' });
}

const hasTable = (result: unknown) =>
  typeof result === 'object' &&
  result !== null &&
  'columns' in result &&
  Array.isArray(result.columns) &&
  result.columns.length > 0;

/** What the transform tool needs to make a dataset of the same result; null where it is no table. */
export function transformOf(
  message: Message,
  target: string,
  parameters: Parameters,
): Record<string, unknown> | null {
  if (!hasTable(message.result)) return null;
  if (message.query_type === 'python') {
    return { target, language: 'python', code: message.query, parameters };
  }
  return message.sql === null ? null : { target, language: 'sql', code: message.sql, parameters };
}
