/** Above the drawing: canvas or outline, a step to find, a note to write. */
import { Button, SegmentedControl, Select } from '@mantine/core';
import { StickyNote } from 'lucide-react';
import { nodesWithin, nodeTitle } from '@/flows/graph';
import type { Studio } from './use-studio';

interface FinderProps {
  studio: Studio;
  view: string;
  onView: (view: string) => void;
  onFound: (key: string) => void;
  onNote: (() => void) | undefined;
}

export const FIND_STEP = 'find-a-step';

export function Finder({ studio, view, onView, onFound, onNote }: FinderProps) {
  const nodes = nodesWithin(studio.graph);
  return (
    <div style={{ display: 'flex', gap: '0.5rem', marginBottom: '0.5rem', flexWrap: 'wrap' }}>
      <SegmentedControl
        size="xs"
        aria-label="How the flow is shown"
        value={view}
        onChange={onView}
        data={[
          { value: 'canvas', label: 'Canvas' },
          { value: 'outline', label: 'Outline' },
        ]}
      />
      <Select
        size="xs"
        id={FIND_STEP}
        aria-label="Find a step"
        placeholder="Find a step"
        searchable
        data={nodes.map((node) => ({ value: node.key, label: nodeTitle(node) }))}
        value={null}
        onChange={(key) => key !== null && onFound(key)}
      />
      {onNote && (
        <Button
          size="xs"
          variant="default"
          leftSection={<StickyNote size={13} aria-hidden />}
          onClick={onNote}
        >
          Note
        </Button>
      )}
    </div>
  );
}
