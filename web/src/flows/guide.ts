/** A flow from a few choices: what to read, what to make of it, who gets it, and when. */
import { stringify } from 'yaml';

export type Scalar = string | number | boolean | null;

/** SQL or Python that gives the rows. */
export interface Query {
  language: 'sql' | 'python';
  code: string;
  parameters: Readonly<Record<string, Scalar>>;
}

export interface Step {
  title: string;
  tool: string;
  arguments: Readonly<Record<string, unknown>>;
}

/** What is repeated: a dataset, the rows of a query, or calls as they were made. */
export type Work = { dataset: string } | { query: Query } | { steps: readonly Step[] };

export type Making =
  | { kind: 'rows' | 'dataset' | 'report' | 'workbook' }
  | { kind: 'chart'; chart: Readonly<Record<string, unknown>> };

export interface Delivery {
  kind: 'none' | 'email' | 'slack';
  to: readonly string[];
  channel: string;
  /** Through which connection; null: as the project's settings say. */
  connection: string | null;
  /** Somebody looks at it before it goes. */
  isReviewed: boolean;
}

export interface Choices {
  name: string;
  work: Work;
  make: Making;
  delivery: Delivery;
  /** A cron expression; null: only by hand. */
  cron: string | null;
  timeZone: string;
}

export const NO_DELIVERY: Delivery = {
  kind: 'none',
  to: [],
  channel: '',
  connection: null,
  isReviewed: true,
};

type Fields = Record<string, unknown>;

/** Flows read `${…}` as an expression; in what people chose it means itself. */
export function literal<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${') as Value;
  if (Array.isArray(value)) return value.map(literal) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, literal(item as unknown)]),
  ) as Value;
}

/** The playbook as text. */
export function guidedFlow(choices: Choices): string {
  const { name, cron, timeZone } = choices;
  const work = workSteps(choices);
  const steps = [...work, ...deliverySteps(choices, work)];
  return stringify(
    {
      format: 1,
      id: slugOf(name),
      name,
      budget: { usd: 1, seconds: 3600 },
      ...(cron === null
        ? {}
        : { triggers: [{ type: 'cron', name: 'schedule', cron, time_zone: timeZone }] }),
      steps,
    },
    { lineWidth: 0, indentSeq: false, blockQuote: 'literal', aliasDuplicateObjects: false },
  );
}

export function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 50)
    .replaceAll(/-+$/g, '');
  return slug === '' ? 'new-flow' : slug;
}

function workSteps({ name, work, make }: Choices): Fields[] {
  if ('steps' in work) return calls(work.steps);
  if ('query' in work && make.kind === 'rows') return [rowsStep(work.query)];
  const target = slugOf(name).replaceAll('-', '_');
  const dataset = 'query' in work ? target : work.dataset;
  const kept = 'query' in work ? [datasetStep(work.query, target)] : [];
  return [...kept, ...madeSteps(name, dataset, make, 'dataset' in work)];
}

/** Calls as they were made, each with an id of its own. */
function calls(steps: readonly Step[]): Fields[] {
  const taken = new Set<string>();
  return steps.map(({ title, tool, arguments: given }) => {
    const base = tool.replaceAll(/\W+/g, '_').toLowerCase().slice(0, 36) || 'step';
    let id = base;
    for (let number = 2; taken.has(id); number += 1) id = `${base}_${number}`;
    taken.add(id);
    return { id, title: literal(title).slice(0, 100), tool, arguments: literal(given) };
  });
}

function rowsStep({ language, code, parameters }: Query): Fields {
  const given = Object.keys(parameters).length > 0 ? { parameters: literal(parameters) } : {};
  return {
    id: 'query',
    title: 'Read the data',
    tool: language === 'sql' ? 'execute_sql' : 'execute_python',
    arguments: { [language === 'sql' ? 'sql' : 'code']: literal(code), ...given },
  };
}

function datasetStep({ language, code, parameters }: Query, target: string): Fields {
  const given = Object.keys(parameters).length > 0 ? { parameters: literal(parameters) } : {};
  return {
    id: 'data',
    title: 'Choose the rows',
    tool: 'transform',
    arguments: { target, language, code: literal(code), ...given },
  };
}

function madeSteps(name: string, dataset: string, make: Making, isWhole: boolean): Fields[] {
  const data = literal(dataset);
  switch (make.kind) {
    case 'report':
      return [
        {
          id: 'report',
          title: 'Write the report',
          tool: 'report',
          arguments: {
            title: literal(name),
            datasets: [data],
            // Rows that somebody chose are what the report is about.
            ...(isWhole ? {} : { contents: 'rows' }),
          },
        },
      ];
    case 'workbook':
      return [
        {
          id: 'workbook',
          title: 'Write the workbook',
          tool: 'render_xlsx',
          arguments: { dataset: data },
        },
      ];
    case 'chart':
      return [
        {
          id: 'chart',
          title: 'Draw the chart',
          tool: 'chart',
          arguments: { dataset: data, chart: literal(make.chart) },
        },
      ];
    default:
      return isWhole
        ? [
            {
              id: 'query',
              title: 'Read the data',
              tool: 'execute_sql',
              arguments: { sql: literal(`SELECT * FROM ${quoted(dataset)}`) },
            },
          ]
        : [];
  }
}

const FILES = new Set(['report', 'render_xlsx']);

