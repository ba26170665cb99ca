/** A small mark with an icon and a word; never a colour alone. */
import type { LucideIcon } from 'lucide-react';
import type { RunStatus } from '@/api/run-types';
import classes from './Chip.module.css';
import { stateLook, statusLook, type Tone } from './run-status';

interface Props {
  word: string;
  icon: LucideIcon;
  tone?: Tone;
  title?: string | undefined;
}

export function Chip({ word, icon: Icon, tone = 'neutral', title }: Props) {
  return (
    <span className={classes.chip} data-tone={tone} title={title}>
      <Icon size={13} aria-hidden />
      {word}
    </span>
  );
}

export function StatusChip({ status, title }: { status: RunStatus; title?: string | undefined }) {
  return <Chip {...statusLook(status)} title={title} />;
}

export function StateChip({ state }: { state: string }) {
  return <Chip {...stateLook(state)} />;
}
