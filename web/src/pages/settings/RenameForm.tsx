/** Renames the project; a change that someone else made meanwhile is shown, not overwritten. */
import { t } from '@lingui/core/macro';
import { Alert, Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { GitMerge } from 'lucide-react';
import { useState } from 'react';
import type { Versioned } from '@/api/client';
import { ApiError, fieldMessages } from '@/api/errors';
import { projectQuery, useRenameProject } from '@/api/projects';
import type { Project } from '@/api/types';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';

const isStale = (error: unknown) => error instanceof ApiError && error.status === 412;

/** The form is based on the version it was opened with, not on whatever arrives later. */
export function RenameForm({ current }: { current: Versioned<Project> }) {
  const [base, setBase] = useState(current);
  const [theirs, setTheirs] = useState<Versioned<Project> | null>(null);
  const client = useQueryClient();
  const rename = useRenameProject(base.document.id);
  const form = useForm({
    initialValues: { name: base.document.name },
    validate: { name: (name) => (name.trim() === '' ? t`Give the project a name.` : null) },
  });

  const rebase = (version: Versioned<Project>) => {
    setBase(version);
    setTheirs(null);
    rename.reset();
  };
  const onError = async (error: Error) => {
    if (!isStale(error)) return form.setErrors(fieldMessages(error));
    setTheirs(await client.query({ ...projectQuery(base.document.id), staleTime: 0 }));
  };
  const save = (etag: string) =>
    rename.mutate(
      { name: form.getValues().name.trim(), etag },
      {
        onSuccess: (renamed) => {
          rebase(renamed);
          form.setValues({ name: renamed.document.name });
          showDone(t`Project renamed`);
        },
        onError: (error) => void onError(error),
      },
    );

  return (
    <form onSubmit={form.onSubmit(() => save(base.etag))} noValidate>
      <Stack>
        <TextInput label={t`Name`} maxLength={100} {...form.getInputProps('name')} />
        {theirs && (
          <Conflict
            theirName={theirs.document.name}
            onTakeTheirs={() => {
              rebase(theirs);
              form.setValues({ name: theirs.document.name });
            }}
            onKeepMine={() => save(theirs.etag)}
          />
        )}
        {!isStale(rename.error) && <FormError error={rename.error} />}
        <Group>
          <Button
            type="submit"
            loading={rename.isPending}
            disabled={form.values.name.trim() === base.document.name || theirs !== null}
          >
            {t`Save`}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ConflictProps {
  theirName: string;
  onTakeTheirs: () => void;
  onKeepMine: () => void;
}

function Conflict({ theirName, onTakeTheirs, onKeepMine }: ConflictProps) {
  return (
    <Alert
      role="alert"
      color="yellow"
      icon={<GitMerge size={16} aria-hidden />}
      title={t`Someone else has changed this project meanwhile`}
    >
      <Stack gap="xs">
        <span>{t`Its name is now “${theirName}”. Yours has not been saved.`}</span>
        <Group gap="xs">
          <Button variant="default" size="compact-sm" onClick={onTakeTheirs}>
            {t`Take theirs`}
          </Button>
          <Button variant="default" size="compact-sm" onClick={onKeepMine}>
            {t`Save mine instead`}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
