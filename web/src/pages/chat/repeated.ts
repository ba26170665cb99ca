/** What of a turn a playbook would repeat: the calls that its answer rests on, as they were made. */
import type { Turn, TurnCall } from '@/api/chat-types';
import type { Scalar, Work } from '@/flows/guide';
import { callsOf, chartIn, shownOf } from './results';

export function repeatedWork(turn: Turn): Work | null {
  const calls = callsOf(turn).filter(
    (call): call is TurnCall & { tool: string } => call.tool !== null,
  );
  const sources = new Set(turn.figures.map(({ source }) => source));
  const table = shownOf(turn).table?.key;
  const counts = ({ key, value, commits, artifacts }: TurnCall) =>
    commits.length > 0 ||
    artifacts.length > 0 ||
    chartIn(value) !== null ||
    sources.has(key) ||
    key === table;
  const wanted = calls.filter(counts);
  const kept = wanted.length > 0 ? wanted : calls;
  const [only, ...others] = kept;
  if (!only) return null;
  const isWhole = turn.reading?.reading?.limit === null;
  const query = others.length === 0 ? queryIn(only, isWhole) : null;
  if (query) return { query };
  return {
    steps: kept.map(({ title, tool, arguments: given }) => ({
      title,
      tool,
      arguments: given as Record<string, unknown>,
    })),
  };
}

/** The SQL of a call that read rows and did nothing else; its filters are in it. */
function queryIn({ value, commits, artifacts, arguments: given }: TurnCall, isWhole: boolean) {
  if (commits.length > 0 || artifacts.length > 0) return null;
  const { sql, compiled_sql: compiled } = (value ?? {}) as Record<string, unknown>;
  const { sql: asked, parameters = {} } = (given ?? {}) as Record<string, unknown>;
  if (typeof asked === 'string') {
    const values = parameters as Record<string, Scalar>;
    return { language: 'sql' as const, code: asked, parameters: values };
  }
  const code = typeof compiled === 'string' ? compiled : sql;
  if (typeof code !== 'string') return null;
  // The chat shows the first rows of a list. A playbook takes all of them, unless somebody asked for the first.
  const whole = isWhole ? code.replace(/\s+LIMIT \d+\s*$/, '') : code;
  return { language: 'sql' as const, code: whole, parameters: {} };
}
