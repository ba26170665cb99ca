/** Where a skill comes from. */
import { t } from '@lingui/core/macro';
import { Layers, Package, PenLine } from 'lucide-react';
import type { SkillInfo } from '@/api/skills';
import { Chip } from '@/components/Chip';

export function OriginChip({ origin, shadows }: Pick<SkillInfo, 'origin' | 'shadows'>) {
  if (origin === 'builtin') {
    return <Chip word={t`Built-in`} icon={Package} title={t`Comes with Steward`} />;
  }
  if (shadows) {
    return (
      <Chip
        word={t`Replaces built-in`}
        icon={Layers}
        tone="wait"
        title={t`This project uses its own version instead of the built-in skill of this name`}
      />
    );
  }
  return <Chip word={t`Project`} icon={PenLine} tone="busy" title={t`Written or imported here`} />;
}
