/** Where the list behind a figure is. */
import type { Dimension, Ranked } from '@/api/observe';
import type { Counted } from '@/api/runs';
import { projectPath } from '@/app/project';
import { stringifySearch } from '@/app/search';

const PLAYBOOK = 'playbook:';
/** Agents that steps of flows describe themselves. */
export const UNNAMED_AGENT = 'drawn';

/** Where the figures of one flow or connector are, within the project. */
export function detailPage(kind: 'flow' | 'connector', name: string): string {
  return `overview/${kind}/${encodeURIComponent(name)}`;
}

/** The list of the runs that a figure counts. */
export function runsBehind(projectId: string, counted: Counted, status?: string): string {
  return projectPath(projectId, 'runs') + stringifySearch({ status, ...counted });
}

/** Where a name in a list of figures leads, within the project: to its own figures if it has a page of them. */
export function figuresOf(kind: Dimension, name: string): string | null {
  if (kind === 'flow' || kind === 'connector') return detailPage(kind, name);
  if (kind === 'person' || kind === 'tag' || kind === 'project') return null;
  const page = listOf(kind, name);
  return kind === 'agent' && page !== null ? `${page}?tab=figures` : page;
}

/** The page of a flow, agent, model or connector within its project; null where there is none. */
export function listOf(kind: Ranked['kind'], name: string): string | null {
  switch (kind) {
    case 'flow':
      return flowPage(name);
    case 'agent':
      return name === UNNAMED_AGENT ? null : `agents/${encodeURIComponent(name)}`;
    case 'model':
      return 'models';
    case 'connector':
      return 'connections';
    case 'tool':
      return null;
  }
}

function flowPage(flow: string): string | null {
  const playbook = flow.startsWith(PLAYBOOK) ? flow.slice(PLAYBOOK.length) : '';
  if (playbook !== '' && !playbook.includes(':')) return `flows/${playbook}`;
  return flow === 'chat' ? 'chat' : null;
}
