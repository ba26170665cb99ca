/** How a step stands in a test, as one word for its box. */
import type { TestResults } from '@/api/playbook-tests';

/** Items and tries of a step count as the step: `each[3]/send~2` is `each/send`. */
export const plainKey = (key: string) => key.replaceAll(/\[\d+\]|#\d+|~\d+/g, '');

export function stepState(
  key: string,
  results: TestResults | undefined,
  mocks: Readonly<Record<string, unknown>>,
): string | null {
  if (results?.paused_before.includes(key)) return 'held';
  const found = results?.nodes.filter((node) => plainKey(node.key) === key) ?? [];
  if (found.some(({ state }) => state === 'failed')) return 'failed';
  if (key in mocks) return 'pinned';
  if (found.some(({ differs }) => differs)) return 'differs';
  return found[0]?.state ?? null;
}
