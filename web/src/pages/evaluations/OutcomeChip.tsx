/** What a case or a whole report came to, as an icon with a word. */
import { t } from '@lingui/core/macro';
import { CircleCheck, CircleSlash, CircleX } from 'lucide-react';
import { Chip } from '@/components/Chip';

export function OutcomeChip({ outcome }: { outcome: string }) {
  if (outcome === 'passed') return <Chip word={t`Passed`} icon={CircleCheck} tone="good" />;
  if (outcome === 'failed') return <Chip word={t`Failed`} icon={CircleX} tone="bad" />;
  return <Chip word={t`Skipped`} icon={CircleSlash} />;
}

interface Counts {
  passed: number;
  failed: number;
  cases: number;
}

export function CountChip({ passed, failed, cases }: Counts) {
  if (failed > 0) return <Chip word={t`${failed} of ${cases} failed`} icon={CircleX} tone="bad" />;
  return <Chip word={t`${passed} of ${cases} passed`} icon={CircleCheck} tone="good" />;
}
