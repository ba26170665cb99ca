/** Queries kept under a name: on the server, for the person who saved them. */
import { t } from '@lingui/core/macro';
import { ActionIcon, Button, Group, Text, TextInput, Title, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import type { QueryType } from '@/api/chat';
import {
  type SavedQuery,
  savedQueriesQuery,
  useDeleteQuery,
  useSaveQuery,
} from '@/api/saved-queries';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { LoadingLines } from '@/components/LoadingLines';
import { offerUndo, showFailure } from '@/components/undo';
import classes from './console.module.css';

interface Props {
  projectId: string;
  kind: QueryType;
  query: string;
  onPick: (saved: SavedQuery) => void;
}

export function SavedQueries({ projectId, kind, query, onPick }: Props) {
  const saved = useQuery(savedQueriesQuery(projectId));
  const saving = useSaveQuery(projectId);
  const deleting = useDeleteQuery(projectId);
  const [name, setName] = useState<string | null>(null);
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const chosen = (name ?? '').trim();
    if (chosen === '') return;
    saving.mutate({ name: chosen, kind, query }, { onSuccess: () => setName(null) });
  };
  const remove = ({ id, ...gone }: SavedQuery) =>
    deleting.mutate(id, {
      onSuccess: () =>
        offerUndo({
          message: t`${gone.name} deleted`,
          undo: () => saving.mutateAsync({ name: gone.name, kind: gone.kind, query: gone.query }),
        }),
      onError: showFailure,
    });
  return (
    <section aria-label={t`Saved queries`}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {t`Saved queries`}
        </Title>
        {name === null && query.trim() !== '' && (
          <Button size="compact-xs" variant="subtle" onClick={() => setName('')}>
            {t`Save this query`}
          </Button>
        )}
      </Group>
      {name !== null && (
        <form onSubmit={save}>
          <Group gap="xs" mb="xs" wrap="nowrap">
            <TextInput
              aria-label={t`Name of the query`}
              placeholder={t`Name`}
              size="xs"
              flex={1}
              maxLength={80}
              value={name}
              // eslint-disable-next-line jsx-a11y/no-autofocus -- it opens on a press
              autoFocus
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button size="xs" type="submit" disabled={name.trim() === ''}>
              {t`Save`}
            </Button>
          </Group>
        </form>
      )}
      <FormError error={saving.error} />
      {saved.isPending && <LoadingLines />}
      {saved.isError && <ErrorState error={saved.error} retry={() => void saved.refetch()} />}
      {saved.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {t`Only you see the queries that you save.`}
        </Text>
      )}
      <ul className={classes.history}>
        {(saved.data ?? []).map((each) => (
          <li key={each.id}>
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
                aria-label={t`Delete ${each.name}`}
                onClick={() => remove(each)}
              >
                <X size={12} aria-hidden />
              </ActionIcon>
            </Group>
          </li>
        ))}
      </ul>
    </section>
  );
}
