/** What can be added: found by words, added by click, keyboard or dragging. */
import { t } from '@lingui/core/macro';
import { ScrollArea, Text, TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import { type RefObject, useState } from 'react';
import { RiskChip } from '@/components/RiskChip';
import { ENTRY } from './Canvas';
import { type Entry, foundEntries } from './entries';
import classes from './flows.module.css';

interface Props {
  entries: readonly Entry[];
  /** Where the next node goes, in words. */
  place: string;
  field: RefObject<HTMLInputElement | null>;
  onAdd: (entry: Entry) => void;
}

export function PalettePanel({ entries, place, field, onAdd }: Props) {
  const [text, setText] = useState('');
  const found = foundEntries(entries, text);
  const groups = [...Map.groupBy(found, ({ group }) => group)];
  return (
    <section className={classes.palette} aria-label={t`Palette`}>
      <TextInput
        ref={field}
        aria-label={t`Search what to add`}
        placeholder={t`Search what to add`}
        leftSection={<Search size={14} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key !== 'Enter' || text === '' || !found[0]) return;
          onAdd(found[0]);
          setText('');
        }}
      />
      <Text size="xs" c="dimmed">
        {place}
      </Text>
      <ScrollArea className={classes.entries ?? ''} scrollbars="y" viewportProps={{ tabIndex: 0 }}>
        {groups.map(([group, items]) => (
          <section key={group} aria-label={group}>
            <h3 className={classes.group}>{group}</h3>
            <ul>
              {items.map((entry) => (
                <li key={entry.id}>
                  <button
                    type="button"
                    className={classes.entry}
                    title={entry.description}
                    draggable
                    onDragStart={({ dataTransfer }) => dataTransfer.setData(ENTRY, entry.id)}
                    onClick={() => onAdd(entry)}
                  >
                    {entry.title}
                    {entry.risk !== null && entry.risk !== 'read' && <RiskChip risk={entry.risk} />}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {found.length === 0 && <Text size="sm">{t`Nothing has these words.`}</Text>}
      </ScrollArea>
    </section>
  );
}
