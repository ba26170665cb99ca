/** Where a skill comes from. */
import { Layers, Package, PenLine } from 'lucide-react';
import type { SkillInfo } from '@/api/skills';
import { Chip } from '@/components/Chip';

export function OriginChip({ origin, shadows }: Pick<SkillInfo, 'origin' | 'shadows'>) {
  if (origin === 'builtin') {
    return <Chip word="Built-in" icon={Package} title="Comes with Steward" />;
  }
  if (shadows) {
    return (
      <Chip
        word="Replaces built-in"
        icon={Layers}
        tone="wait"
        title="This project uses its own version instead of the built-in skill of this name"
      />
    );
  }
  return <Chip word="Project" icon={PenLine} tone="busy" title="Written or imported here" />;
}
