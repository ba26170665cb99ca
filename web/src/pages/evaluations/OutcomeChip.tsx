/** What a case or a whole report came to, as an icon with a word. */
import { CircleCheck, CircleSlash, CircleX } from 'lucide-react';
import { Chip } from '@/components/Chip';

export function OutcomeChip({ outcome }: { outcome: string }) {
  if (outcome === 'passed') return <Chip word="Passed" icon={CircleCheck} tone="good" />;
  if (outcome === 'failed') return <Chip word="Failed" icon={CircleX} tone="bad" />;
  return <Chip word="Skipped" icon={CircleSlash} />;
}

interface Counts {
  passed: number;
  failed: number;
  cases: number;
}

export function CountChip({ passed, failed, cases }: Counts) {
  if (failed > 0) return <Chip word={`${failed} of ${cases} failed`} icon={CircleX} tone="bad" />;
  return <Chip word={`${passed} of ${cases} passed`} icon={CircleCheck} tone="good" />;
}
