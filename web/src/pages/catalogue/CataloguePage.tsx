/** The catalogue: what is installed, and what can be, searched by service and operation. */
import { plural, t } from '@lingui/core/macro';
import { Anchor, Button, Group, Select, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Blocks, CircleCheck, CircleDashed, Plus } from 'lucide-react';
import { useState } from 'react';
import {
  type Adapter,
  type CatalogueService,
  countsQuery,
  type InstalledService,
  installedQuery,
  servicesQuery,
  useInstall,
  useRemoveService,
} from '@/api/catalogue';
import { useMay, useProject } from '@/app/project';
import { Chip } from '@/components/Chip';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { Page } from '@/components/Page';
import { SearchField } from '@/components/SearchField';
import { Section } from '@/components/Section';
import { offerUndo, showDone, showFailure } from '@/components/undo';
import { useDialog, useSearchParam } from '@/components/use-search-param';
import { BringDialog } from './BringDialog';
import classes from './catalogue.module.css';
import { ServiceDrawer } from './ServiceDrawer';

const ADAPTERS: { value: Adapter; label: string }[] = [
  { value: 'aws', label: t`Amazon Web Services` },
  { value: 'google_discovery', label: t`Google` },
  { value: 'notify', label: t`Notifications` },
];

export default function CataloguePage() {
  const project = useProject();
  const mayManage = useMay('admin');
  const dialog = useDialog('bring');
  const [shown, show] = useSearchParam('service');
  const installed = useQuery(installedQuery(project.id));
  const counts = useQuery(countsQuery(project.id));
  const number = (value: number) => value.toLocaleString('en');
  const bring = mayManage && (
    <Button leftSection={<Plus size={14} aria-hidden />} onClick={dialog.open}>
      {t`From a file or address`}
    </Button>
  );
  return (
    <Page
      title={t`Catalogue`}
      description={t`Services that describe themselves. Install one, connect to it with your own credentials, and call its operations from playbooks, agents or this page.`}
      actions={bring}
    >
      <Stack gap="xl">
        <Section title={t`Installed`}>
          {installed.isError && (
            <ErrorState error={installed.error} retry={() => void installed.refetch()} />
          )}
          {installed.data?.length === 0 && (
            <EmptyState icon={Blocks} picture="cards" title={t`No services installed yet`}>
              {t`Search below for a service by name or by what it should do, such as “drive files list”.`}
            </EmptyState>
          )}
          <ul className={classes.list}>
            {(installed.data ?? []).map((service) => (
              <Installed key={service.name} service={service} onOpen={() => show(service.name)} />
            ))}
          </ul>
        </Section>
        <Section
          title={t`Available`}
          description={
            counts.data
              ? t`${number(counts.data.services)} services of ${number(counts.data.vendors)} vendors with ${number(counts.data.operations)} operations come with this installation and work offline.`
              : t`Reading what the installed packages bring. The first time takes about half a minute.`
          }
        >
          <Available onOpen={show} />
          {(counts.data?.missing ?? []).length > 0 && (
            <Text size="sm" c="dimmed">
              {t`More services come with Steward’s “connectors” extra: ${counts.data?.missing.join(', ') ?? ''}.`}
            </Text>
          )}
        </Section>
      </Stack>
      {mayManage && (
        <BringDialog opened={dialog.opened} onClose={dialog.close} onInstalled={show} />
      )}
      <ServiceDrawer service={shown} onClose={() => show(null)} />
    </Page>
  );
}

