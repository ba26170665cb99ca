/** Above the drawing: canvas or outline, a step to find, a note to write. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, SegmentedControl, Select } from '@mantine/core';
import { PanelLeftClose, PanelLeftOpen, StickyNote } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Studio } from './use-studio';
import { stepsFound } from './find-step';

interface FinderProps {
  studio: Studio;
  view: string;
  onView: (view: string) => void;
  onFound: (key: string) => void;
  onNote: (() => void) | undefined;
  /** Whether the palette is hidden. */
  isFolded: boolean;
  onFold: ((isHidden: boolean) => void) | undefined;
}

export const FIND_STEP = 'find-a-step';

export function Finder(props: FinderProps) {
  const { studio, view, onView, onFound, onNote, isFolded, onFold } = props;
  const [words, setWords] = useState('');
  const input = useRef<HTMLInputElement>(null);
  return (
    <div style={{ display: 'flex', gap: '0.5rem', marginBottom: '0.5rem', flexWrap: 'wrap' }}>
      {onFold && !isFolded && (
        <ActionIcon
          variant="default"
          size={30}
          aria-label={t`Hide the palette`}
          title={t`Hide the palette`}
          onClick={() => onFold(true)}
        >
          <PanelLeftClose size={15} aria-hidden />
        </ActionIcon>
      )}
      {onFold && isFolded && (
        <Button
          size="xs"
          variant="default"
          leftSection={<PanelLeftOpen size={13} aria-hidden />}
          onClick={() => onFold(false)}
        >
          {t`Add a step`}
        </Button>
      )}
      <SegmentedControl
        size="xs"
        aria-label={t`How the flow is shown`}
        value={view}
        onChange={onView}
        data={[
          { value: 'canvas', label: t`Canvas` },
          { value: 'outline', label: t`Outline` },
        ]}
      />
      <Select
        size="xs"
        id={FIND_STEP}
        aria-label={t`Find a step`}
        placeholder={t`Find a step`}
        searchable
        ref={input}
        // What is found is more than what the labels say.
        data={stepsFound(studio.graph, words)}
        filter={({ options }) => options}
        nothingFoundMessage={t`No step contains this.`}
        searchValue={words}
        onSearchChange={setWords}
        value={null}
        onChange={(key) => {
          if (key === null) return;
          onFound(key);
          setWords('');
          // Keys are for the step that was found from now on.
          input.current?.blur();
        }}
      />
      {onNote && (
        <Button
          size="xs"
          variant="default"
          leftSection={<StickyNote size={13} aria-hidden />}
          onClick={onNote}
        >
          {t`Note`}
        </Button>
      )}
    </div>
  );
}
