/** Words that have no definition yet, with what the data suggests: one click defines them and answers. */
import { t } from '@lingui/core/macro';
import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BookCheck } from 'lucide-react';
import { useState } from 'react';
import type { Turn } from '@/api/chat-types';
import { definitionsQuery } from '@/api/definitions';
import type { Offer } from '@/api/readings';
import { useMay, useProject } from '@/app/project';
import { useChange } from '@/pages/definitions/use-definitions';
import classes from './reading.module.css';

interface Props {
  turn: Turn;
  onAgain: (turn: Turn) => void;
}

/** The meanings that are chosen, by the entry they define. */
type Chosen = Record<string, readonly string[]>;

/** Of several meanings nothing is chosen beforehand: only a person knows which values "unpaid" takes in. */
function firstChosen(offers: readonly Offer[]): Chosen {
  return Object.fromEntries(
    offers.map(({ entry, several, meanings }) => {
      const values = meanings.map(({ value }) => value);
      return [entry, several ? [] : values.slice(0, 1)];
    }),
  );
}

export function OfferedMeanings({ turn, onAgain }: Props) {
  const mayDefine = useMay('editor');
  const offers = turn.reading?.offers ?? [];
  if (!mayDefine || offers.length === 0) return null;
  return <OfferForm turn={turn} onAgain={onAgain} offers={offers} />;
}

function OfferForm({ turn, onAgain, offers }: Props & { offers: readonly Offer[] }) {
  const project = useProject();
  const { data } = useQuery(definitionsQuery(project.id));
  const { change, isPending } = useChange(data?.revision ?? 0);
  const [chosen, setChosen] = useState(() => firstChosen(offers));
  const isWhole = offers.every(({ entry }) => (chosen[entry] ?? []).length > 0);
  const confirm = () => {
    const changes = offers.map(({ entry, field, value }) => ({
      entry,
      value: {
        ...value,
        [field]: (chosen[entry] ?? []).join(t` or `),
        state: 'confirmed',
      },
    }));
    const words = offers.map(({ word }) => word).join(', ');
    change({ kind: 'set', changes }, t`Defined: ${words}`, () => onAgain(turn));
  };
  return (
    <form
      className={classes.offers}
      aria-label={t`Define and answer`}
      onSubmit={(event) => {
        event.preventDefault();
        confirm();
      }}
    >
      {offers.map((offer) => (
        <OfferFields
          key={offer.entry}
          offer={offer}
          chosen={chosen[offer.entry] ?? []}
          onChange={(values) => setChosen({ ...chosen, [offer.entry]: values })}
        />
      ))}
      <Button
        type="submit"
        size="xs"
        w="fit-content"
        leftSection={<BookCheck size={13} aria-hidden />}
        disabled={!isWhole || !data}
        loading={isPending}
      >
        {t`Confirm and answer`}
      </Button>
    </form>
  );
}

interface FieldsProps {
  offer: Offer;
  chosen: readonly string[];
  onChange: (values: readonly string[]) => void;
}

function OfferFields({ offer, chosen, onChange }: FieldsProps) {
  const { word, entry, several, meanings } = offer;
  const toggle = (value: string, isOn: boolean) => {
    if (!several) onChange([value]);
    else
      onChange(
        meanings
          .map((each) => each.value)
          .filter((each) => (each === value ? isOn : chosen.includes(each))),
      );
  };
  return (
    <fieldset>
      <Text component="legend" size="sm">
        {t`“${word}” means here:`}
      </Text>
      {meanings.map(({ text, value }) => (
        <label key={value}>
          <input
            type={several ? 'checkbox' : 'radio'}
            name={entry}
            checked={chosen.includes(value)}
            onChange={({ currentTarget }) => toggle(value, currentTarget.checked)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
