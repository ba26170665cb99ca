/** What somebody must have before a blueprint can run, in words. */
import type { Blueprint } from '@/api/playbooks';

export function needsOf({ systems, asks_for: asked, steps }: Blueprint): string[] {
  const needs: string[] = [];
  if (systems.length > 0) needs.push(`Data from ${systems.join(', ')}`);
  if (asked.length > 0) needs.push(`Your input: ${asked.join(', ')}`);
  if (steps.some(({ type }) => type === 'agent')) needs.push('A language model');
  if (steps.some(({ type }) => type === 'approval' || type === 'question')) {
    needs.push('A person who answers or approves');
  }
  return needs.length > 0 ? needs : ['Nothing but your data'];
}
