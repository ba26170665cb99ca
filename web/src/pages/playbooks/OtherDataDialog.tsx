/** Another dataset that stands for one a playbook names: which one, and which of its columns are meant. */
import { t } from '@lingui/core/macro';
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { datasetsQuery } from '@/api/datasets';
import { itemsOf } from '@/api/lists';
import { type Need, type PlaybookDetail, useOtherData } from '@/api/playbooks';
import { useProject } from '@/app/project';
import { FormError } from '@/components/FormError';
import { showDone } from '@/components/undo';
import { likelyColumns } from './other-data';

const KINDS = { any: '', number: t`Numbers`, date: t`Dates or moments` };

interface Props {
  playbook: PlaybookDetail;
  need: Need;
  onClose: () => void;
}

export function OtherDataDialog({ playbook, need, onClose }: Props) {
  const project = useProject();
  const datasets = itemsOf(useInfiniteQuery(datasetsQuery(project.id)).data);
  const save = useOtherData(project.id);
  const columnsOf = (name: string | null) =>
    datasets.find((dataset) => dataset.name === name)?.columns.map((column) => column.name) ?? [];
  const needed = need.columns.map(({ name }) => name);
  const [source, setSource] = useState<string | null>(need.read_from);
  const [chosen, setChosen] = useState<Record<string, string | null>>(() =>
    Object.fromEntries(need.columns.map(({ name, read_from }) => [name, read_from])),
  );
  const columns = columnsOf(source);
  const choose = (name: string | null) => {
    setSource(name);
    setChosen(likelyColumns(needed, columnsOf(name)));
  };
  const isWhole =
    source !== null && needed.every((name) => columns.includes(chosen[name] ?? '\u0000'));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isWhole) return;
    const renamed = Object.fromEntries(
      needed.flatMap((name) => (chosen[name] === name ? [] : [[name, chosen[name] ?? name]])),
    );
    save.mutate(
      { playbook, other: { dataset: need.name, source, renamed } },
      {
        onSuccess: (saved) => {
          showDone(
            saved.deployed === null
              ? t`${need.name} is read from ${source}`
              : t`Saved as revision ${saved.head}; deploy it under Versions`,
          );
          onClose();
        },
      },
    );
  };
  return (
    <Modal opened onClose={onClose} title={t`Other data for ${need.name}`} size="34rem">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            {t`The steps stay as they are; they read your columns by the names they know. It becomes a revision of its own.`}
          </Text>
          <Select
            label={t`Dataset`}
            data={datasets.map(({ name }) => name)}
            value={columns.length === 0 ? null : source}
            placeholder={t`Choose a dataset`}
            searchable
            allowDeselect={false}
            withAsterisk
            onChange={choose}
          />
          {columns.length > 0 &&
            need.columns.map(({ name, kind }) => (
              <Select
                key={name}
                label={name}
                description={KINDS[kind]}
                data={columns}
                value={chosen[name] ?? null}
                placeholder={t`Choose a column`}
                searchable
                allowDeselect={false}
                withAsterisk
                onChange={(column) => setChosen({ ...chosen, [name]: column })}
              />
            ))}
          <FormError error={save.error} />
          <Group justify="flex-end">
            <Button type="submit" disabled={!isWhole} loading={save.isPending}>
              {t`Read these`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
