/** How much a tool can do, in words. */
import { t } from '@lingui/core/macro';
import { Eye, type LucideIcon, PenLine, Send, ShieldAlert, Sigma, Trash2 } from 'lucide-react';
import { Chip } from './Chip';
import type { Tone } from './run-status';

const RISKS: Record<string, { word: string; icon: LucideIcon; tone: Tone }> = {
  read: { word: t`Reads`, icon: Eye, tone: 'neutral' },
  compute: { word: t`Computes`, icon: Sigma, tone: 'neutral' },
  write: { word: t`Changes data`, icon: PenLine, tone: 'busy' },
  external_send: { word: t`Sends outside`, icon: Send, tone: 'wait' },
  destructive: { word: t`Removes`, icon: Trash2, tone: 'bad' },
  admin: { word: t`Administers`, icon: ShieldAlert, tone: 'bad' },
  secret: { word: t`Touches secrets`, icon: ShieldAlert, tone: 'bad' },
};

export function riskWord(risk: string): string {
  return RISKS[risk]?.word ?? risk.replaceAll('_', ' ');
}

export function RiskChip({ risk }: { risk: string }) {
  const look = RISKS[risk] ?? { word: riskWord(risk), icon: ShieldAlert, tone: 'wait' };
  return <Chip {...look} title={t`Risk class: ${risk.replaceAll('_', ' ')}`} />;
}