function deliverySteps({ name, delivery }: Choices, work: readonly Fields[]): Fields[] {
  if (delivery.kind === 'none') return [];
  const files = work.filter(({ tool }) => FILES.has(String(tool)));
  const last = work.at(-1);
  const words = files.length > 0 ? '' : countOf(last);
  const text = `${literal(name)} is ready.${words}`;
  const review: Fields = {
    id: 'look',
    title: 'Look before it is sent',
    message: `Send “${literal(name)}”?`,
    review: true,
    expires_in: '14d',
    ...(last === undefined ? {} : { payload: `\${nodes.${String(last.id)}.output}` }),
  };
  const through = delivery.connection === null ? {} : { connection: delivery.connection };
  const send: Fields =
    delivery.kind === 'email'
      ? {
          id: 'send',
          title: 'Send the e-mail',
          tool: 'send_email',
          arguments: {
            to: [...delivery.to],
            subject: literal(name),
            text,
            ...(files.length > 0 ? { attachments: attachmentsOf(files) } : {}),
            ...through,
          },
        }
      : {
          id: 'send',
          title: 'Write to Slack',
          tool: 'send_slack',
          arguments: {
            text: files.length > 0 ? `${text} Files: \${join(${filesOf(files)}, ', ')}.` : text,
            ...(delivery.channel === '' ? {} : { channel: delivery.channel }),
            ...through,
          },
        };
  return delivery.isReviewed ? [review, send] : [send];
}

const filesOf = (steps: readonly Fields[]) =>
  steps.map(({ id }) => `nodes.${String(id)}.output.files`).join(' + ');
const attachmentsOf = (steps: readonly Fields[]) => `\${${filesOf(steps)}}`;

/** How many rows a step gave, in the words of a message. */
function countOf(step: Fields | undefined): string {
  const id = String(step?.id);
  switch (step?.tool) {
    case 'execute_sql':
    case 'execute_query_plan':
    case 'execute_python':
      return ` It has \${size(nodes.${id}.output.rows)} rows.`;
    case 'transform':
      return ` It is the dataset \${nodes.${id}.output.dataset}.`;
    default:
      return '';
  }
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

export type Operator =
  | 'contains'
  | 'starts'
  | 'eq'
  | 'ne'
  | 'lt'
  | 'le'
  | 'gt'
  | 'ge'
  | 'empty'
  | 'filled'
  /** In the last so many days. */
  | 'days';

export interface Condition {
  column: string;
  /** What the column holds decides how the value is read. */
  holds: 'text' | 'number' | 'moment';
  type: string;
  operator: Operator;
  value: string;
}

export type Aggregate = 'count' | 'sum' | 'avg' | 'min' | 'max';

export interface Summary {
  by: readonly string[];
  aggregate: Aggregate;
  /** Null for the number of rows. */
  column: string | null;
}

export function isComplete({ column, operator, value, holds }: Condition): boolean {
  if (column === '') return false;
  if (operator === 'empty' || operator === 'filled') return true;
  if (operator === 'days' || holds === 'number')
    return value.trim() !== '' && Number.isFinite(Number(value));
  return value.trim() !== '';
}

/** The rows of a dataset that fit, counted or added up where that is asked for; null for all rows as they are. */
export function queryOf(
  dataset: string,
  conditions: readonly Condition[],
  summary: Summary | null,
): Query | null {
  const complete = conditions.filter(isComplete);
  if (complete.length === 0 && summary === null) return null;
  const parameters: Record<string, Scalar> = {};
  const bind = (column: string, value: Scalar): string => {
    const base =
      column
        .toLowerCase()
        .replaceAll(/\W+/g, '_')
        .replace(/^\d+|^_+/, '') || 'value';
    let name = base;
    for (let number = 2; name in parameters; number += 1) name = `${base}_${number}`;
    parameters[name] = value;
    return `$${name}`;
  };
  const tests = complete.map((condition) => testOf(condition, bind));
  const by = summary?.by.map(quoted) ?? [];
  const measured = summary ? [...by, measureOf(summary)] : ['*'];
  const lines = [
    `SELECT ${measured.join(', ')}`,
    `FROM ${quoted(dataset)}`,
    ...(tests.length > 0 ? [`WHERE ${tests.join('\n  AND ')}`] : []),
    ...(by.length > 0 ? [`GROUP BY ${by.join(', ')}`, `ORDER BY ${by.join(', ')}`] : []),
  ];
  return { language: 'sql', code: `${lines.join('\n')}\n`, parameters };
}

function measureOf({ aggregate, column }: Summary): string {
  if (aggregate === 'count' || column === null) return 'count(*) AS "rows"';
  return `${aggregate}(${quoted(column)}) AS ${quoted(`${aggregate} of ${column}`)}`;
}

const COMPARED: Partial<Record<Operator, string>> = {
  eq: '=',
  ne: 'IS DISTINCT FROM',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
};

function testOf(condition: Condition, bind: (column: string, value: Scalar) => string): string {
  const { column, holds, type, operator, value } = condition;
  const name = quoted(column);
  const text = `CAST(${name} AS VARCHAR)`;
  switch (operator) {
    case 'empty':
      return `(${name} IS NULL OR ${text} = '')`;
    case 'filled':
      return `(${name} IS NOT NULL AND ${text} <> '')`;
    case 'contains':
      return `contains(lower(${text}), lower(${bind(column, value)}))`;
    case 'starts':
      return `starts_with(lower(${text}), lower(${bind(column, value)}))`;
    case 'days':
      return `CAST(${name} AS DATE) > current_date - CAST(${bind(`${column}_days`, Number(value))} AS INTEGER)`;
    default: {
      const given = bind(column, holds === 'number' ? Number(value) : value);
      const compared = holds === 'moment' ? `CAST(${given} AS ${type})` : given;
      return `${holds === 'text' ? text : name} ${COMPARED[operator] ?? '='} ${compared}`;
    }
  }
}
