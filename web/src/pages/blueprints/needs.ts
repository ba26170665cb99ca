/** What somebody must have before a blueprint can run, in words. */
import { t } from '@lingui/core/macro';
import type { Blueprint } from '@/api/playbooks';

export function needsOf({ systems, asks_for: asked, steps }: Blueprint): string[] {
  const needs: string[] = [];
  if (systems.length > 0) needs.push(t`Data from ${systems.join(', ')}`);
  if (asked.length > 0) needs.push(t`Your input: ${asked.join(', ')}`);
  if (steps.some(({ type }) => type === 'agent')) needs.push(t`A language model`);
  if (steps.some(({ type }) => type === 'approval' || type === 'question')) {
    needs.push(t`A person who answers or approves`);
  }
  return needs.length > 0 ? needs : [t`Nothing but your data`];
}