function Installed({ service, onOpen }: { service: InstalledService; onOpen: () => void }) {
  const project = useProject();
  const mayManage = useMay('admin');
  const remove = useRemoveService(project.id);
  const install = useInstall(project.id);
  const { name, title, vendor, operations, version, connections, source } = service;
  const onRemove = () =>
    remove.mutate(name, {
      onSuccess: () =>
        source === 'package'
          ? offerUndo({
              message: t`${title} removed`,
              undo: () => install.mutateAsync({ service: name }),
              undone: t`${title} is installed again`,
            })
          : showDone(t`${title} removed`),
      onError: showFailure,
    });
  return (
    <li className={classes.item}>
      <div className={classes.about}>
        <Group gap="xs">
          <Anchor component="button" type="button" size="sm" fw={500} onClick={onOpen}>
            {title}
          </Anchor>
          <ServiceState service={service} />
        </Group>
        <Text size="xs" c="dimmed">
          {vendor}
          {version === '' ? '' : t` · version ${version}`} · {operations.toLocaleString('en')}{' '}
          {plural(operations, { one: `operation`, other: `operations` })}
        </Text>
        <Text size="xs">
          {connections.length === 0
            ? t`Not connected yet.`
            : t`Connected as ${connections.join(', ')}.`}
        </Text>
      </div>
      <Group gap={4}>
        <Button size="compact-sm" variant="default" aria-label={t`Open ${title}`} onClick={onOpen}>
          {connections.length === 0 && mayManage ? t`Connect` : t`Open`}
        </Button>
        {mayManage && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            aria-label={t`Remove ${title}`}
            loading={remove.isPending}
            onClick={onRemove}
          >
            {t`Remove`}
          </Button>
        )}
      </Group>
    </li>
  );
}

export function ServiceState({ service }: { service: InstalledService }) {
  return service.tried_at === null ? (
    <Chip
      word={t`Converted`}
      icon={CircleDashed}
      title={t`Its description was read. No call has been answered yet.`}
    />
  ) : (
    <Chip
      word={t`Tried live on ${service.tried_at.slice(0, 10)}`}
      icon={CircleCheck}
      tone="good"
      title={t`The service has answered a call.`}
    />
  );
}

function Available({ onOpen }: { onOpen: (service: string) => void }) {
  const project = useProject();
  const [words, setWords] = useState('');
  const [adapter, setAdapter] = useState<Adapter | null>(null);
  const found = useQuery(servicesQuery(project.id, words, adapter));
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <SearchField
          label={t`Search services and operations`}
          placeholder={t`Service or operation`}
          onSearch={setWords}
        />
        <Select
          aria-label={t`Kind of service`}
          placeholder={t`All kinds`}
          data={ADAPTERS}
          value={adapter}
          clearable
          w="13rem"
          onChange={setAdapter}
        />
      </Group>
      {found.isPending && <Skeleton height={120} aria-busy />}
      {found.isError && <ErrorState error={found.error} retry={() => void found.refetch()} />}
      {found.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          {t`No service fits. Install one from a file or address instead.`}
        </Text>
      )}
      <ul className={classes.list}>
        {(found.data ?? []).map((service) => (
          <Offered key={service.id} service={service} onOpen={onOpen} />
        ))}
      </ul>
    </Stack>
  );
}

interface OfferedProps {
  service: CatalogueService;
  onOpen: (service: string) => void;
}

function Offered({ service, onOpen }: OfferedProps) {
  const project = useProject();
  const mayManage = useMay('admin');
  const install = useInstall(project.id);
  const { id, title, vendor, operation_count, operations, installed } = service;
  const onInstall = () =>
    install.mutate(
      { service: id },
      {
        onSuccess: () => {
          showDone(t`${title} installed`);
          onOpen(id);
        },
        onError: showFailure,
      },
    );
  return (
    <li className={classes.item}>
      <div className={classes.about}>
        <Text size="sm" fw={500}>
          {title}
        </Text>
        <Text size="xs" c="dimmed">
          {plural(operation_count, {
            one: `${vendor} · ${operation_count.toLocaleString('en')} operation · ${service.licence}`,
            other: `${vendor} · ${operation_count.toLocaleString('en')} operations · ${service.licence}`,
          })}
        </Text>
        {operations.length > 0 && (
          <Text size="xs">{operations.map((operation) => operation.title).join(' · ')}</Text>
        )}
      </div>
      {installed ? (
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={t`Open ${title}`}
          onClick={() => onOpen(id)}
        >
          {t`Installed`}
        </Button>
      ) : (
        mayManage && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={t`Install ${title}`}
            loading={install.isPending}
            onClick={onInstall}
          >
            {t`Install`}
          </Button>
        )
      )}
    </li>
  );
}
