/** The plug-ins of this installation: what each adds, where its code runs, and how to bring, disable and remove one. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Code, FileButton, Group, Modal, Stack, Switch, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Plus, Puzzle } from 'lucide-react';
import { useState } from 'react';
import { itemsOf } from '@/api/lists';
import { usePersonName } from '@/api/members';
import { type Plugin, pluginsQuery, useRemovePlugin, useSwitchPlugin } from '@/api/plugins';
import { useProject } from '@/app/project';
import { type Column, DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Hash } from '@/components/Hash';
import { RelativeTime } from '@/components/Moment';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { showDone, showFailure } from '@/components/undo';
import { useFileDrop } from '@/pages/datasets/use-file-drop';
import { InstallDialog } from './InstallDialog';
import { PartList } from './PartList';
import classes from './plugins.module.css';

const description =
  t`Packages of others that add tools, nodes, triggers, kinds of connections, guardrails and agents to all projects of this installation. ` +
  t`You see what a package declares before anything of it runs. Drop a wheel anywhere to look at it.`;

export default function PluginsPage() {
  const project = useProject();
  const query = useInfiniteQuery(pluginsQuery(project.id));
  const [file, setFile] = useState<File | null>(null);
  const [removed, setRemoved] = useState<Plugin | null>(null);
  const isOver = useFileDrop((files) => setFile(files[0] ?? null), !query.isError);
  const columns: Column<Plugin>[] = [
    { id: 'plugin', header: t`Plug-in`, cell: (plugin) => <About plugin={plugin} /> },
    {
      id: 'parts',
      header: t`Adds`,
      width: '20rem',
      ownLine: true,
      cell: ({ parts }) => <PartList parts={parts} />,
    },
    {
      id: 'installed',
      header: t`Installed`,
      width: '12rem',
      hideBelow: 'md',
      cell: (plugin) => <Installed plugin={plugin} />,
    },
    {
      id: 'actions',
      header: t`Enable or remove`,
      quietHeader: true,
      align: 'end',
      width: '10rem',
      cell: (plugin) => <Actions plugin={plugin} onRemove={() => setRemoved(plugin)} />,
    },
  ];
  const add = !query.isError && (
    <FileButton accept=".whl" onChange={setFile}>
      {(props) => (
        <Button leftSection={<Plus size={14} aria-hidden />} {...props}>
          {t`Install a plug-in`}
        </Button>
      )}
    </FileButton>
  );
  return (
    <Page title={t`Plug-ins`} description={description} actions={add}>
      {isOver && <div className={classes.drop}>{t`Drop the wheel to see what it declares`}</div>}
      <DataTable
        label={t`Plug-ins`}
        columns={columns}
        query={query}
        rowKey={({ name }) => name}
        isFaded={({ enabled }) => !enabled}
        empty={
          <EmptyState icon={Puzzle} picture="cards" title={t`No plug-ins yet`}>
            <Trans>
              Write one with <Code>steward plugin new</Code>, or install a wheel that someone gave
              you.
            </Trans>
          </EmptyState>
        }
      />
      {!query.isError && <RemovedPlugins />}
      <InstallDialog file={file} onClose={() => setFile(null)} />
      <RemoveDialog plugin={removed} onClose={() => setRemoved(null)} />
    </Page>
  );
}

function About({ plugin }: { plugin: Plugin }) {
  return (
    <div className={classes.about}>
      <Text size="sm" fw={600}>
        {plugin.name} {plugin.version}
      </Text>
      {plugin.summary !== '' && (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {plugin.summary}
        </Text>
      )}
      <Text size="xs" c="dimmed" component="div">
        {t`${plugin.licence || t`no licence stated`} · SHA-256`}{' '}
        <Hash label={t`SHA-256 of ${plugin.name}`} value={plugin.sha256} />
      </Text>
      {plugin.problem !== null && (
        <Text size="sm" c="red" role="alert">
          {t`Not loaded on this server. ${plugin.problem}`}
        </Text>
      )}
    </div>
  );
}

function Installed({ plugin }: { plugin: Plugin }) {
  const project = useProject();
  const nameOf = usePersonName(project.id);
  return (
    <>
      <Trans>
        <RelativeTime value={plugin.installed_at} /> by{' '}
        {nameOf(plugin.installed_by) ?? t`someone of another project`}
      </Trans>
    </>
  );
}

function Actions({ plugin, onRemove }: { plugin: Plugin; onRemove: () => void }) {
  const project = useProject();
  const change = useSwitchPlugin(project.id);
  const { name, enabled } = plugin;
  return (
    <Group gap="xs" justify="flex-end" wrap="nowrap">
      <Switch
        aria-label={t`Enable ${name}`}
        checked={enabled}
        disabled={change.isPending}
        onChange={({ currentTarget }) =>
          change.mutate(
            { name, enabled: currentTarget.checked },
            {
              onSuccess: () => showDone(enabled ? t`${name} disabled` : t`${name} enabled`),
              onError: showFailure,
            },
          )
        }
      />
      <Button
        variant="subtle"
        color="gray"
        size="compact-sm"
        aria-label={t`Remove ${name}`}
        onClick={onRemove}
      >
        {t`Remove`}
      </Button>
    </Group>
  );
}

function RemoveDialog({ plugin, onClose }: { plugin: Plugin | null; onClose: () => void }) {
  const project = useProject();
  const remove = useRemovePlugin(project.id);
  const name = plugin?.name ?? '';
  const onRemove = () =>
    remove.mutate(name, {
      onSuccess: () => {
        showDone(t`${name} removed`);
        onClose();
      },
      onError: showFailure,
    });
  return (
    <Modal opened={plugin !== null} onClose={onClose} title={t`Remove ${name}?`}>
      <Stack>
        <Text size="sm">
          {t`Flows that use what it adds will fail. Records of past runs stay readable and name the version they used. To get it back, install the same wheel again.`}
        </Text>
        {plugin !== null && <PartList parts={plugin.parts} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t`Cancel`}
          </Button>
          <Button color="red" loading={remove.isPending} onClick={onRemove}>
            {t`Remove it`}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function RemovedPlugins() {
  const project = useProject();
  const items = itemsOf(useInfiniteQuery(pluginsQuery(project.id, true)).data);
  if (items.length === 0) return null;
  return (
    <Section title={t`Removed`} framed>
      <ul className={classes.removed}>
        {items.map((plugin) => (
          <li key={plugin.sha256}>
            <Text span size="sm">
              {plugin.name} {plugin.version}, <RelativeTime value={plugin.changed_at} />
            </Text>
            <Hash label={t`SHA-256 of ${plugin.name} ${plugin.version}`} value={plugin.sha256} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
