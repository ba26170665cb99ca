/** What a question was taken to ask, in chips above its answer; a click on one changes it and answers again. */
import { t } from '@lingui/core/macro';
import { Button, Text } from '@mantine/core';
import { CircleHelp, Plus } from 'lucide-react';
import type { Turn } from '@/api/chat-types';
import type { Reading } from '@/api/readings';
import { isFinal } from '@/api/runs';
import { useMay } from '@/app/project';
import { ConfirmReading } from './ConfirmReading';
import classes from './reading.module.css';
import { PlaceMenu } from './PlaceMenu';

/** Asks again: `message` is what the new turn is called, `reading` what it answers. */
export type OnReading = (message: string, reading: Reading) => void;

interface Props {
  turn: Turn;
  onReading: OnReading;
}

const SOURCES = {
  asked: t`You asked for this`,
  definition: t`From the definitions of this project`,
  assumed: t`Steward assumed this`,
} as const;
const ADDITIONS = [
  ['/groups/-', t`Group by`],
  ['/filters/-', t`Condition`],
  ['/periods/-', t`Period`],
  ['/measures/-', t`Figure`],
  ['/limit', t`Ranking`],
  ['/chart', t`Chart`],
] as const;

export function ReadingChips({ turn, onReading }: Props) {
  const mayAsk = useMay('operator');
  const told = turn.reading;
  if (!told || (told.reading === null && told.unused.length === 0)) return null;
  const { reading, chips, unused } = told;
  const mayChange = mayAsk && isFinal(turn.status);
  const words = [...new Set(unused.map(({ word }) => word))];
  return (
    <section className={classes.reading} aria-label={t`How the question was read`}>
      {reading &&
        chips.map((chip) => (
          <PlaceMenu
            key={chip.pointer + chip.text}
            reading={reading}
            pointer={chip.pointer}
            label={chip.text}
            title={SOURCES[chip.source ?? 'asked']}
            source={chip.source ?? 'asked'}
            entry={chip.entry ?? null}
            isFixed={!mayChange}
            onReading={onReading}
          />
        ))}
      {reading && mayChange && <Additions reading={reading} onReading={onReading} />}
      {reading && mayChange && told.status === 'fact' && (
        <ConfirmReading turn={turn} reading={reading} />
      )}
      {words.length > 0 && (
        <Text span size="xs" className={classes.unused}>
          <CircleHelp size={13} aria-hidden />
          {t`Not used: ${words.join(', ')}`}
        </Text>
      )}
    </section>
  );
}

/** One button that offers every kind of part. */
export function Additions({ reading, onReading }: { reading: Reading; onReading: OnReading }) {
  return (
    <PlaceMenu
      reading={reading}
      pointer={null}
      places={ADDITIONS}
      label={t`Add`}
      title={t`Add a group, condition, period, figure, ranking or chart`}
      source="add"
      icon={<Plus size={12} aria-hidden />}
      onReading={onReading}
    />
  );
}

/** Readings to choose from where the question was not read whole. */
export function NearestReadings({ turn, onReading }: Props) {
  const mayAsk = useMay('operator');
  const told = turn.reading;
  if (!told || told.status === 'fact' || told.nearest.length === 0 || !mayAsk) return null;
  return (
    <ul className={classes.nearest} aria-label={t`Did you mean`}>
      {told.nearest.map((reading, index) => (
        <li key={index}>
          <Button variant="default" size="xs" onClick={() => onReading(turn.message, reading)}>
            {told.nearest_lines[index] ?? t`Reading ${index + 1}`}
          </Button>
        </li>
      ))}
    </ul>
  );
}
