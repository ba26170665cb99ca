/** Queries kept under a name, in this browser. */
import { ActionIcon, Button, Group, Text, TextInput, Title, UnstyledButton } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { X } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import type { QueryType } from '@/api/chat';
import { offerUndo } from '@/components/undo';
import classes from './console.module.css';

interface Saved {
  name: string;
  kind: QueryType;
  query: string;
}

interface Props {
  projectId: string;
  kind: QueryType;
  query: string;
  onPick: (saved: Saved) => void;
}

export function SavedQueries({ projectId, kind, query, onPick }: Props) {
  const [saved, setSaved] = useLocalStorage<Saved[]>({
    key: `steward-queries-${projectId}`,
    defaultValue: [],
  });
  const [name, setName] = useState<string | null>(null);
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = (name ?? '').trim();
    if (chosen === '') return;
    const others = saved.filter((each) => each.name !== chosen);
    setSaved(
      [...others, { name: chosen, kind, query }].toSorted((a, b) => a.name.localeCompare(b.name)),
    );
    setName(null);
  };
  const remove = (gone: Saved) => {
    setSaved(saved.filter((each) => each !== gone));
    offerUndo({
      message: `${gone.name} deleted`,
      undo: () => {
        setSaved(saved);
        return Promise.resolve();
      },
    });
  };
  return (
    <section aria-label="Saved queries">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          Saved queries
        </Title>
        {name === null && query.trim() !== '' && (
          <Button size="compact-xs" variant="subtle" onClick={() => setName('')}>
            Save this query
          </Button>
        )}
      </Group>
      {name !== null && (
        <form onSubmit={save}>
          <Group gap="xs" mb="xs" wrap="nowrap">
            <TextInput
              aria-label="Name of the query"
              placeholder="Name"
              size="xs"
              flex={1}
              maxLength={80}
              value={name}
              // eslint-disable-next-line jsx-a11y/no-autofocus -- it opens on a press
              autoFocus
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button size="xs" type="submit" disabled={name.trim() === ''}>
              Save
            </Button>
          </Group>
        </form>
      )}
      {saved.length === 0 ? (
        <Text size="sm" c="dimmed">
          Queries that you save stay in this browser.
        </Text>
      ) : (
        <ul className={classes.history}>
          {saved.map((each) => (
            <li key={each.name}>
              <Group gap={4} wrap="nowrap">
                <UnstyledButton onClick={() => onPick(each)}>
                  <Text size="sm" truncate>
                    {each.name}
                  </Text>
                </UnstyledButton>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size="sm"
                  style={{ flex: 'none', width: '1.5rem' }}
                  aria-label={`Delete ${each.name}`}
                  onClick={() => remove(each)}
                >
                  <X size={12} aria-hidden />
                </ActionIcon>
              </Group>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
