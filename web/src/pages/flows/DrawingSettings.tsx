/** Settings of what is drawn beside the flow: a note, a group, or several steps at once. */
import { plural, t } from '@lingui/core/macro';
import { Button, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import {
  AlignHorizontalDistributeCenter,
  AlignStartHorizontal,
  AlignStartVertical,
  AlignVerticalDistributeCenter,
  Group as GroupIcon,
  Trash2,
  Ungroup,
} from 'lucide-react';
import {
  aligned,
  changeNote,
  groupNodes,
  type Line,
  nameGroup,
  ungroup,
} from '@/flows/layout-edits';
import type { Placed } from '@/flows/layout';
import { groupKey, groupsIn, nodesIn, notesIn, triggersIn } from './canvas-keys';
import { peersOf } from './drawn';
import type { Studio } from './use-studio';

interface Props {
  studio: Studio;
  selected: readonly string[];
  items: readonly Placed[];
  readOnly: boolean;
  onSelect: (keys: readonly string[]) => void;
  onRemove: (keys: readonly string[]) => void;
}

/** Whether there is more to say of a selection than of one step. */
export function isDrawingOnly(selected: readonly string[]): boolean {
  return selected.length > 1 || notesIn(selected).length > 0 || groupsIn(selected).length > 0;
}

/** `2 steps and 1 note`: what is chosen, frames apart. */
export function selectionText(selected: readonly string[]): string {
  const triggers = triggersIn(selected).length;
  const steps = nodesIn(selected).length;
  const notes = notesIn(selected).length;
  const parts = [
    triggers && plural(triggers, { one: `${triggers} trigger`, other: `${triggers} triggers` }),
    steps && plural(steps, { one: `${steps} step`, other: `${steps} steps` }),
    notes && plural(notes, { one: `${notes} note`, other: `${notes} notes` }),
  ].filter((part) => typeof part === 'string');
  const last = parts.pop() ?? '';
  return parts.length === 0 ? last : t`${parts.join(', ')} and ${last}`;
}

export function DrawingSettings(props: Props) {
  const { studio, selected, readOnly, onRemove } = props;
  const [noteId] = notesIn(selected);
  const [groupId] = groupsIn(selected);
  const note = studio.layout.notes.find(({ id }) => id === noteId);
  const group = studio.layout.groups.find(({ id }) => id === groupId);
  if (note && selected.length === 1) {
    return (
      <Stack gap="sm">
        <Textarea
          label={t`Note`}
          value={note.text}
          readOnly={readOnly}
          maxLength={2000}
          autosize
          minRows={3}
          data-autofocus
          onChange={({ currentTarget }) =>
            studio.change(
              { layout: changeNote(studio.layout, note.id, currentTarget.value) },
              `note:${note.id}`,
            )
          }
        />
        {!readOnly && <RemoveButton onClick={() => onRemove(selected)} label={t`Delete`} />}
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      {group ? (
        <TextInput
          label={t`Group`}
          value={group.title}
          readOnly={readOnly}
          maxLength={100}
          onChange={({ currentTarget }) =>
            studio.change(
              { layout: nameGroup(studio.layout, group.id, currentTarget.value) },
              `group:${group.id}`,
            )
          }
        />
      ) : (
        <Title order={2} size="h4">
          {selectionText(selected)}
        </Title>
      )}
      {!readOnly && <SelectionButtons {...props} groupId={group?.id} />}
    </Stack>
  );
}

const LINES: { line: Line; label: string; icon: typeof AlignStartVertical }[] = [
  { line: 'left', label: t`Align left`, icon: AlignStartVertical },
  { line: 'top', label: t`Align top`, icon: AlignStartHorizontal },
  { line: 'row', label: t`In a row`, icon: AlignHorizontalDistributeCenter },
  { line: 'column', label: t`In a column`, icon: AlignVerticalDistributeCenter },
];

function SelectionButtons(props: Props & { groupId: string | undefined }) {
  const { studio, selected, items, groupId, onSelect, onRemove } = props;
  const nodes = nodesIn(selected);
  // Places are counted within the graph that a step belongs to.
  const peers = peersOf(items, nodes[0] ?? '').filter(({ node }) => nodes.includes(node.key));
  const outer = nodes.filter((key) => !key.includes('/'));
  return (
    <>
      <Group gap="xs">
        {LINES.map(({ line, label, icon: Icon }) => (
          <Button
            key={line}
            variant="default"
            size="compact-sm"
            leftSection={<Icon size={14} aria-hidden />}
            disabled={peers.length < 2}
            onClick={() => {
              const places = { ...studio.layout.places, ...aligned(peers, line) };
              studio.change({ layout: { ...studio.layout, places } });
            }}
          >
            {label}
          </Button>
        ))}
      </Group>
      <Group gap="xs">
        {groupId === undefined ? (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<GroupIcon size={14} aria-hidden />}
            disabled={outer.length === 0}
            onClick={() => {
              const made = groupNodes(studio.layout, outer);
              studio.change({ layout: made.layout });
              onSelect([groupKey(made.id), ...outer]);
            }}
          >
            {t`Group`}
          </Button>
        ) : (
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<Ungroup size={14} aria-hidden />}
            onClick={() => {
              studio.change({ layout: ungroup(studio.layout, groupId) });
              onSelect(nodes);
            }}
          >
            {t`Ungroup`}
          </Button>
        )}
        <RemoveButton
          onClick={() => onRemove(selected)}
          label={t`Delete ${selectionText(selected)}`}
        />
      </Group>
      <Text size="xs" c="dimmed">
        {t`Groups, notes and places belong to the drawing. They change nothing about what runs.`}
      </Text>
    </>
  );
}

function RemoveButton({ onClick, label }: { onClick: () => void; label: string }) {
  return (
    <Group>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<Trash2 size={14} aria-hidden />}
        onClick={onClick}
      >
        {label}
      </Button>
    </Group>
  );
}
