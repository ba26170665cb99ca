/** A question that is clicked together instead of written: the chips of a reading, empty at first. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Reading, readingOptionsQuery } from '@/api/readings';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { Choosing, PlaceMenu } from './PlaceMenu';
import { Additions, type OnReading } from './ReadingChips';
import classes from './reading.module.css';

interface Props {
  onClose: () => void;
  onAnswer: OnReading;
}

export default function QueryBuilder({ onClose, onAnswer }: Props) {
  const [reading, setReading] = useState<Reading | null>(null);
  const change: OnReading = (_, next) => setReading(next);
  return (
    <Modal opened onClose={onClose} title={t`Build a question`} size="lg">
      <div className={classes.builder}>
        {reading === null ? (
          <>
            <Text size="sm">{t`Which table is the question about?`}</Text>
            <Choosing reading={null} pointer="/table" onReading={change} />
          </>
        ) : (
          <Built reading={reading} onChange={change} onAnswer={onAnswer} />
        )}
      </div>
    </Modal>
  );
}

interface BuiltProps {
  reading: Reading;
  onChange: OnReading;
  onAnswer: OnReading;
}

function Built({ reading, onChange, onAnswer }: BuiltProps) {
  const project = useProject();
  const query = useInfiniteQuery({
    ...readingOptionsQuery(project.id, { reading, pointer: null, column: null, search: '' }),
    placeholderData: (previous) => previous,
  });
  const told = query.data?.pages[0];
  return (
    <>
      <Text size="sm">{t`Click a part to change it, or add another one.`}</Text>
      <div className={classes.reading}>
        {told?.chips.map((chip) => (
          <PlaceMenu
            key={chip.pointer + chip.text}
            reading={reading}
            pointer={chip.pointer}
            label={chip.text}
            title={t`Change this part`}
            source={chip.source ?? 'asked'}
            onReading={onChange}
          />
        ))}
        <Additions reading={reading} onReading={onChange} />
      </div>
      <FormError error={query.error} />
      <Group justify="flex-end">
        <Button
          disabled={!told || query.isPlaceholderData}
          onClick={() => onAnswer(told?.line ?? '', reading)}
        >
          {t`Answer`}
        </Button>
      </Group>
    </>
  );
}
