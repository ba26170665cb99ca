/** Where the list behind a figure is. */
import type { Ranked } from '@/api/observe';

const PLAYBOOK = 'playbook:';
/** Agents that steps of flows describe themselves. */
export const UNNAMED_AGENT = 'drawn';

/** Where the figures of one flow or connector are, within the project. */
export function detailPage(kind: 'flow' | 'connector', name: string): string {
  return `overview/${kind}/${encodeURIComponent(name)}`;
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
